"""The parts of the input and the constants from which the programs of a task are composed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ...tasks.io.dates import DATE_FORMS, is_date
from .expressions import Expression
from .grammar import (
    BASE,
    BOOL,
    END,
    EPOCH,
    FLOAT,
    FLOATS,
    FORMAT,
    INDEX,
    INT,
    INTS,
    NUMBER,
    PATTERN,
    RADIX,
    SEP,
    STR,
    STRS,
)

ARGUMENTS = 2.0  # bits: to take a list of equal length in all inputs, likely arguments, as one
MAX_NUMBERS = 60
MAX_WORDS = 12  # texts of the task that are separators
LONGEST_WORD = 20
_PATTERNS = (
    (r"\d+", 1.0), (r"[A-Za-z]+", 1.5), (r"[\d.]+", 2.0), (r"\w+", 2.0), (r"[A-Z]", 2.0), (r"\s+", 2.0),
    (r"[A-Z]+", 2.5), (r"[a-z]+", 2.5), (r"\d", 2.5), (r"\W", 3.0), (r"\D+", 3.0), (r"[A-Z][a-z]+", 3.0),
    (r"<[^>]*>", 3.5), (r"\([^)]*\)", 3.5), (r"\W+", 3.5),
)  # fmt: skip
_INDICES = ((0, 0.5), (-1, 0.5), (1, 1.5), (-2, 2.0), (2, 2.5), (3, 3.5), (-3, 3.5), (4, 4.0))
_ENDS = ((1, 1.0), (-1, 1.0), (2, 1.5), (-2, 1.5), (3, 2.0), (-3, 2.0), (4, 2.5), (-4, 2.5))


def kind_of(values: Sequence[Any]) -> str | None:
    """Return the kind of all these values, or None if they are of no kind or of several."""
    types = {type(value) for value in values}
    if len(types) != 1:
        return None
    (one,) = types
    if one in (str, int, float, bool):
        return {str: STR, int: INT, float: FLOAT, bool: BOOL}[one]
    if one is list:
        elements = {type(element) for value in values for element in value}
        return {frozenset({str}): STRS, frozenset({int}): INTS, frozenset({float}): FLOATS}.get(
            frozenset(elements)
        )
    return None


def parts_of(
    inputs: Sequence[Any], text: str = "x", price: float = 1.0
) -> Iterator[tuple[str, Expression]]:
    """Yield the parts of the inputs with their kinds: the input itself, and parts that all have.

    Args:
        inputs: the inputs.
        text: the source of this part.
        price: its price in bits.
    """
    kind = kind_of(inputs)
    if kind is not None:
        several = kind in (STRS, INTS, FLOATS) and len({len(one) for one in inputs}) == 1
        whole = price + (ARGUMENTS if several else 0)
        yield kind, Expression(halves(whole), tuple(inputs), text=text)
    if all(type(one) is list for one in inputs) and len({len(one) for one in inputs}) == 1:
        for place in range(len(inputs[0])):
            yield from parts_of([one[place] for one in inputs], f"{text}[{place}]", price + 0.5)
    elif all(type(one) is list and all(type(row) is dict for row in one) for one in inputs):
        rows = [row for one in inputs for row in one]
        for name in rows[0] if rows else ():
            if all(name in row for row in rows):
                column = [[row[name] for row in one] for one in inputs]
                if (kind := kind_of(column)) is not None:
                    source = f"[row[{name!r}] for row in {text}]"
                    yield kind, Expression(halves(price + 1.5), tuple(column), text=source)
    elif all(type(one) is dict for one in inputs):
        for name in inputs[0]:
            if all(name in one for one in inputs):
                yield from parts_of([one[name] for one in inputs], f"{text}[{name!r}]", price + 0.5)


def constants_of(inputs: Sequence[Any], outputs: Sequence[Any]) -> Iterator[tuple[str, str, float]]:
    """Yield kind, source and price in bits of the constants of a task."""
    yield from ((INDEX, repr(value), price) for value, price in _INDICES)
    yield from ((END, repr(value), price) for value, price in _ENDS)
    yield from ((END, repr(value), 3.0 + value / 4) for value in range(5, 13))
    yield from ((PATTERN, f'r"{value}"', price) for value, price in _PATTERNS)
    given, wanted = ([list(_texts(one)) for one in some] for some in (inputs, outputs))
    for text, price in _separators(given, wanted, outputs):
        yield SEP, repr(text), price
    yield from ((NUMBER, repr(value), price) for value, price in _numbers(inputs, outputs))
    yield from ((FORMAT, repr(form), price) for form, price in _formats(inputs, outputs))
    if _has_epoch(inputs, outputs):
        yield EPOCH, "'UTC'", 0.5
    for radix, (base, digits) in _RADICES.items():
        if _are_numbers(outputs, digits):
            yield RADIX, repr(radix), 1.5
        numeric = any(_are_numbers(column, digits) for column in _columns(given))
        if numeric and any(type(one) in (int, str) for one in outputs):
            yield BASE, repr(base), 2.5


_RADICES = {
    "b": (2, "[01]+"), "x": (16, "[0-9a-f]+"), "X": (16, "[0-9A-F]+"), "o": (8, "[0-7]+"), "#b": (0, "0b[01]+"),
    "#x": (0, "0x[0-9a-f]+"), "08b": (2, "[01]{8,}"), "02x": (16, "[0-9a-f]{2,}"), "02X": (16, "[0-9A-F]{2,}"),
}  # fmt: skip


def _are_numbers(values: Sequence[Any], digits: str) -> bool:
    """Return whether these texts are numbers of these digits; letters alone are words or marks."""
    texts = [one for one in values if type(one) is str and re.fullmatch(digits, one)]
    return 0 < len(texts) == len(values) and bool(re.search(r"\d", "".join(texts)))


def _columns(rows: list[list[str]]) -> list[tuple[str, ...]]:
    """Return the texts of each place that all rows have."""
    return list(zip(*rows, strict=False)) if len({len(row) for row in rows}) == 1 else []


def _has_epoch(inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Return whether numbers of the task are likely to be seconds since 1970, and others dates."""
    for numbers, dates in ((inputs, outputs), (outputs, inputs)):
        of_date = list(_texts(list(dates)))
        if (
            of_date
            and any(type(n) is int and 10**8 < n < 10**11 for n in _atoms(numbers))
            and all(re.search(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}", text) for text in of_date)
        ):
            return True
    return False


def _texts(value: Any) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is list:
        for one in value:
            yield from _texts(one)
    elif type(value) is dict:
        for one in value.values():
            yield from _texts(one)


def _separators(
    inputs: list[list[str]], outputs: list[list[str]], answers: Sequence[Any]
) -> Iterator[tuple[str, float]]:
    """Yield texts that may separate, be replaced or be looked for, with their prices.

    Those are single characters that are no letters or digits, runs of them, and words that all inputs
    or all outputs have.
    """
    prices: dict[str, float] = {" ": 1.0, "": 2.0}

    def offer(text: str, price: float) -> None:
        if len(text) <= LONGEST_WORD and prices.get(text, price + 1) > price:
            prices[text] = price

    for texts in (inputs, outputs):
        marks = Counter(
            c for row in texts for c in {c for one in row for c in one if not c.isalnum()}
        )
        for mark, count in marks.items():
            offer(mark, 1.5 if count == len(texts) else 3.0)
        runs = Counter(
            r for row in texts for r in {r for one in row for r in re.findall(r"[\W_]{2,}", one)}
        )
        for run, count in runs.items():
            offer(run, 2.5 if count == len(texts) else 4.5)
        words = Counter(
            w for row in texts for w in {w for one in row for w in re.findall(r"\w+", one)}
        )
        shared = [word for word, count in words.items() if count == len(texts)]
        for word in shared[:MAX_WORDS]:
            offer(word, 4.0 if len(texts) > 1 else 6.0)
        first = texts[0][0] if texts and texts[0] else ""
        for common in {_common_begin(texts), _common_end(texts)} - {"", first}:
            offer(common, 4.0)
        some = [word for word, count in words.items() if 1 < count < len(texts)]
        for word in some[:MAX_WORDS]:
            offer(word, 5.5)
    if all(type(output) is float for output in answers):
        offer(".", 3.0)  # which may be written as a comma
    if all(type(output) in (int, bool) for output in answers):
        for letter in dict.fromkeys(
            c for row in inputs for text in row for c in text if c.isalpha()
        ):
            offer(letter, 7.0 if type(answers[0]) is bool else 5.5)  # to count or to look for
    yield from prices.items()


def _common_begin(texts: list[list[str]]) -> str:
    rows = [row[0] if row else "" for row in texts]
    length = next(
        (n for n, c in enumerate(zip(*rows, strict=False)) if len(set(c)) > 1),
        min(map(len, rows), default=0),
    )
    return rows[0][:length] if rows else ""


def _common_end(texts: list[list[str]]) -> str:
    return _common_begin([[row[0][::-1]] if row else [] for row in texts])[::-1]


def _numbers(inputs: Sequence[Any], outputs: Sequence[Any]) -> Iterator[tuple[float, float]]:
    """Yield small and usual numbers, and those of the task, which may be bounds."""
    prices: dict[float, float] = {n: 1.5 + n / 8 for n in range(11)}
    prices |= {100: 3.0, 12: 3.5, 60: 3.5, 1000: 3.5}
    if any(type(value) is int and value >= 3_600 for value in _atoms(inputs)):
        prices |= {60: 3.0, 24: 4.0, 3_600: 4.0, 86_400: 4.5}
    for value in (*_atoms(inputs), *_atoms(outputs)):
        if type(value) in (int, float) and value not in prices and abs(value) < 10**6:
            prices[value] = 6.0
        if len(prices) == MAX_NUMBERS:
            break
    yield from prices.items()


def _atoms(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _atoms(part)
    else:
        yield value


_PIECES = ("%A", "%a", "%B", "%b", "%j", "%B %Y", "%b %Y", "%y", "%p")


def _formats(inputs: Sequence[Any], outputs: Sequence[Any]) -> Iterator[tuple[str, float]]:
    """Yield forms of dates; none unless some form fits a part of all inputs."""
    columns = [column for column in zip(*(list(_texts(one)) for one in inputs), strict=False)]
    fitting = [form for form in DATE_FORMS if any(_fits(column, form) for column in columns)]
    yield from ((form, 2.0) for form in fitting)
    if fitting or _has_epoch(inputs, outputs):
        yield from (
            (form, 2.0) for form in DATE_FORMS if _fits(outputs, form) and form not in fitting
        )
        yield from ((form, 3.0) for form in _PIECES)


def _fits(values: Sequence[Any], form: str) -> bool:
    return all(is_date(value, form) for value in values)


def halves(bits: float) -> int:
    """Return a price in half bits."""
    return round(2 * bits)
