"""Features of objects: how objects are recognised in grids, and what rules can ask of them.

The expressions use `g` (the grid), `o` (one object, which is a list of cells) and `many` (all
objects of the grid). The same expressions are executed during the search and written into answers.
During the search, comparisons of an object with other objects are computed with NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...budget import Budget
from ..grammar import FAILURES, Grids, colour_name
from ..step_functions import HELPERS

BoolArray = NDArray[np.bool_]
Objects = list[list[tuple[int, int]]]

MAX_OBJECTS = 160  # maximum number of objects in one grid


class View(NamedTuple):
    """A way to recognise objects in a grid.

    Attributes:
        text: Expression over `g` that gives the list of objects.
        one: Noun for one object.
        several: Noun for several objects.
        cost: Cost of using this view.
    """

    text: str
    one: str
    several: str
    cost: float


VIEWS = (
    View("objects(g, True, False)", "object", "objects", 0.0),
    View("objects(g, True, True)", "object (diagonals count)", "objects (diagonals count)", 0.2),
    View("objects(g, False, True)", "object of any colours", "objects of any colours", 0.3),
    View("objects(g, False, False)", "object of any colours", "objects of any colours", 0.5),
    View("regions(g)", "empty region", "empty regions", 0.4),
    View("layers(g)", "colour", "colours", 0.5),
    View("pixels(g)", "cell", "cells", 0.1),
    View("row_cells(g)", "row", "rows", 0.5),
    View("column_cells(g)", "column", "columns", 0.5),
)


class Number(NamedTuple):
    """A number that is computed for each object, such as its size.

    Attributes:
        text: Expression for the number, in which `@` stands for the object.
        says: Noun for the number.
        cost: Cost of using this number.
        compared: Whether conditions may compare the number, for example with its largest value or
            with a threshold, or test whether it is odd. It is False for colours, because the order
            of their numbers means nothing.
    """

    text: str
    says: str
    cost: float
    compared: bool = True


NUMBERS = (
    Number("len(@)", "size", 0.0),
    Number("tint(g, @)", "colour", 0.0, False),
    Number("height(@)", "height", 0.3),
    Number("width(@)", "width", 0.3),
    Number("len(holes(@))", "number of holes", 0.3),
    Number("len({g[i][j] for i, j in @})", "number of colours", 0.3),
    Number("min(i for i, _ in @)", "topmost row", 0.5),
    Number("min(j for _, j in @)", "leftmost column", 0.5),
    Number("len(gaps(@))", "number of gaps in its box", 0.6),
)
TRUTHS = (
    ("at_border(g, o)", "that touches the border", "that does not touch the border", 1.0),
    ("not gaps(o)", "that fills its box", "that does not fill its box", 1.1),
    ("height(o) == width(o)", "that is as high as wide", "that is not as high as wide", 1.3),
    ("height(o) > width(o)", "that is higher than wide", "that is not higher than wide", 1.3),
    ("height(o) < width(o)", "that is wider than high", "that is not wider than high", 1.3),
    ("1 in (height(o), width(o))", "that is a line", "that is no line", 1.2),
    ("alone(g, o) == alone(g, o)[::-1]", "that is symmetric from top to bottom", "that is not symmetric from top to bottom", 1.5),
    ("alone(g, o) == [row[::-1] for row in alone(g, o)]", "that is symmetric from left to right", "that is not symmetric from left to right", 1.4),
)  # fmt: skip


class Condition(NamedTuple):
    """A condition on an object.

    Attributes:
        text: Expression for the condition. It is empty if all objects meet the condition.
        says: The condition in English, as words that follow the noun. They begin with a space.
        cost: Cost of using this condition.
    """

    text: str
    says: str
    cost: float


ALWAYS = Condition("", "", 0.0)


def describe_objects(view: View, condition: Condition) -> str:
    """Return a noun phrase for all objects of `view` that meet `condition`."""
    of_colour = re.fullmatch(r" of colour (\w+ \(\d\))", condition.says)
    if view.one == "colour":
        if of_colour:
            return f"every {of_colour[1]} cell"
        return "every cell" if not condition.text else f"every cell of a colour{condition.says}"
    return f"every {of_colour[1]} {view.one}" if of_colour else f"every {view.one}{condition.says}"


class Value(NamedTuple):
    """An expression that gives a colour for each object, such as the object's own colour."""

    text: str
    says: str
    cost: float


@lru_cache(maxsize=1)
def _names() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for text in HELPERS.values():
        exec(compile(text, "<helper>", "exec"), names)
    return names


@lru_cache(maxsize=4000)
def compile_expression(text: str, arguments: str = "g, o, many") -> Callable[..., Any]:
    """Compile an expression to a function.

    Args:
        text: The expression. It may call all helpers of step_functions.py.
        arguments: Names of the function's parameters, separated by commas.
    """
    made: Callable[..., Any] = eval(f"lambda {arguments}: {text}", _names())
    return made


class ViewedObjects:
    """All objects that a view recognises in some grids, and the features of each object.

    Args:
        view: How objects are recognised.
        grids: The grids.

    Attributes:
        objects: One list of objects per grid.
        flat: The objects of all grids in a single list.
        of: Index of the grid to which each object belongs, of shape (objects,).
        cells: Total number of cells of all objects.
    """

    def __init__(self, view: View, grids: Grids) -> None:
        self.view, self.grids = view, grids
        look = compile_expression(view.text, "g")
        self.objects: list[Objects] = [look(g) for g in grids]
        self.flat = [o for many in self.objects for o in many]
        self.of = np.repeat(np.arange(len(grids)), list(map(len, self.objects)))
        self.cells = sum(map(len, self.flat))
        self._values: dict[str, list[Any] | None] = {}
        self._conditions: tuple[list[Condition], BoolArray] | None = None

    @property
    def usable(self) -> bool:
        """Return whether each grid has at least one object and at most `MAX_OBJECTS` objects."""
        return all(0 < len(many) <= MAX_OBJECTS for many in self.objects)

    def evaluate(self, text: str) -> list[Any] | None:
        """Return the value of the expression `text` for each object, or None if it fails."""
        if text not in self._values:
            made = compile_expression(text.replace("@", "o"))
            try:
                self._values[text] = [
                    made(g, o, many)
                    for g, many in zip(self.grids, self.objects, strict=True)
                    for o in many
                ]
            except FAILURES:
                self._values[text] = None
        return self._values[text]

    def charge(self, budget: Budget) -> bool:
        """Charge `budget` for a call of `compute_conditions`; return whether any budget is left."""
        return budget.charge(0.4 * self.cells + 2.0 * len(self.flat) + 5.0)

    def compute_conditions(self) -> tuple[list[Condition], BoolArray]:
        """Compute all conditions on these objects.

        If more than six conditions hold for the same objects, only six of them are kept.

        Returns:
            The conditions, cheapest first, and a bool array of shape (conditions, objects) that
            says for which objects each condition holds. The first condition is `ALWAYS`.
        """
        if self._conditions is None:
            unlike: dict[bytes, list[Condition]] = {}
            rows: dict[bytes, BoolArray] = {}
            for condition, row in self._all():
                at = row.tobytes()
                if row.any():
                    unlike.setdefault(at, []).append(condition)
                    rows[at] = row
            chosen: list[Condition] = []
            matrix: list[BoolArray] = []
            for at, alike in unlike.items():
                alike.sort(key=lambda condition: condition.cost)
                chosen += alike[:6]
                matrix += [rows[at]] * len(alike[:6])
            order = sorted(range(len(chosen)), key=lambda k: chosen[k].cost)
            self._conditions = (
                [chosen[k] for k in order],
                np.array([matrix[k] for k in order], bool).reshape(len(order), len(self.flat)),
            )
        return self._conditions

    def _all(self) -> Iterator[tuple[Condition, BoolArray]]:
        yield ALWAYS, np.ones(len(self.flat), bool)
        for number in NUMBERS:
            values = self.evaluate(number.text)
            if values is not None and len(set(values)) > 1:
                yield from self._of_number(number, np.array(values))
        for text, says, negated, cost in TRUTHS:
            yield from _both(text, says, negated, cost, self.evaluate(text))
        forms = self.evaluate("tuple(form(o))")
        if forms is not None:
            for row, text, says in (
                (self._alone(forms), "sum(form(x) == form(o) for x in many) == 1", "unique"),
                (~self._alone(forms), "sum(form(x) == form(o) for x in many) > 1", "not unique"),
            ):
                yield Condition(text, f" whose shape is {says}", 1.3), row
            yield from self._like_a_key(forms)
        for name, noun in (("beside", "touches"), ("within", "has in its box")):
            sets = self.evaluate(f"frozenset({name}(g, o))")
            if sets is None:
                continue
            for colour in sorted({v for one in sets for v in one}):
                says = f"{noun} {colour_name(colour)}"
                negated = f"that does not {'touch' if name == 'beside' else 'have in its box'} {colour_name(colour)}"  # fmt: skip
                held = [colour in one for one in sets]
                yield from _both(f"{colour} in {name}(g, o)", f"that {says}", negated, 1.5, held)

    def _like_a_key(self, forms: list[Any]) -> Iterator[tuple[Condition, BoolArray]]:
        """Yield conditions about what objects share with one that stands out.

        This is the shape of an object in a colour that all grids have, or the colour of a smaller
        object.
        """
        tints = self.evaluate("tint(g, @)") or []
        held = [{tints[n] for n in np.flatnonzero(self.of == k)} for k in range(len(self.grids))]
        grids = self.of.tolist()
        for colour in sorted(set.intersection(*held)):
            keys = {(k, f) for k, f, t in zip(grids, forms, tints, strict=True) if t == colour}
            row = np.array([one in keys for one in zip(grids, forms, strict=True)], bool)
            text = f"any(tint(g, x) == {colour} and form(x) == form(o) for x in many)"
            says = f"has the shape of a {colour_name(colour)} one"
            yield Condition(text, f" that {says}", 1.7), row
            yield Condition(f"not {text}", f" that never {says}", 2.0), ~row
        least: dict[tuple[int, int], int] = {}
        for one, o in zip(zip(grids, tints, strict=True), self.flat, strict=True):
            least[one] = min(len(o), least.get(one, len(o)))
        row = np.array([least[one] < len(o) for one, o in zip(zip(grids, tints, strict=True), self.flat, strict=True)], bool)  # fmt: skip
        text = "any(len(x) < len(o) and tint(g, x) == tint(g, o) for x in many)"
        yield Condition(text, " that has a smaller one of its colour", 1.6), row
        yield Condition(f"not {text}", " that has no smaller one of its colour", 1.9), ~row

    def _alone(self, values: list[Any]) -> BoolArray:
        """Return which objects have a value that no other object of their grid has."""
        paired = list(zip(self.of.tolist(), values, strict=True))
        counts: dict[Any, int] = {}
        for one in paired:
            counts[one] = counts.get(one, 0) + 1
        return np.array([counts[one] == 1 for one in paired], bool)

    def _of_number(
        self, number: Number, values: NDArray[Any]
    ) -> Iterator[tuple[Condition, BoolArray]]:
        of_o, of_x = number.text.replace("@", "o"), number.text.replace("@", "x")
        name = number.says
        for k in sorted(set(values.tolist()))[:12]:
            is_colour = name == "colour"
            said = f" of colour {colour_name(k)}" if is_colour else f" of {name} {k}"
            cost = number.cost + (0.8 if is_colour else 1.5)
            yield Condition(f"{of_o} == {k}", said, cost), values == k
            other = (
                f" that is not {colour_name(k)}" if is_colour else f" of another {name} than {k}"
            )
            yield Condition(f"{of_o} != {k}", other, cost + 0.4), values != k
        alone = self._alone(values.tolist())
        for row, text, says in ((alone, "== 1", "unique"), (~alone, "> 1", "not unique")):
            counted = f"sum({of_x} == {of_o} for x in many) {text}"
            yield Condition(counted, f" whose {name} is {says}", number.cost + 1.3), row
        if not number.compared:
            return
        for k in sorted(set(values.tolist()))[1:9]:
            said = f" of {name} {k} or more"
            yield Condition(f"{of_o} >= {k}", said, number.cost + 1.8), values >= k
            said = f" of {name} below {k}"
            yield Condition(f"{of_o} < {k}", said, number.cost + 1.8), values < k
        even = values % 2 == 0
        yield Condition(f"{of_o} % 2 == 0", f" of even {name}", number.cost + 2.0), even
        yield Condition(f"{of_o} % 2 == 1", f" of odd {name}", number.cost + 2.0), ~even
        for pick, says in (("max", "greatest"), ("min", "least")):
            extreme = np.array([
                getattr(values[self.of == k], pick)() if (self.of == k).any() else 0
                for k in range(len(self.grids))
            ])  # fmt: skip
            row = values == extreme[self.of]
            text = f"{pick}({of_x} for x in many)"
            cost = number.cost + 0.9
            yield Condition(f"{of_o} == {text}", f" of the {says} {name}", cost), row
            said = f" that is not of the {says} {name}"
            yield Condition(f"{of_o} != {text}", said, cost + 0.4), ~row


def _both(
    text: str, says: str, negated: str, cost: float, values: list[Any] | None
) -> Iterator[tuple[Condition, BoolArray]]:
    if values is None:
        return
    row = np.array([bool(v) for v in values], bool)
    yield Condition(text, f" {says}", cost), row
    opposite = text[4:] if text.startswith("not ") else f"not {text}"
    if " == " in text or " > " in text or " < " in text:
        for sign, other in ((" == ", " != "), (" > ", " <= "), (" < ", " >= ")):
            if sign in text:
                opposite = text.replace(sign, other, 1)
    elif " in " in text:
        opposite = text.replace(" in ", " not in ", 1)
    yield Condition(opposite, f" {negated}", cost + 0.3), ~row


@lru_cache(maxsize=400)
def _view_objects(view: View, key: tuple[Any, ...]) -> ViewedObjects:
    return ViewedObjects(view, tuple([list(row) for row in g] for g in key))


def view_objects(view: View, grids: Grids) -> ViewedObjects | None:
    """Return the objects that `view` recognises in `grids`.

    None is returned if a grid has no object or more than `MAX_OBJECTS` objects.
    """
    found = _view_objects(view, tuple(tuple(map(tuple, g)) for g in grids))
    return found if found.usable else None
