"""The operations of which programs over JSON values are composed: one row for each.

A row gives the kinds of its arguments and of its result, its price, the function and its Python source.
Besides the kinds of values there are kinds of constants, which only `constants.py` provides:

- sep: a separator or another text of the task
- index: a place in a list or text; end: where a slice begins or ends
- pattern: a regular expression for a run of characters, compiled
- number: a number of the task
- format: a form of dates that all inputs or all outputs have
- base: a base in which all inputs or all outputs are numbers; radix: its name in a format specification
- epoch: present where numbers are likely to be seconds since 1970; no source shows it

`terms.py` and `dates.py` have tables of their own for terms of fits and for what lies between two dates, because an
enumeration of them would be too large.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any, NamedTuple

STR, INT, FLOAT, BOOL, DATE = "str", "int", "float", "bool", "date"
PIECES = "pieces"  # the parts of a text, of which one is taken
STRS, INTS, FLOATS, ROWS = "strs", "ints", "floats", "rows"  # rows: lists of any other elements
ELEMENTS = {STRS: STR, INTS: INT, FLOATS: FLOAT}
LIST, ELEMENT = "list", "element"  # in rows that stand for one operation on each kind of lists
SEP, INDEX, END, PATTERN, NUMBER, FORMAT = "sep", "index", "end", "pattern", "number", "format"
BASE, RADIX, EPOCH = "base", "radix", "epoch"
LONGEST = 4_000  # characters of a text, elements of a list
LONGEST_COUNTED = 500  # elements that are each counted
LARGEST = 10**15  # of a number


class Undefined(Exception):
    """The operation has no result for these arguments."""


class Guard(NamedTuple):
    """A condition on the first arguments of an operation.

    Where it holds on no input, the value of the operation is known without evaluating it: it is the
    first argument, undefined, or the same on all inputs.

    Args:
        takes: how many arguments it looks at.
        function: whether it holds.
    """

    takes: int
    function: Callable[..., Any]


OCCURS = Guard(2, operator.contains)  # the second argument in the first
DIVIDES = Guard(2, lambda s, d: d and d in s)
MATCHES = Guard(2, lambda s, p: p.search(s))
HAS_DIGIT = Guard(1, re.compile(r"\d").search)
HAS_SPACE = Guard(1, re.compile(r"\s|^$").search)


class Operation(NamedTuple):
    """One row of the grammar.

    Args:
        name: the name of the operation.
        takes: the kinds of its arguments.
        gives: the kind of its result.
        price: the price in bits, besides that of its arguments.
        function: computes the result; it may raise any of `RAISED`.
        template: the Python source, with {0} for the first argument. An argument in parentheses of
            its own is written {0:free}, so that it gets no further ones; {0:each} if the operation only
            goes through it, so that it need not be a list, and {0:loop} if it need not be made at all.
        infix: whether the source is an operator expression, which gets parentheses where it is an
            argument.
        commutative: whether the order of the two arguments changes nothing.
        guard: where the operation has a value that is not known without evaluating it.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    price: float
    function: Callable[..., Any]
    template: str
    infix: bool = False
    commutative: bool = False
    guard: Guard | None = None


RAISED = (
    ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError, Undefined,
)  # fmt: skip


_INTEGER, _DECIMAL = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?\d*\.?\d+")


def _exact(text: str) -> int:
    if not _INTEGER.fullmatch(text):  # int() accepts more than a person expects
        raise Undefined
    return int(text)


def _decimal(text: str) -> float:
    if not _DECIMAL.fullmatch(text):
        raise Undefined
    return float(text)


def _found(place: int) -> int:
    if place < 0:
        raise Undefined
    return place


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


def _repeated_mark(mark: str, count: int) -> str:
    if len(mark) != 1 or count > LONGEST:
        raise Undefined
    return mark * count


def _no_word(mark: str) -> str:
    if not mark or any(map(str.isalnum, mark)):  # joins find words that are inserted
        raise Undefined
    return mark


def _before_runs(text: str, pattern: re.Pattern[str], mark: str) -> str:
    return pattern.sub(lambda m: _no_word(mark) + m.group(), text)


def _after_runs(text: str, pattern: re.Pattern[str], mark: str) -> str:
    return pattern.sub(lambda m: m.group() + _no_word(mark), text)


def _with_runs_replaced(text: str, pattern: re.Pattern[str], new: str) -> str:
    if "\\" in new:  # which `re.sub` reads as a group
        raise Undefined
    return pattern.sub(new, text)


def _with_one_replaced(text: str, old: str, new: str) -> str:
    if not old:
        raise Undefined
    return text.replace(old, new, 1)


def _commonest(elements: list[Any]) -> Any:
    if len(elements) > LONGEST_COUNTED:
        raise Undefined
    return max(elements, key=elements.count)


def _nth_place(text: str, mark: str, n: int) -> int:
    return [k for k, c in enumerate(text) if c == mark][n - 1]


def _copied(values: list[Any], count: int) -> list[Any]:
    if len(values) * count > LONGEST:
        raise Undefined
    return values * count


def _product(values: Sequence[int]) -> int:
    if sum(map(int.bit_length, values)) > LARGEST.bit_length():
        raise Undefined
    return math.prod(values)


def _of_each_kind(kinds: Sequence[str], rows: Sequence[Operation]) -> Iterator[Operation]:
    """Yield each row for lists of each kind."""
    for row in rows:
        for kind in kinds:
            concrete = {LIST: kind, ELEMENT: ELEMENTS.get(kind, "")}
            takes = tuple(concrete.get(one, one) for one in row.takes)
            yield row._replace(takes=takes, gives=concrete.get(row.gives, row.gives))


OPERATIONS: tuple[Operation, ...] = (
    # --- parts of a text
    Operation("pieces", (STR, SEP), PIECES, 2, str.split, "{0}.split({1:free})", guard=DIVIDES),
    Operation("pieces_by_space", (STR,), PIECES, 2, str.split, "{0}.split()", guard=HAS_SPACE),
    Operation("matches", (STR, PATTERN), PIECES, 2.5, lambda s, p: p.findall(s), "re.findall({1:free}, {0:free})", guard=MATCHES),
    Operation("piece", (PIECES, INDEX), STR, 0, operator.getitem, "{0}[{1:free}]"),
    Operation("after", (STR, SEP), STR, 2.5, lambda s, d: s.split(d, 1)[1], "{0}.split({1:free}, 1)[1]", guard=DIVIDES),
    Operation("before_last", (STR, SEP), STR, 3, lambda s, d: s.rsplit(d, 1)[-2], "{0}.rsplit({1:free}, 1)[-2]", guard=DIVIDES),
    Operation("field_n", (STR, SEP, INT), STR, 3, lambda s, d, n: s.split(d)[n], "{0}.split({1:free})[{2:free}]", guard=DIVIDES),
    Operation("character", (STR, INDEX), STR, 2, operator.getitem, "{0}[{1:free}]"),
    Operation("cut_to", (STR, END), STR, 2.5, lambda s, n: s[:n], "{0}[:{1:free}]"),
    Operation("cut_from", (STR, END), STR, 2.5, lambda s, n: s[n:], "{0}[{1:free}:]"),
    Operation("first_n", (STR, INT), STR, 4, lambda s, n: s[:n], "{0}[:{1:free}]"),
    Operation("from_n", (STR, INT), STR, 4, lambda s, n: s[n:], "{0}[{1:free}:]"),
    Operation("at_n", (STR, INT), STR, 4, operator.getitem, "{0}[{1:free}]"),
    Operation("after_text", (STR, STR), STR, 6, lambda s, d: s.split(d, 1)[1], "{0}.split({1:free}, 1)[1]", guard=DIVIDES),
    Operation("before_text", (STR, STR), STR, 6, lambda s, d: s.split(d, 1)[-2], "{0}.split({1:free}, 1)[-2]", guard=DIVIDES),
    # --- changes of a text
    Operation("upper", (STR,), STR, 2.5, str.upper, "{0}.upper()"),
    Operation("lower", (STR,), STR, 2.5, str.lower, "{0}.lower()"),
    Operation("capitalize", (STR,), STR, 3, str.capitalize, "{0}.capitalize()"),
    Operation("title", (STR,), STR, 3, str.title, "{0}.title()"),
    Operation("swapcase", (STR,), STR, 5, str.swapcase, "{0}.swapcase()"),
    Operation("strip", (STR,), STR, 2.5, str.strip, "{0}.strip()"),
    Operation("strip_of", (STR, SEP), STR, 4, str.strip, "{0}.strip({1:free})"),
    Operation("without_begin", (STR, SEP), STR, 2, str.removeprefix, "{0}.removeprefix({1:free})", guard=OCCURS),
    Operation("without_end", (STR, SEP), STR, 2, str.removesuffix, "{0}.removesuffix({1:free})", guard=OCCURS),
    Operation("without", (STR, SEP), STR, 3, lambda s, a: s.replace(a, ""), "{0}.replace({1:free}, \"\")", guard=DIVIDES),
    Operation("without_runs", (STR, PATTERN), STR, 4, lambda s, p: p.sub("", s), "re.sub({1:free}, \"\", {0:free})", guard=MATCHES),
    Operation("without_text", (STR, STR), STR, 6, lambda s, a: s.replace(a, ""), "{0}.replace({1:free}, \"\")", guard=DIVIDES),
    Operation("replace", (STR, SEP, SEP), STR, 4, lambda s, a, b: s.replace(a, b), "{0}.replace({1:free}, {2:free})", guard=OCCURS),
    Operation("replace_one", (STR, SEP, SEP), STR, 6, _with_one_replaced, "{0}.replace({1:free}, {2:free}, 1)", guard=OCCURS),
    Operation("replace_runs", (STR, PATTERN, SEP), STR, 5, _with_runs_replaced, "re.sub({1:free}, {2:free}, {0:free})", guard=MATCHES),
    Operation("before_runs", (STR, PATTERN, SEP), STR, 5.5, _before_runs, "re.sub({1:free}, lambda m: {2} + m.group(), {0:free})", guard=MATCHES),
    Operation("after_runs", (STR, PATTERN, SEP), STR, 5.5, _after_runs, "re.sub({1:free}, lambda m: m.group() + {2}, {0:free})", guard=MATCHES),
    Operation("replace_text", (STR, STR, STR), STR, 8, lambda s, a, b: s.replace(a, b), "{0}.replace({1:free}, {2:free})", guard=OCCURS),
    Operation("backwards", (STR,), STR, 4, lambda s: s[::-1], "{0}[::-1]"),
    Operation("repeated", (STR, INT), STR, 4, _repeated, "{0} * {1}", True),
    Operation("zero_padded", (STR, END), STR, 5, lambda s, n: s.zfill(n), "{0}.zfill({1:free})"),
    Operation("filled_left", (STR, END, SEP), STR, 5, str.rjust, "{0}.rjust({1:free}, {2:free})"),
    Operation("filled_right", (STR, END, SEP), STR, 5, str.ljust, "{0}.ljust({1:free}, {2:free})"),
    Operation("repeated_mark", (SEP, INT), STR, 4, _repeated_mark, "{0} * {1}", True),
    Operation("or_default", (STR, SEP), STR, 5, lambda s, d: s or d, "{0} or {1}", True),
    Operation("text_of", (INT,), STR, 2.5, str, "str({0:free})"),
    # --- lists of texts
    Operation("fields", (STR, SEP), STRS, 2, str.split, "{0}.split({1:free})", guard=DIVIDES),
    Operation("words", (STR,), STRS, 1.5, str.split, "{0}.split()", guard=HAS_SPACE),
    Operation("runs", (STR, PATTERN), STRS, 2.5, lambda s, p: p.findall(s), "re.findall({1:free}, {0:free})", guard=MATCHES),
    Operation("initials", (STRS,), STRS, 3, lambda w: [one[0] for one in w], "[one[0] for one in {0}]"),
    Operation("each_upper", (STRS,), STRS, 3.5, lambda w: [one.upper() for one in w], "[one.upper() for one in {0}]"),
    Operation("each_lower", (STRS,), STRS, 3.5, lambda w: [one.lower() for one in w], "[one.lower() for one in {0}]"),
    Operation("each_capitalize", (STRS,), STRS, 3.5, lambda w: [one.capitalize() for one in w], "[one.capitalize() for one in {0}]"),
    Operation("each_strip", (STRS,), STRS, 3.5, lambda w: [one.strip() for one in w], "[one.strip() for one in {0}]"),
    Operation("nonempty", (STRS,), STRS, 3, lambda w: [one for one in w if one], "[one for one in {0} if one]"),
    Operation("joined", (STRS, SEP), STR, 2, lambda w, d: d.join(w), "{1}.join({0:each})"),
    Operation("run_together", (STRS,), STR, 2, "".join, "\"\".join({0:each})"),
    # --- numbers
    Operation("length", (STR,), INT, 2, len, "len({0:free})"),
    Operation("count", (STR, SEP), INT, 2.5, str.count, "{0}.count({1:free})", guard=OCCURS),
    Operation("count_text", (STR, STR), INT, 4, lambda s, a: s.count(a) if a else _found(-1), "{0}.count({1:free})", guard=OCCURS),
    Operation("place", (STR, SEP), INT, 3, str.index, "{0}.index({1:free})", guard=OCCURS),
    Operation("nth_place", (STR, SEP, INT), INT, 5, _nth_place, "[k for k, c in enumerate({0:free}) if c == {1}][{2} - 1]", guard=OCCURS),
    Operation("place_of_text", (STR, STR), INT, 4.5, str.index, "{0}.index({1:free})", guard=OCCURS),
    Operation("integer", (STR,), INT, 2, _exact, "int({0:free})", guard=HAS_DIGIT),
    Operation("how_many", (STRS,), INT, 1.5, len, "len({0:each})"),
    Operation("decimal", (STR,), FLOAT, 2.5, _decimal, "float({0:free})", guard=HAS_DIGIT),
    Operation("plus", (INT, INT), INT, 3, operator.add, "{0} + {1}", True, commutative=True),
    Operation("minus", (INT, INT), INT, 3, operator.sub, "{0} - {1}", True),
    Operation("times", (INT, INT), INT, 4, operator.mul, "{0} * {1}", True, commutative=True),
    Operation("plus_number", (INT, NUMBER), INT, 2.5, operator.add, "{0} + {1}", True),
    Operation("minus_number", (INT, NUMBER), INT, 2.5, operator.sub, "{0} - {1}", True),
    Operation("times_number", (INT, NUMBER), INT, 3, operator.mul, "{0} * {1}", True),
    Operation("quotient", (INT, NUMBER), INT, 3.5, operator.floordiv, "{0} // {1}", True),
    Operation("remainder", (INT, NUMBER), INT, 2.5, operator.mod, "{0} % {1}", True),
    Operation("at_least", (INT, NUMBER), INT, 3.5, max, "max({0:free}, {1:free})"),
    Operation("at_most", (INT, NUMBER), INT, 3.5, min, "min({0:free}, {1:free})"),
    Operation("at_least_real", (FLOAT, NUMBER), FLOAT, 3.5, lambda a, b: float(max(a, b)), "max({0:free}, {1:free})"),
    Operation("at_most_real", (FLOAT, NUMBER), FLOAT, 3.5, lambda a, b: float(min(a, b)), "min({0:free}, {1:free})"),
    Operation("negative", (INT,), INT, 2.5, operator.neg, "-{0}", True),
    Operation("negative_real", (FLOAT,), FLOAT, 2.5, operator.neg, "-{0}", True),
    Operation("absolute_real", (FLOAT,), FLOAT, 3, abs, "abs({0:free})"),
    Operation("truth_as_number", (BOOL,), INT, 7, int, "int({0:free})"),
    Operation("absolute", (INT,), INT, 3, abs, "abs({0:free})"),
    Operation("smaller", (INT, INT), INT, 4, min, "min({0:free}, {1:free})", commutative=True),
    Operation("larger", (INT, INT), INT, 4, max, "max({0:free}, {1:free})", commutative=True),
    Operation("integers", (STRS,), INTS, 2.5, lambda w: list(map(_exact, w)), "[int(one) for one in {0}]"),
    Operation("lengths", (STRS,), INTS, 3, lambda w: list(map(len, w)), "[len(one) for one in {0}]"),
    Operation("total", (INTS,), INT, 2, sum, "sum({0:each})"),
    Operation("largest", (INTS,), INT, 2.5, max, "max({0:each})"),
    Operation("least", (INTS,), INT, 2.5, min, "min({0:each})"),
    Operation("how_many_numbers", (INTS,), INT, 2, len, "len({0:each})"),
    Operation("ratio", (INT, INT), FLOAT, 4, operator.truediv, "{0} / {1}", True),
    Operation("real", (INT,), FLOAT, 4, float, "float({0:free})"),
    Operation("sum_of", (FLOAT, FLOAT), FLOAT, 3, operator.add, "{0} + {1}", True, commutative=True),
    Operation("difference_of", (FLOAT, FLOAT), FLOAT, 3, operator.sub, "{0} - {1}", True),
    Operation("product_of", (FLOAT, FLOAT), FLOAT, 4, operator.mul, "{0} * {1}", True, commutative=True),
    Operation("ratio_of", (FLOAT, FLOAT), FLOAT, 4.5, operator.truediv, "{0} / {1}", True),
    Operation("scaled", (FLOAT, NUMBER), FLOAT, 3, operator.mul, "{0} * {1}", True),
    Operation("part_of", (FLOAT, NUMBER), FLOAT, 3.5, operator.truediv, "{0} / {1}", True),
    Operation("rounded_to", (FLOAT, END), FLOAT, 2.5, round, "round({0:free}, {1:free})"),
    Operation("sum_of_list", (FLOATS,), FLOAT, 2, sum, "sum({0:each})"),
    Operation("mean", (FLOATS,), FLOAT, 3, lambda v: sum(v) / len(v), "sum({0:free}) / len({0:free})", True),
    Operation("mean_of", (INTS,), FLOAT, 3, lambda v: sum(v) / len(v), "sum({0:free}) / len({0:free})", True),
    Operation("greatest", (FLOATS,), FLOAT, 2.5, max, "max({0:each})"),
    Operation("lowest", (FLOATS,), FLOAT, 2.5, min, "min({0:each})"),
    Operation("with_commas", (INT,), STR, 4, lambda a: format(a, ","), "format({0:free}, \",\")"),
    # --- dates and times
    Operation("moment", (STR, FORMAT), DATE, 2, datetime.strptime, "datetime.strptime({0:free}, {1:free})"),
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
    Operation("contains", (STR, SEP), BOOL, 2.5, operator.contains, "{1} in {0}", True, guard=OCCURS),
    Operation("contains_text", (STR, STR), BOOL, 4, operator.contains, "{1} in {0}", True, guard=OCCURS),
    Operation("begins", (STR, SEP), BOOL, 3, str.startswith, "{0}.startswith({1:free})", guard=OCCURS),
    Operation("begins_text", (STR, STR), BOOL, 4.5, str.startswith, "{0}.startswith({1:free})", guard=OCCURS),
    Operation("ends", (STR, SEP), BOOL, 3, str.endswith, "{0}.endswith({1:free})", guard=OCCURS),
    Operation("ends_text", (STR, STR), BOOL, 4.5, str.endswith, "{0}.endswith({1:free})", guard=OCCURS),
    Operation("has_run", (STR, PATTERN), BOOL, 3, lambda s, p: bool(p.search(s)), "bool(re.search({1:free}, {0:free}))", guard=MATCHES),
    Operation("is_run", (STR, PATTERN), BOOL, 3, lambda s, p: bool(p.fullmatch(s)), "bool(re.fullmatch({1:free}, {0:free}))", guard=MATCHES),
    Operation("same_text", (STR, STR), BOOL, 4, operator.eq, "{0} == {1}", True, commutative=True),
    Operation("equals_text", (STR, SEP), BOOL, 4, operator.eq, "{0} == {1}", True, guard=OCCURS),
    Operation("differs", (STR, STR), BOOL, 4.5, lambda a, b: a != b, "{0} != {1}", True),
    Operation("differs_from", (STR, SEP), BOOL, 4.5, lambda a, b: a != b, "{0} != {1}", True),
    Operation("other_number", (INT, INT), BOOL, 4.5, lambda a, b: a != b, "{0} != {1}", True),
    Operation("is_number", (INT, NUMBER), BOOL, 4, operator.eq, "{0} == {1}", True),
    Operation("over", (INT, NUMBER), BOOL, 4.5, operator.gt, "{0} > {1}", True),
    Operation("under", (INT, NUMBER), BOOL, 4.5, operator.lt, "{0} < {1}", True),
    Operation("under_real", (FLOAT, NUMBER), BOOL, 4.5, operator.lt, "{0} < {1}", True),
    Operation("less", (INT, INT), BOOL, 4, operator.lt, "{0} < {1}", True),
    Operation("less_real", (FLOAT, FLOAT), BOOL, 4, operator.lt, "{0} < {1}", True),
    Operation("same_real", (FLOAT, FLOAT), BOOL, 4, operator.eq, "{0} == {1}", True, commutative=True),
    Operation("earlier", (DATE, DATE), BOOL, 4, operator.lt, "{0} < {1}", True),
    Operation("before_in_order", (STR, STR), BOOL, 4.5, operator.lt, "{0} < {1}", True),
    Operation("same_number", (INT, INT), BOOL, 4, operator.eq, "{0} == {1}", True, commutative=True),
    Operation("over_real", (FLOAT, NUMBER), BOOL, 4.5, operator.gt, "{0} > {1}", True),
    Operation("not", (BOOL,), BOOL, 2, operator.not_, "not {0}", True),
    Operation("both", (BOOL, BOOL), BOOL, 4, lambda a, b: a and b, "{0} and {1}", True, commutative=True),
    Operation("either", (BOOL, BOOL), BOOL, 4, lambda a, b: a or b, "{0} or {1}", True, commutative=True),
    # --- lists of any elements
    *_of_each_kind((STRS, INTS, FLOATS, ROWS), (
        Operation("reversed_list", (LIST,), LIST, 3, lambda w: w[::-1], "{0}[::-1]"),
        Operation("list_from", (LIST, END), LIST, 3, lambda w, n: w[n:], "{0}[{1:free}:]"),
        Operation("list_to", (LIST, END), LIST, 3, lambda w, n: w[:n], "{0}[:{1:free}]"),
    )),
    *_of_each_kind((STRS, INTS, FLOATS), (
        Operation("sorted_list", (LIST,), LIST, 4, sorted, "sorted({0:each})"),
        Operation("element", (LIST, INDEX), ELEMENT, 3, operator.getitem, "{0}[{1:free}]"),
    )),
    *_of_each_kind((FLOATS, ROWS), (Operation("how_many", (LIST,), INT, 2, len, "len({0:free})"),)),
    *_of_each_kind((STRS, INTS, FLOATS), (
        Operation("sorted_down", (LIST,), LIST, 5, lambda w: sorted(w, reverse=True), "sorted({0:each}, reverse=True)"),
        Operation("each_once", (LIST,), LIST, 4.5, lambda w: list(dict.fromkeys(w)), "list(dict.fromkeys({0:each}))"),
        Operation("how_many_different", (LIST,), INT, 3.5, lambda w: len(set(w)), "len(set({0:each}))"),
        Operation("element_n", (LIST, INT), ELEMENT, 4, lambda w, n: w[n], "{0}[{1:free}]"),
        Operation("commonest", (LIST,), ELEMENT, 6, _commonest, "max({0:free}, key={0}.count)"),
        Operation("has_element", (LIST, ELEMENT), BOOL, 4.5, lambda w, a: a in w, "{1} in {0}", True),
        Operation("count_of", (LIST, ELEMENT), INT, 4.5, lambda w, a: w.count(a), "{0}.count({1:free})"),
        Operation("place_in_list", (LIST, ELEMENT), INT, 5, lambda w, a: w.index(a), "{0}.index({1:free})"),
        Operation("appended", (LIST, ELEMENT), LIST, 5.5, lambda w, a: [*w, a], "{0} + [{1:free}]", True),
        Operation("set_in_front", (LIST, ELEMENT), LIST, 6, lambda w, a: [a, *w], "[{1:free}] + {0}", True),
    )),
    *_of_each_kind((STRS, INTS, FLOATS, ROWS), (
        Operation("every_second", (LIST,), LIST, 5.5, lambda w: w[::2], "{0}[::2]"),
        Operation("every_other", (LIST,), LIST, 5.5, lambda w: w[1::2], "{0}[1::2]"),
        Operation("first_of_list", (LIST, INT), LIST, 4, lambda w, n: w[:n], "{0}[:{1:free}]"),
        Operation("after_in_list", (LIST, INT), LIST, 4, lambda w, n: w[n:], "{0}[{1:free}:]"),
        Operation("both_lists", (LIST, LIST), LIST, 5, lambda a, b: a + b, "{0} + {1}", True),
        Operation("copied", (LIST, INT), LIST, 5, _copied, "{0} * {1}", True),
    )),
    Operation("product", (INTS,), INT, 4, _product, "math.prod({0:each})"),
    Operation("running", (INTS,), INTS, 5, lambda w: list(accumulate(w)), "list(accumulate({0:each}))"),
)  # fmt: skip
