"""The operations of which programs over JSON values are composed: one row for each.

A row gives the kinds of its arguments and of its result, its price, the function and its Python source.
Besides the kinds of values there are kinds of constants, which only `constants.py` provides:

- sep: a separator or another text of the task
- index: a place in a list or text; end: where a slice begins or ends
- pattern: a regular expression for a run of characters
- number: a number of the task
- format: a form of dates that all inputs or all outputs have
- base: a base in which all inputs or all outputs are numbers; radix: its name in a format specification
- epoch: present where numbers are likely to be seconds since 1970; no source shows it

`curves.py` and `dates.py` have tables of their own for terms of fits and for what lies between two dates, because an
enumeration of them would be too large.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

STR, INT, FLOAT, BOOL, DATE = "str", "int", "float", "bool", "date"
STRS, INTS, FLOATS = "strs", "ints", "floats"
SEP, INDEX, END, PATTERN, NUMBER, FORMAT = "sep", "index", "end", "pattern", "number", "format"
BASE, RADIX, EPOCH = "base", "radix", "epoch"
LONGEST = 4_000  # characters of a text, elements of a list
LARGEST = 10**15  # of a number


class Undefined(Exception):
    """The operation has no result for these arguments."""


class Operation(NamedTuple):
    """One row of the grammar.

    Args:
        name: the name of the operation.
        takes: the kinds of its arguments.
        gives: the kind of its result.
        price: the price in bits, besides that of its arguments.
        function: computes the result; it may raise any of `RAISED`.
        template: the Python source, with {0} for the first argument. An argument in parentheses of
            its own is written {0:free}, so that it gets no further ones.
        infix: whether the source is an operator expression, which gets parentheses where it is an
            argument.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    price: float
    function: Callable[..., Any]
    template: str
    infix: bool = False


RAISED = (
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Undefined,
)  # fmt: skip


def _exact(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text):  # int() accepts more than a person expects
        raise Undefined
    return int(text)


def _decimal(text: str) -> float:
    if not re.fullmatch(r"[+-]?\d*\.?\d+", text):
        raise Undefined
    return float(text)


def _found(place: int) -> int:
    if place < 0:
        raise Undefined
    return place


def _moment(text: str, form: str) -> datetime:
    return datetime.strptime(text, form)


def _repeated(text: str, count: int) -> str:
    if len(text) * count > LONGEST:
        raise Undefined
    return text * count


def _in_utc(date: datetime, form: str) -> str:
    if date.tzinfo is None:  # Python would take it for the time zone of this machine
        raise Undefined
    return date.astimezone(UTC).strftime(form)


def _month_end(date: datetime) -> datetime:
    return (date.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _based(text: str, base: int) -> int:
    if not re.fullmatch("[0-9A-Za-z]+", text):
        raise Undefined
    return int(text, base)


def _divided(a: float, b: float) -> float:
    return a / b


OPERATIONS: tuple[Operation, ...] = (
    # --- parts of a text
    Operation("field", (STR, SEP, INDEX), STR, 2, lambda s, d, i: s.split(d)[i], "{0}.split({1:free})[{2:free}]"),
    Operation("word", (STR, INDEX), STR, 2, lambda s, i: s.split()[i], "{0}.split()[{1:free}]"),
    Operation("run", (STR, PATTERN, INDEX), STR, 2.5, lambda s, p, i: re.findall(p, s)[i], "re.findall({1:free}, {0:free})[{2:free}]"),
    Operation("after", (STR, SEP), STR, 2.5, lambda s, d: s.split(d, 1)[1], "{0}.split({1:free}, 1)[1]"),
    Operation("before_last", (STR, SEP), STR, 3, lambda s, d: s.rsplit(d, 1)[-2], "{0}.rsplit({1:free}, 1)[-2]"),
    Operation("field_n", (STR, SEP, INT), STR, 3, lambda s, d, n: s.split(d)[n], "{0}.split({1:free})[{2:free}]"),
    Operation("character", (STR, INDEX), STR, 2, lambda s, i: s[i], "{0}[{1:free}]"),
    Operation("cut_to", (STR, END), STR, 2.5, lambda s, n: s[:n], "{0}[:{1:free}]"),
    Operation("cut_from", (STR, END), STR, 2.5, lambda s, n: s[n:], "{0}[{1:free}:]"),
    Operation("first_n", (STR, INT), STR, 4, lambda s, n: s[:n], "{0}[:{1:free}]"),
    Operation("from_n", (STR, INT), STR, 4, lambda s, n: s[n:], "{0}[{1:free}:]"),
    Operation("at_n", (STR, INT), STR, 4, lambda s, n: s[n], "{0}[{1:free}]"),
    Operation("after_text", (STR, STR), STR, 6, lambda s, d: s.split(d, 1)[1], "{0}.split({1:free}, 1)[1]"),
    Operation("before_text", (STR, STR), STR, 6, lambda s, d: s.split(d, 1)[-2], "{0}.split({1:free}, 1)[-2]"),
    # --- changes of a text
    Operation("upper", (STR,), STR, 2.5, str.upper, "{0}.upper()"),
    Operation("lower", (STR,), STR, 2.5, str.lower, "{0}.lower()"),
    Operation("capitalize", (STR,), STR, 3, str.capitalize, "{0}.capitalize()"),
    Operation("title", (STR,), STR, 3, str.title, "{0}.title()"),
    Operation("swapcase", (STR,), STR, 5, str.swapcase, "{0}.swapcase()"),
    Operation("strip", (STR,), STR, 2.5, str.strip, "{0}.strip()"),
    Operation("strip_of", (STR, SEP), STR, 4, str.strip, "{0}.strip({1:free})"),
    Operation("without", (STR, SEP), STR, 3, lambda s, a: s.replace(a, ""), "{0}.replace({1:free}, \"\")"),
    Operation("without_runs", (STR, PATTERN), STR, 4, lambda s, p: re.sub(p, "", s), "re.sub({1:free}, \"\", {0:free})"),
    Operation("without_text", (STR, STR), STR, 6, lambda s, a: s.replace(a, ""), "{0}.replace({1:free}, \"\")"),
    Operation("replace", (STR, SEP, SEP), STR, 4, lambda s, a, b: s.replace(a, b), "{0}.replace({1:free}, {2:free})"),
    Operation("replace_one", (STR, SEP, SEP), STR, 6, lambda s, a, b: s.replace(a, b, 1), "{0}.replace({1:free}, {2:free}, 1)"),
    Operation("replace_runs", (STR, PATTERN, SEP), STR, 5, lambda s, p, b: re.sub(p, b, s), "re.sub({1:free}, {2:free}, {0:free})"),
    Operation("replace_text", (STR, STR, STR), STR, 8, lambda s, a, b: s.replace(a, b), "{0}.replace({1:free}, {2:free})"),
    Operation("backwards", (STR,), STR, 4, lambda s: s[::-1], "{0}[::-1]"),
    Operation("repeated", (STR, INT), STR, 4, _repeated, "{0} * {1}", True),
    Operation("zero_padded", (STR, END), STR, 5, lambda s, n: s.zfill(n), "{0}.zfill({1:free})"),
    Operation("text_of", (INT,), STR, 2.5, str, "str({0:free})"),
    # --- lists of texts
    Operation("fields", (STR, SEP), STRS, 2, lambda s, d: s.split(d), "{0}.split({1:free})"),
    Operation("words", (STR,), STRS, 1.5, str.split, "{0}.split()"),
    Operation("runs", (STR, PATTERN), STRS, 2.5, lambda s, p: re.findall(p, s), "re.findall({1:free}, {0:free})"),
    Operation("initials", (STRS,), STRS, 3, lambda w: [one[0] for one in w], "[one[0] for one in {0}]"),
    Operation("each_upper", (STRS,), STRS, 3.5, lambda w: [one.upper() for one in w], "[one.upper() for one in {0}]"),
    Operation("each_lower", (STRS,), STRS, 3.5, lambda w: [one.lower() for one in w], "[one.lower() for one in {0}]"),
    Operation("each_capitalize", (STRS,), STRS, 3.5, lambda w: [one.capitalize() for one in w], "[one.capitalize() for one in {0}]"),
    Operation("each_strip", (STRS,), STRS, 3.5, lambda w: [one.strip() for one in w], "[one.strip() for one in {0}]"),
    Operation("reversed_list", (STRS,), STRS, 3, lambda w: w[::-1], "{0}[::-1]"),
    Operation("sorted_list", (STRS,), STRS, 4, sorted, "sorted({0:free})"),
    Operation("list_from", (STRS, END), STRS, 3, lambda w, n: w[n:], "{0}[{1:free}:]"),
    Operation("list_to", (STRS, END), STRS, 3, lambda w, n: w[:n], "{0}[:{1:free}]"),
    Operation("nonempty", (STRS,), STRS, 3, lambda w: [one for one in w if one], "[one for one in {0} if one]"),
    Operation("joined", (STRS, SEP), STR, 2, lambda w, d: d.join(w), "{1}.join({0:free})"),
    Operation("run_together", (STRS,), STR, 2, "".join, "\"\".join({0:free})"),
    Operation("element", (STRS, INDEX), STR, 3, lambda w, i: w[i], "{0}[{1:free}]"),
    # --- numbers
    Operation("length", (STR,), INT, 2, len, "len({0:free})"),
    Operation("count", (STR, SEP), INT, 2.5, str.count, "{0}.count({1:free})"),
    Operation("count_text", (STR, STR), INT, 4, lambda s, a: s.count(a) if a else _found(-1), "{0}.count({1:free})"),
    Operation("place", (STR, SEP), INT, 3, str.index, "{0}.index({1:free})"),
    Operation("place_of_text", (STR, STR), INT, 4.5, str.index, "{0}.index({1:free})"),
    Operation("integer", (STR,), INT, 2, _exact, "int({0:free})"),
    Operation("how_many", (STRS,), INT, 1.5, len, "len({0:free})"),
    Operation("decimal", (STR,), FLOAT, 2.5, _decimal, "float({0:free})"),
    Operation("plus", (INT, INT), INT, 3, lambda a, b: a + b, "{0} + {1}", True),
    Operation("minus", (INT, INT), INT, 3, lambda a, b: a - b, "{0} - {1}", True),
    Operation("times", (INT, INT), INT, 4, lambda a, b: a * b, "{0} * {1}", True),
    Operation("plus_number", (INT, NUMBER), INT, 2.5, lambda a, b: a + b, "{0} + {1}", True),
    Operation("minus_number", (INT, NUMBER), INT, 2.5, lambda a, b: a - b, "{0} - {1}", True),
    Operation("times_number", (INT, NUMBER), INT, 3, lambda a, b: a * b, "{0} * {1}", True),
    Operation("quotient", (INT, NUMBER), INT, 3.5, lambda a, b: a // b, "{0} // {1}", True),
    Operation("remainder", (INT, NUMBER), INT, 2.5, lambda a, b: a % b, "{0} % {1}", True),
    Operation("absolute", (INT,), INT, 3, abs, "abs({0:free})"),
    Operation("smaller", (INT, INT), INT, 4, min, "min({0:free}, {1:free})"),
    Operation("larger", (INT, INT), INT, 4, max, "max({0:free}, {1:free})"),
    Operation("integers", (STRS,), INTS, 2.5, lambda w: list(map(_exact, w)), "[int(one) for one in {0}]"),
    Operation("lengths", (STRS,), INTS, 3, lambda w: list(map(len, w)), "[len(one) for one in {0}]"),
    Operation("total", (INTS,), INT, 2, sum, "sum({0:free})"),
    Operation("largest", (INTS,), INT, 2.5, max, "max({0:free})"),
    Operation("least", (INTS,), INT, 2.5, min, "min({0:free})"),
    Operation("how_many_numbers", (INTS,), INT, 2, len, "len({0:free})"),
    Operation("ratio", (INT, INT), FLOAT, 4, _divided, "{0} / {1}", True),
    Operation("real", (INT,), FLOAT, 4, float, "float({0:free})"),
    Operation("sum_of", (FLOAT, FLOAT), FLOAT, 3, lambda a, b: a + b, "{0} + {1}", True),
    Operation("difference_of", (FLOAT, FLOAT), FLOAT, 3, lambda a, b: a - b, "{0} - {1}", True),
    Operation("product_of", (FLOAT, FLOAT), FLOAT, 4, lambda a, b: a * b, "{0} * {1}", True),
    Operation("scaled", (FLOAT, NUMBER), FLOAT, 3, lambda a, b: a * b, "{0} * {1}", True),
    Operation("part_of", (FLOAT, NUMBER), FLOAT, 3.5, _divided, "{0} / {1}", True),
    Operation("rounded_to", (FLOAT, END), FLOAT, 2.5, round, "round({0:free}, {1:free})"),
    Operation("sum_of_list", (FLOATS,), FLOAT, 2, sum, "sum({0:free})"),
    Operation("mean", (FLOATS,), FLOAT, 3, lambda v: sum(v) / len(v), "sum({0:free}) / len({0:free})", True),
    Operation("mean_of", (INTS,), FLOAT, 3, lambda v: sum(v) / len(v), "sum({0:free}) / len({0:free})", True),
    Operation("greatest", (FLOATS,), FLOAT, 2.5, max, "max({0:free})"),
    Operation("lowest", (FLOATS,), FLOAT, 2.5, min, "min({0:free})"),
    Operation("with_commas", (INT,), STR, 4, lambda a: format(a, ","), "format({0:free}, \",\")"),
    # --- dates and times
    Operation("moment", (STR, FORMAT), DATE, 2, _moment, "datetime.strptime({0:free}, {1:free})"),
    Operation("formatted", (DATE, FORMAT), STR, 2, datetime.strftime, "{0}.strftime({1:free})"),
    Operation("year", (DATE,), INT, 2, lambda d: d.year, "{0}.year"),
    Operation("month", (DATE,), INT, 2, lambda d: d.month, "{0}.month"),
    Operation("day", (DATE,), INT, 2, lambda d: d.day, "{0}.day"),
    Operation("hour", (DATE,), INT, 2, lambda d: d.hour, "{0}.hour"),
    Operation("minute", (DATE,), INT, 2, lambda d: d.minute, "{0}.minute"),
    Operation("weekday", (DATE,), INT, 3, lambda d: d.weekday(), "{0}.weekday()"),
    Operation("iso_weekday", (DATE,), INT, 3.5, lambda d: d.isoweekday(), "{0}.isoweekday()"),
    Operation("week", (DATE,), INT, 3.5, lambda d: d.isocalendar()[1], "{0}.isocalendar()[1]"),
    Operation("day_of_year", (DATE,), INT, 3, lambda d: d.timetuple().tm_yday, "{0}.timetuple().tm_yday"),
    Operation("quarter", (DATE,), INT, 4, lambda d: (d.month - 1) // 3 + 1, "({0}.month - 1) // 3 + 1", True),
    Operation("month_start", (DATE,), DATE, 4, lambda d: d.replace(day=1), "{0}.replace(day=1)"),
    Operation("year_start", (DATE,), DATE, 5, lambda d: d.replace(month=1, day=1), "{0}.replace(month=1, day=1)"),
    Operation("month_end", (DATE,), DATE, 5, _month_end, "(({0}.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1))"),
    Operation("seconds_since_1970", (DATE, EPOCH), INT, 4, lambda d, _: (d - datetime(1970, 1, 1)) // timedelta(seconds=1), "({0} - datetime(1970, 1, 1)) // timedelta(seconds=1)", True),
    Operation("after_1970", (INT, EPOCH), DATE, 4, lambda n, _: datetime(1970, 1, 1) + timedelta(seconds=n), "(datetime(1970, 1, 1) + timedelta(seconds={0:free}))"),
    Operation("formatted_in_utc", (DATE, FORMAT), STR, 4, _in_utc, "{0}.astimezone(timezone.utc).strftime({1:free})"),
    Operation("without_zero", (DATE, FORMAT), STR, 4, lambda d, f: d.strftime(f).lstrip("0"), "{0}.strftime({1:free}).lstrip(\"0\")"),
    Operation("iso_text", (DATE,), STR, 4, datetime.isoformat, "{0}.isoformat()"),
    # --- numbers in other forms
    Operation("rounded", (FLOAT,), INT, 3, round, "round({0:free})"),
    Operation("truncated", (FLOAT,), INT, 3.5, int, "int({0:free})"),
    Operation("floor", (FLOAT,), INT, 4, math.floor, "math.floor({0:free})"),
    Operation("ceiling", (FLOAT,), INT, 4, math.ceil, "math.ceil({0:free})"),
    Operation("in_radix", (INT, RADIX), STR, 2, format, "format({0:free}, {1:free})"),
    Operation("from_base", (STR, BASE), INT, 2, _based, "int({0:free}, {1:free})"),
    Operation("digit_list", (STR,), INTS, 3, lambda s: [_exact(c) for c in s], "[int(one) for one in {0}]"),
    # --- truth values
    Operation("contains", (STR, SEP), BOOL, 2.5, lambda s, a: a in s, "{1} in {0}", True),
    Operation("contains_text", (STR, STR), BOOL, 4, lambda s, a: a in s, "{1} in {0}", True),
    Operation("begins", (STR, SEP), BOOL, 3, str.startswith, "{0}.startswith({1:free})"),
    Operation("begins_text", (STR, STR), BOOL, 4.5, str.startswith, "{0}.startswith({1:free})"),
    Operation("ends", (STR, SEP), BOOL, 3, str.endswith, "{0}.endswith({1:free})"),
    Operation("ends_text", (STR, STR), BOOL, 4.5, str.endswith, "{0}.endswith({1:free})"),
    Operation("has_run", (STR, PATTERN), BOOL, 3, lambda s, p: bool(re.search(p, s)), "bool(re.search({1:free}, {0:free}))"),
    Operation("is_run", (STR, PATTERN), BOOL, 3, lambda s, p: bool(re.fullmatch(p, s)), "bool(re.fullmatch({1:free}, {0:free}))"),
    Operation("same_text", (STR, STR), BOOL, 4, lambda a, b: a == b, "{0} == {1}", True),
    Operation("equals_text", (STR, SEP), BOOL, 4, lambda a, b: a == b, "{0} == {1}", True),
    Operation("is_number", (INT, NUMBER), BOOL, 4, lambda a, b: a == b, "{0} == {1}", True),
    Operation("over", (INT, NUMBER), BOOL, 4.5, lambda a, b: a > b, "{0} > {1}", True),
    Operation("under", (INT, NUMBER), BOOL, 4.5, lambda a, b: a < b, "{0} < {1}", True),
    Operation("under_real", (FLOAT, NUMBER), BOOL, 4.5, lambda a, b: a < b, "{0} < {1}", True),
    Operation("less", (INT, INT), BOOL, 4, lambda a, b: a < b, "{0} < {1}", True),
    Operation("same_number", (INT, INT), BOOL, 4, lambda a, b: a == b, "{0} == {1}", True),
    Operation("over_real", (FLOAT, NUMBER), BOOL, 4.5, lambda a, b: a > b, "{0} > {1}", True),
    Operation("not", (BOOL,), BOOL, 2, lambda a: not a, "not {0}", True),
    Operation("both", (BOOL, BOOL), BOOL, 4, lambda a, b: a and b, "{0} and {1}", True),
    Operation("either", (BOOL, BOOL), BOOL, 4, lambda a, b: a or b, "{0} or {1}", True),
)  # fmt: skip
