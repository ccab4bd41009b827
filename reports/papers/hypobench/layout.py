"""A table of HypoBench as it is read and as lines: a cell joins the values of its metrics, as the paper
prints them side by side, and beside stands what the paper prints. A cell without a session is empty.
An average says by a letter over which data sets it is; below the table the sets of each letter are
named. † marks scores that no model made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from ...files.tables import NO_VALUE, Cell, Table
from .entries import MARK, Average
from .published import Published

Key = tuple[str, str, str]  # row, column, metric
BELOW = f"{MARK} no model made these scores: exact rules did, or a baseline (docs/hypogenic.md)."
LONG = ("table", "source", "row", "column", "metric", "value", "n", "data_sets")


@dataclass(frozen=True)
class Grid:
    """One table. values: what sessions give, published: what the paper prints, for (row, column,
    metric), the columns being models of either."""

    name: str
    about: str
    head: str
    rows: Sequence[str]
    columns: Sequence[str]
    metrics: Sequence[str]
    values: Mapping[Key, Average] = field(default_factory=dict)
    published: Published = field(default_factory=dict)
    note: str = ""

    @property
    def groups(self) -> dict[tuple[str, ...], str]:
        """A letter (A … Z, AA …) for each combination of data sets that stands behind a value."""
        found: dict[tuple[str, ...], str] = {}
        for key in product(self.rows, self.columns, self.metrics):
            one = self.values.get(key)
            if one is not None and one.sets != key[:1]:  # else its row is called by its set
                found.setdefault(one.sets, _letters(len(found)))
        return found

    @property
    def below(self) -> list[str]:
        """Sentences that belong under the table: what a cell holds, its letters, its mark."""
        said = [f"A cell: {' / '.join(self.metrics)}."] if any(self.metrics) else []
        said += [
            f"{letter}: {len(sets)} data set{'s' * (len(sets) > 1)}: {', '.join(sets)}."
            for sets, letter in self.groups.items()
        ]
        marked = any(MARK in name for name in (*self.columns, *self.rows))
        return [*said, *([BELOW] if marked else []), *([self.note] if self.note else [])]

    def table(self) -> Table:
        """To be read. Those of the paper's columns that have its values."""
        others = list(dict.fromkeys(column for _, column, _ in self.published))
        heads = (self.head, *self.columns, *(f"{column} (paper)" for column in others))
        groups = self.groups
        body: list[tuple[Cell, ...]] = []
        for row in self.rows:
            own = [self._cell(row, column, groups) for column in self.columns]
            body.append((row, *own, *(self._printed(row, column) for column in others)))
        return Table(heads, tuple(body))

    def _cell(self, row: str, column: str, groups: Mapping[tuple[str, ...], str]) -> Cell:
        """One letter behind the cell where all its values are over the same sets, else one behind each."""
        some = [self.values.get((row, column, name)) for name in self.metrics]
        known = [one for one in some if one is not None]
        if not known:
            return None
        letters = {groups[one.sets] if one.sets != (row,) else "" for one in known}
        each = len(letters) > 1
        said = [_number(one, groups if each else {}) for one in some]
        return " / ".join(said) if each else " ".join([" / ".join(said), *letters]).rstrip()

    def _printed(self, row: str, column: str) -> Cell:
        places = 2 if all(round(one, 2) == one for one in self.published.values()) else 3
        there = [self.published.get((row, column, name)) for name in self.metrics]
        if all(one is None for one in there):
            return None
        return " / ".join(NO_VALUE if one is None else f"{one:.{places}f}" for one in there)

    def long(self) -> list[tuple[Cell, ...]]:
        """A line a value, numbers whole, and one a published value."""
        found: list[tuple[Cell, ...]] = []
        for row, column, name in product(self.rows, self.columns, self.metrics):
            one = self.values.get((row, column, name))
            if one is None:
                found.append((self.name, "here", row, column, name, None, None, ""))
            else:
                sets = ", ".join(one.sets)
                found.append((self.name, "here", row, column, name, one.mean, one.values, sets))
        for (row, column, name), value in self.published.items():
            found.append((self.name, "paper", row, column, name, value, None, ""))
        return found


def joined(grids: Iterable[Grid]) -> dict[Key, Average]:
    """The values of several, of which no two have one in common."""
    return {key: one for grid in grids for key, one in grid.values.items()}


def _number(one: Average | None, groups: Mapping[tuple[str, ...], str]) -> str:
    if one is None:
        return NO_VALUE
    return f"{one.mean:.3f} {groups.get(one.sets, '')}".rstrip()


def _letters(number: int) -> str:
    last = chr(ord("A") + number % 26)
    return last if number < 26 else _letters(number // 26 - 1) + last
