"""Lists that the inputs hold or that are made of them, and how a program goes through their elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, pairwise
from typing import Any, NamedTuple

from .constants import columns_of, look_up
from .expressions import UNDEFINED, Variable
from .grammar import LONGEST

MAX_ARGUMENTS = 6  # a longer list is data
MAX_SOURCES = 40
CHUNKS = (2, 3, 4)
WHOLE, PLACE = 2, 1  # half bits: of the input, and of a place or field in it
LOOKED_UP = 4  # half bits: of what a record has under a name that another part gives
# Half bits of the ways to go through a list, besides the list.
TURNED, FLAT, NUMBERED, PAIRED, ITEMS = 4, 4, 4, 3, 3
SPLIT, COLUMNS, CHUNKED, PREFIXES = 6, 6, 9, 14
BESIDE = 2  # for other parts of the input to be used with each element
SAME_NAMES = 8  # to go through the fields of records that all have the same
MAX_BESIDE = 3
MAX_REPEATED = 60  # elements of a list that each element has beside it


class Source(NamedTuple):
    """A list of each input.

    Args:
        values: the list of each input.
        text: the source of the list; "" if a program can only go through it.
        clause: what stands after `for` in a comprehension.
        names: the source of an element; several, if an element is a list and each of its parts has a
            name.
        price: the price in half bits.
        key: the name of an element in `sorted(..., key=lambda ...)`; "" if it has none of its own.
    """

    values: tuple[list[Any], ...]
    text: str
    clause: str
    names: tuple[str, ...]
    price: int
    key: str = ""

    @property
    def plain(self) -> bool:
        """Whether a program goes through the list itself."""
        return self.clause == f"{self.key} in {self.text}"

    @property
    def variable(self) -> Variable:
        """The source of an element, as a search takes it."""
        return self.names if len(self.names) > 1 else self.names[0]

    def uses_element(self, text: str) -> bool:
        """Return whether a source has the name of an element."""
        names = re.findall(r"\w+", self.key) or self.names
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)

    def element(self, value: Any) -> Any:
        """Return what the program has as an element: without what stands beside it."""
        return value if len(self.names) == 1 else value[0]


class Part(NamedTuple):
    """A part that all inputs have: its source, its value in each, and its price in half bits."""

    text: str
    values: tuple[Any, ...]
    price: int


def find_parts(inputs: Sequence[Any], variable: Variable, price: int = WHOLE) -> Iterator[Part]:
    """Yield the parts that all inputs have, of any type: the input, its fields and its arguments."""
    if type(variable) is tuple:
        columns = columns_of(inputs, variable)
        for name, column in columns:
            yield from find_parts(column, name, price)
        yield from _looked_up(columns, price)
        return
    yield Part(str(variable), tuple(inputs), price)
    if are_arguments(inputs):
        columns = columns_of(inputs, variable)
        for name, column in columns:
            yield from find_parts(column, name, price + PLACE)
        yield from _looked_up(columns, price)
    elif all(type(one) is dict for one in inputs):
        for name in inputs[0]:
            if all(name in one for one in inputs):
                field = [one[name] for one in inputs]
                yield from find_parts(field, f"{variable}[{name!r}]", price + PLACE)


def _looked_up(columns: Sequence[tuple[str, Sequence[Any]]], price: int) -> Iterator[Part]:
    for text, values in look_up(columns):
        if not any(value is UNDEFINED for value in values):
            yield Part(text, tuple(values), price + LOOKED_UP)


def are_arguments(inputs: Sequence[Any]) -> bool:
    """Return whether the inputs are lists of equal length, short enough to be arguments."""
    if not inputs or not all(type(one) is list for one in inputs):
        return False
    return len({len(one) for one in inputs}) == 1 and 0 < len(inputs[0]) <= MAX_ARGUMENTS


def find_sources(inputs: Sequence[Any], variable: Variable, outputs: Sequence[Any]) -> list[Source]:
    """Return the lists in the inputs, cheapest first; none with more than `LONGEST` elements.

    Texts are split into lists only for outputs that are lists or records.
    """
    within = " ".join((variable,) if type(variable) is str else variable)
    into_lists = all(type(one) in (list, dict) for one in outputs)
    found: list[Source] = []
    lists: list[Part] = []
    for part in find_parts(inputs, variable):
        types = {type(value) for value in part.values}
        if types == {list}:
            longest = max(map(len, part.values))
            if longest <= LONGEST and _is_data(part.values, into_lists):
                lists.append(part)
                found += _ways(part, within, into_lists)
        elif types == {dict}:
            found += _through_records(part, within, into_lists)
        elif types == {str} and into_lists:
            found += _through_texts(part, within)
    for a, b in combinations(lists, 2):
        if all(len(u) == len(v) for u, v in zip(a.values, b.values, strict=True)):
            rows = [
                [list(both) for both in zip(u, v, strict=True)]
                for u, v in zip(a.values, b.values, strict=True)
            ]
            names = free_name(("a", "p"), within), free_name(("b", "q"), within)
            clause = f"{', '.join(names)} in zip({a.text}, {b.text})"
            found.append(Source(tuple(rows), "", clause, names, a.price + b.price + PAIRED))
    found += _with_other_parts(inputs, variable, [one for one in found if one.plain])
    found = [one for one in found if any(one.values)]
    return sorted(found, key=lambda one: one.price)[:MAX_SOURCES]


def _with_other_parts(
    inputs: Sequence[Any], variable: Variable, sources: Sequence[Source]
) -> Iterator[Source]:
    """Yield lists whose elements stand beside other parts of the input, or beside the list itself."""
    parts = [
        part
        for part in find_parts(inputs, variable)
        if all(type(value) in (str, int, float) for value in part.values)
        and len(set(part.values)) > 1
    ]
    for one in sources:
        outer = [part for part in parts if not part.text.startswith(one.text)][:MAX_BESIDE]
        scalars = {type(each) for row in one.values for each in row} <= {str, int, float}
        scalars = scalars and max(map(len, one.values)) <= MAX_REPEATED
        if len(one.names) > 1 or (not outer and not scalars):
            continue
        others = outer or [Part(one.text, one.values, 0)]
        rows = tuple(
            [[each, *(part.values[k] for part in others)] for each in row]
            for k, row in enumerate(one.values)
        )
        names = (one.key, *(part.text for part in others))
        price = one.price + (BESIDE if outer else 2 * BESIDE)
        yield Source(rows, one.text, one.clause, names, price, one.key)


def _is_data(values: Sequence[Any], into_lists: bool) -> bool:
    """Return whether lists are data: not arguments of several types, or single ones for a value."""
    if not are_arguments(values):
        return True
    kinds = [{type(one[place]) for one in values} for place in range(len(values[0]))]
    alike = len(set(chain.from_iterable(kinds))) == 1
    return alike and (into_lists or kinds[0] <= {list, dict})


def free_name(candidates: Sequence[str], text: str) -> str:
    """Return the first name that a source does not use."""
    used = set(re.findall(r"\w+", text))
    return next((name for name in candidates if name not in used), f"{candidates[-1]}_")


def _element_name(lists: Sequence[list[Any]], text: str) -> str:
    types = {type(one) for row in lists for one in row}
    if types and types <= {dict, list}:
        return free_name(("row", "item", "entry"), text)
    return free_name(("one", "each", "inner"), text)


def _ways(part: Part, within: str, into_lists: bool) -> Iterator[Source]:
    """Yield the ways to go through a list."""
    text, lists, price = part
    within = f"{within} {text}"
    name = _element_name(lists, within)
    types = {type(one) for row in lists for one in row}
    yield Source(lists, text, f"{name} in {text}", (name,), price, name)
    yield from _through_nested(part, name, within, types)
    if not into_lists:
        return
    turned = tuple(row[::-1] for row in lists)
    yield Source(turned, f"{text}[::-1]", f"{name} in {text}[::-1]", (name,), price + TURNED)
    number = free_name(("n", "place"), within)
    numbered = tuple([[n, one] for n, one in enumerate(row)] for row in lists)
    clause = f"{number}, {name} in enumerate({text})"
    yield Source(numbered, "", clause, (number, name), price + NUMBERED)
    a, b = free_name(("a", "p"), within), free_name(("b", "q"), within)
    pairs = tuple([[u, v] for u, v in pairwise(row)] for row in lists)
    yield Source(pairs, "", f"{a}, {b} in zip({text}, {text}[1:])", (a, b), price + PAIRED)
    k = free_name(("k", "j"), within)
    for size in CHUNKS:
        chunks = tuple([row[n : n + size] for n in range(0, len(row), size)] for row in lists)
        clause, element = f"{k} in range(0, len({text}), {size})", f"{text}[{k}:{k} + {size}]"
        yield Source(
            chunks, f"[{element} for {clause}]", clause, (element,), price + CHUNKED + size
        )
    if max(map(len, lists)) > MAX_REPEATED:
        return
    prefixes = tuple([row[: n + 1] for n in range(len(row))] for row in lists)
    element = f"{text}[:{k} + 1]"
    clause = f"{k} in range(len({text}))"
    yield Source(prefixes, f"[{element} for {clause}]", clause, (element,), price + PREFIXES)


def _through_nested(part: Part, name: str, within: str, types: set[type]) -> Iterator[Source]:
    """Yield the elements of elements: of lists, of lists in a field, of words."""
    text, lists, price = part
    rows = [one for row in lists for one in row]
    inner: list[tuple[str, list[list[list[Any]]], int]] = []  # source, the lists, price
    if types == {list}:
        inner.append((name, [list(row) for row in lists], FLAT))
        if all(len({len(one) for one in row}) <= 1 for row in lists):
            columns = tuple([list(column) for column in zip(*row, strict=True)] for row in lists)
            column = free_name(("column", "column_"), within)
            turned = f"map(list, zip(*{text}))"
            clause = f"{column} in {turned}"
            more = COLUMNS + (COLUMNS if are_arguments(lists) else 0)
            yield Source(columns, f"list({turned})", clause, (column,), price + more, column)
    elif types == {dict}:
        for field in rows[0]:
            if all(type(row.get(field)) is list for row in rows):
                fields = [[row[field] for row in some] for some in lists]
                inner.append((f"{name}[{field!r}]", fields, FLAT + PLACE))
    elif types == {str} and any(" " in one for one in rows):
        inner.append((f"{name}.split()", [[one.split() for one in row] for row in lists], SPLIT))
    for source, nested, further in inner:
        flat = tuple([one for some in row for one in some] for row in nested)
        each = _element_name(flat, f"{within} {name}")
        clause = f"{name} in {text} for {each} in {source}"
        yield Source(flat, f"[{each} for {clause}]", clause, (each,), price + further, each)


def _through_records(part: Part, within: str, into_lists: bool) -> Iterator[Source]:
    """Yield the names of a record with their values, as pairs and as names to be sorted.

    Records that all have the same names have fields that are used by name.
    """
    text, records, price = part
    if len({frozenset(one) for one in records}) == 1:
        if not into_lists:
            return
        price += SAME_NAMES
    items = tuple([[name, value] for name, value in one.items()] for one in records)
    within = f"{within} {text}"
    k, v = free_name(("k", "name"), within), free_name(("v", "value"), within)
    yield Source(items, "", f"{k}, {v} in {text}.items()", (k, v), price + ITEMS)
    yield Source(items, text, f"{k} in {text}", (k, f"{text}[{k}]"), price + ITEMS + 1, k)


def _through_texts(part: Part, within: str) -> Iterator[Source]:
    """Yield the parts of texts between a mark that most of them have."""
    text, texts, price = part
    marks = {
        mark
        for one in texts
        for mark in re.findall(r"\W\s|[^\w\s]|\s", one)
        if 2 * sum(mark in each for each in texts) > len(texts)
    }
    name = free_name(("one", "each", "inner"), f"{within} {text}")
    for mark in sorted(marks, key=lambda one: (one == " ", one)):
        lists = tuple(one.split() if mark == " " else one.split(mark) for one in texts)
        source = f"{text}.split()" if mark == " " else f"{text}.split({mark!r})"
        more = SPLIT + len(mark) - 1
        yield Source(lists, source, f"{name} in {source}", (name,), price + more, name)
