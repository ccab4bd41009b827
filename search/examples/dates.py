"""Dates and times: texts of dates that are shifted, and what is said where two readings fit.

The grammar has the rows that read and write dates; `fit_dates` finds how far an output lies from a date of the
input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import permutations

from ...tasks.io.dates import DATE_FORMS, is_date
from .expressions import UNDEFINED, Expression, apply_template
from .grammar import FLOAT, INT, STR

MAX_DATES = 20  # expressions from which the output may be counted
MAX_ENDS = 6  # expressions between which something lies
SHIFT, DIGIT, VARIABLE = 7, 3, 4  # half bits
FORM = 8  # half bits: to write a date in a form
UNITS = (("weeks", 604_800), ("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1))
DAY = 86_400
# What lies between two dates: name, template, kind, half bits.
INTERVALS = (
    ("days_between", "({0} - {1}).days", INT, 8),
    ("minutes_between", "({0} - {1}) // timedelta(minutes=1)", INT, 10),
    ("hours_between", "({0} - {1}) / timedelta(hours=1)", FLOAT, 10),
    ("whole_hours_between", "({0} - {1}) // timedelta(hours=1)", INT, 12),
    ("seconds_between", "({0} - {1}) // timedelta(seconds=1)", INT, 12),
    ("years_between", "{0}.year - {1}.year - (({0}.month, {0}.day) < ({1}.month, {1}.day))", INT, 12),
)  # fmt: skip


def fit_dates(
    goals: Sequence[str], dates: Sequence[Expression], numbers: Sequence[Expression], limit: int
) -> Iterator[Expression]:
    """Yield texts of dates that are a number of days or other units after dates of the input.

    Args:
        goals: the shown outputs.
        dates: expressions whose values are dates, cheapest first.
        numbers: integers, cheapest first.
        limit: the largest price, in half bits.
    """
    if len(goals) < 2:
        return
    for form in DATE_FORMS:
        if not all(is_date(goal, form) for goal in goals):
            continue
        wanted = [datetime.strptime(goal, form) for goal in goals]
        for one in dates[:MAX_DATES]:
            for template, arguments, price in _shifts(wanted, one, form, numbers):
                total = price + one.price + FORM
                source = f"{template}.strftime({form!r})"
                if total <= limit:
                    made = apply_template("shifted", source, (one, *arguments), total, STR)
                    if made.values[: len(goals)] == tuple(goals):
                        yield made


def _shifts(
    wanted: Sequence[datetime], one: Expression, form: str, numbers: Sequence[Expression]
) -> Iterator[tuple[str, tuple[Expression, ...], int]]:
    """Yield templates of dates, with further arguments and prices."""
    dates = one.values[: len(wanted)]
    try:
        steps = [
            round((after - date) / timedelta(seconds=1))
            for after, date in zip(wanted, dates, strict=True)
        ]
    except TypeError:  # one has a time zone
        return
    if "%d" not in form and ("%H" in form or "%I" in form):
        steps = [(step + DAY // 2) % DAY - DAY // 2 for step in steps]
    if len(set(steps)) == 1 and steps[0]:
        yield _constant_shift(steps[0])
    years = {after.year - date.year for after, date in zip(wanted, dates, strict=True)}
    if len(years) == 1 and 0 not in years and len(set(steps)) > 1:
        (count,) = years
        sign, size = ("+", count) if count > 0 else ("-", -count)
        price = SHIFT + 4 + DIGIT * len(str(size))
        yield f"{{0}}.replace(year={{0}}.year {sign} {size})", (), price
    if len(set(steps)) > 1:
        for unit, seconds in UNITS:
            if any(step % seconds for step in steps):
                continue
            for sign, factor in (("+", 1), ("-", -1)):
                column = tuple(factor * step // seconds for step in steps)
                found = next((n for n in numbers if n.values[: len(column)] == column), None)
                if found is not None:
                    price = SHIFT + VARIABLE + found.price
                    yield f"({{0}} {sign} timedelta({unit}={{1:free}}))", (found,), price


def _constant_shift(seconds: int) -> tuple[str, tuple[Expression, ...], int]:
    sign, size = ("+", seconds) if seconds > 0 else ("-", -seconds)
    name, of = next(
        (name, of) for name, of in UNITS if size % of == 0 and (name != "weeks" or size < 5 * of)
    )
    count = size // of
    return f"({{0}} {sign} timedelta({name}={count}))", (), SHIFT + DIGIT * len(str(count))


def intervals_between(dates: Sequence[Expression], count: int) -> list[Expression]:
    """Return what lies between two of the cheapest dates on `count` inputs: days, hours, years."""
    found = []
    for pair in permutations(dates[:MAX_ENDS], 2):
        for name, template, gives, price in INTERVALS:
            total = price + sum(one.price for one in pair)
            made = apply_template(name, template, pair, total, gives, name != "days_between")
            if UNDEFINED not in made.values[:count]:
                found.append(made)
    return found


# --- two readings


def other_reading(source: str) -> str | None:
    """Return a program that reads the day as the month and the month as the day, if one can."""
    return _swapped(source, r"(strptime\([^%]*')(%[dm][/.-]%[dm][/.-][^']*)(')")


def other_spelling(source: str) -> str | None:
    """Return a program that also writes them so."""
    reading = other_reading(source)
    return reading and _swapped(reading, r"(strftime\([^%]*')(%[dm][/.-]%[dm][/.-][^']*)(')")


def _swapped(source: str, pattern: str) -> str | None:
    found = re.search(pattern, source)
    if found is None:
        return None
    return re.sub(pattern, lambda m: m[1] + exchange(m[2]) + m[3], source)


def exchange(form: str) -> str:
    """Return a form of dates with day and month exchanged."""
    return re.sub("%[dm]", lambda m: "%m" if m[0] == "%d" else "%d", form)


def describe_reading(source: str) -> str:
    """Return how a program reads dates, such as "day/month"."""
    found = re.search(r"strptime\([^%]*'%([dm])([/.-])", source)
    assert found is not None
    names = ("day", "month") if found[1] == "d" else ("month", "day")
    return found[2].join(names)
