"""The parts of the input and the constants from which the programs of a task are composed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ...tasks.io.dates import DATE_FORMS, is_date
from .expressions import UNDEFINED, Expression, Variable
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
    ROWS,
    SEP,
    STR,
    STRS,
    Operation,
)
from .prices import price_of_constant

ARGUMENTS = 2.0  # bits: to take a list of equal length in all inputs, likely arguments, as one
MAX_PLACES = 200  # of a list of equal length in all inputs that are parts of it
MAX_LOOKED_UP = 6  # parts, of which one may name a field of another
MAX_NUMBERS = 60
MAX_WORDS = 12  # texts of the task that are separators
LONGEST_WORD = 20
SHORT = 4  # characters of a text without letters and digits
DEFAULTS: dict[str | None, Any] = {STR: "", INT: 0, FLOAT: 0.0}
IS_NONE = Operation("is_none", (), BOOL, 1, lambda one: one is None, "{0} is None", True)
IS_NOT_NONE = Operation(
    "is_not_none", (), BOOL, 1, lambda one: one is not None, "{0} is not None", True
)
HAS_FIELD = Operation("has_field", (), BOOL, 0, bool, "{0}", True)
_PATTERNS = (
    (r"\d+", 1.0), (r"[A-Za-z]+", 1.5), (r"[\d.]+", 2.0), (r"\w+", 2.0), (r"[A-Z]", 2.0), (r"\s+", 2.0),
    (r"[A-Z]+", 2.5), (r"[a-z]+", 2.5), (r"\d", 2.5), (r"\W", 3.0), (r"\D+", 3.0), (r"[A-Z][a-z]+", 3.0),
    (r"<[^>]*>", 3.5), (r"\([^)]*\)", 3.5), (r"\W+", 3.5),
    (r"[aeiou]", 4.5), (r"[AEIOUaeiou]", 5.0),
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
        if not elements:
            return None
        kinds = {str: STRS, int: INTS, float: FLOATS}
        return kinds.get(elements.pop(), ROWS) if len(elements) == 1 else ROWS
    return None


def parts_of(
    inputs: Sequence[Any], variable: Variable = "x", price: float = 1.0
) -> Iterator[tuple[str, Expression]]:
    """Yield the parts of the inputs with their kinds: the input itself, and parts that all have.

    Args:
        inputs: the inputs.
        variable: the source of this part, or of each of its elements.
        price: its price in bits.
    """
    if type(variable) is tuple:
        columns = columns_of(inputs, variable)
        for name, column in columns:
            yield from parts_of(column, name, price)
        yield from _looked_up(columns, price)
        return
    text = str(variable)
    kind = kind_of(inputs)
    arguments = all(type(one) is list for one in inputs) and len({len(one) for one in inputs}) == 1
    if kind is not None and not (arguments and kind == ROWS and _are_mixed(inputs)):
        several = kind in (STRS, INTS, FLOATS, ROWS) and len({len(one) for one in inputs}) == 1
        whole = price + (ARGUMENTS if several else 0)
        yield kind, Expression(halves(whole), tuple(inputs), text=text)
    if arguments:
        columns = columns_of(inputs, variable)
        for name, column in columns:
            yield from parts_of(column, name, price + 0.5)
        yield from _looked_up(columns, price)
    elif all(type(one) is list and all(type(row) is dict for row in one) for one in inputs):
        rows = [row for one in inputs for row in one]
        for name in rows[0] if rows else ():
            if all(name in row for row in rows):
                column = [[row[name] for row in one] for one in inputs]
                if (kind := kind_of(column)) is not None:
                    source = f"[row[{name!r}] for row in {text}]"
                    yield kind, Expression(halves(price + 1.5), tuple(column), text=source)
    elif all(type(one) is dict for one in inputs):
        yield from _of_records(inputs, text, price)
    elif any(one is None for one in inputs) and any(one is not None for one in inputs):
        part = Expression(halves(price), tuple(inputs), text=text)
        for operation in (IS_NONE, IS_NOT_NONE):
            truth = tuple(map(operation.function, inputs))
            yield BOOL, Expression(part.price + halves(operation.price), truth, operation, (part,))


def columns_of(inputs: Sequence[list[Any]], variable: Variable) -> list[tuple[str, list[Any]]]:
    """Return source and values of the first places of inputs that are lists of equal length."""
    count = min(len(inputs[0]), MAX_PLACES)
    names = variable if type(variable) is tuple else [f"{variable}[{n}]" for n in range(count)]
    return [(name, [one[n] for one in inputs]) for n, name in enumerate(names)]


def _are_mixed(lists: Sequence[list[Any]]) -> bool:
    return len({type(one) for row in lists for one in row}) > 1


def look_up(columns: Sequence[tuple[str, Sequence[Any]]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield what records have under the name that another part gives, with the source.

    The value is `UNDEFINED` where a record does not have the name.

    Args:
        columns: the sources and the values of parts of the inputs.
    """
    for a, records in columns if len(columns) <= MAX_LOOKED_UP else ():
        if not all(type(one) is dict for one in records):
            continue
        for b, names in columns:
            if all(type(name) is str for name in names):
                yield (
                    f"{a}[{b}]",
                    [one.get(name, UNDEFINED) for one, name in zip(records, names, strict=True)],
                )


def _looked_up(
    columns: Sequence[tuple[str, Sequence[Any]]], price: float
) -> Iterator[tuple[str, Expression]]:
    for text, values in look_up(columns):
        kind = kind_of([one for one in values if one is not UNDEFINED])
        if kind is not None:
            yield kind, Expression(halves(price + 2), tuple(values), text=text)


def _of_records(
    inputs: Sequence[dict[str, Any]], text: str, price: float
) -> Iterator[tuple[str, Expression]]:
    """Yield the fields of records; of fields that some do not have, what stands for them and a test."""
    for name in dict.fromkeys(name for one in inputs for name in one):
        if all(name in one for one in inputs):
            yield from parts_of([one[name] for one in inputs], f"{text}[{name!r}]", price + 0.5)
            continue
        has = tuple(name in one for one in inputs)
        yield (
            BOOL,
            Expression(
                halves(price + 2), has, HAS_FIELD, (Expression(0, has, text=f"{name!r} in {text}"),)
            ),
        )
        kind = kind_of([one[name] for one in inputs if name in one])
        if kind is not None and kind in DEFAULTS:
            default = DEFAULTS[kind]
            column = tuple(one.get(name, default) for one in inputs)
            source = f"{text}.get({name!r}, {default!r})"
            yield kind, Expression(halves(price + 2.5), column, text=source)
    names = [list(one) for one in inputs]
    values = [list(one.values()) for one in inputs]
    if len({tuple(sorted(one)) for one in names}) > 1:
        yield STRS, Expression(halves(price + 1.5), tuple(names), text=f"list({text})")
        if (kind := kind_of(values)) is not None:
            source = f"list({text}.values())"
            yield kind, Expression(halves(price + 1.5), tuple(values), text=source)


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

    everywhere = "\n".join(text for row in inputs for text in row).lower()

    def offer(text: str, price: float) -> None:
        if text.lower() not in everywhere and (len(text) > SHORT or any(map(str.isalnum, text))):
            price = max(price, price_of_constant(text) / 2)  # as costly as in a join
        if len(text) <= LONGEST_WORD and prices.get(text, price + 1) > price:
            prices[text] = price

    for texts in (inputs, outputs):
        marks = Counter(c for row in texts for c in dict.fromkeys("".join(row)) if not c.isalnum())
        for mark, count in marks.items():
            offer(mark, 1.5 if count == len(texts) else 3.0)
        runs = Counter(r for row in texts for r in _runs(r"[\W_]{2,}", row))
        for run, count in runs.items():
            offer(run, 2.5 if count == len(texts) else 4.5)
        words = Counter(w for row in texts for w in _runs(r"\w+", row))
        shared = [word for word, count in words.items() if count == len(texts)]
        for word in shared[:MAX_WORDS]:
            offer(word, 4.0 if len(texts) > 1 else 6.0)
        first = texts[0][0] if texts and texts[0] else ""
        for common in (_common_begin(texts), _common_end(texts)):
            if common not in ("", first):
                offer(common, 4.0)
        some = [word for word, count in words.items() if 1 < count < len(texts)]
        for word in some[:MAX_WORDS]:
            offer(word, 5.5)
    for text, price in _changes(inputs, outputs):
        offer(text, price)
    for text in _marks_of_truth(inputs, answers):
        offer(text.strip() or text, 3.5)
    if all(type(output) is float for output in answers):
        offer(".", 3.0)  # which may be written as a comma
    if all(type(output) in (int, bool) for output in answers):
        for letter in dict.fromkeys(
            c for row in inputs for text in row for c in text if c.isalpha()
        ):
            offer(letter, 7.0 if type(answers[0]) is bool else 5.5)  # to count or to look for
    yield from prices.items()


def _changes(inputs: list[list[str]], outputs: list[list[str]]) -> Iterator[tuple[str, float]]:
    """Yield what outputs lack of their inputs, have instead or beside, and what empty inputs have."""
    found: Counter[str] = Counter()
    for given, wanted in zip(inputs, outputs, strict=True):
        if len(given) != 1 or len(wanted) != 1 or given == wanted:
            continue
        old, new = given[0], wanted[0]
        if not old:
            yield new, 4.0
        begin = shared_length([old, new])
        end = shared_length([old[begin:][::-1], new[begin:][::-1]])
        if begin + end == min(len(old), len(new)) or begin + end > len(old) // 2:
            parts = (old[begin : len(old) - end], new[begin : len(new) - end])
            if parts[0]:  # joins find what is inserted
                found.update(part for part in parts if part not in ("", new))
    for text, count in found.most_common(MAX_WORDS):
        if count > 1 or len(text) == 1:
            yield text, 4.0


def _marks_of_truth(inputs: list[list[str]], answers: Sequence[Any]) -> Iterator[str]:
    """Yield beginnings and ends that all inputs share whose output is true, or all others."""
    if not all(type(answer) is bool for answer in answers):
        return
    for truth in (True, False):
        rows = [row for row, answer in zip(inputs, answers, strict=True) if answer is truth]
        if len(rows) > 1:
            for texts in (rows, [[one.lower() for one in row] for row in rows]):
                yield from (text for text in (_common_begin(texts), _common_end(texts)) if text)


def _runs(pattern: str, texts: Sequence[str]) -> Iterator[str]:
    """Yield what matches in the texts, each once, in an order that no process changes."""
    yield from dict.fromkeys(run for text in texts for run in re.findall(pattern, text))


def _common_begin(texts: list[list[str]]) -> str:
    firsts = [row[0] if row else "" for row in texts]
    return firsts[0][: shared_length(firsts)] if firsts else ""


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


def shared_length(texts: Sequence[str]) -> int:
    """Return how many characters all these texts share from their beginning on."""
    least, greatest = min(texts), max(texts)  # all others begin as both of them do
    differing = (k for k, both in enumerate(zip(least, greatest, strict=False)) if len({*both}) > 1)
    return next(differing, min(len(least), len(greatest)))


def halves(bits: float) -> int:
    """Return a price in half bits."""
    return round(2 * bits)
