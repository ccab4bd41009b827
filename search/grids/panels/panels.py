"""Steps on panels, which are the parts of a grid between lines or after cuts into equal parts.

A step chooses one panel or lays all panels over each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations
from typing import Any

from ..goal import Facts, shape
from ..grammar import FAILURES, Grid, Step, compile_step
from .combining import find_combinations, needs_both_grids

Panels = list[list[Grid]]  # shape (pairs, panels)

# Each choice of a panel as code, a phrase and a cost.
_CHOICES = [
    ("max(parts, key=lambda p: sum(v > 0 for row in p for v in row))", "of most coloured cells", 0.8),
    ("min(parts, key=lambda p: sum(v > 0 for row in p for v in row))", "of fewest coloured cells", 0.8),
    ("max(parts, key=lambda p: len(set(sum(p, []))))", "of most colours", 0.9),
    ("min(parts, key=lambda p: len(set(sum(p, []))))", "of fewest colours", 0.9),
    ("min(parts, key=parts.count)", "that is unlike the others", 0.8),
    ("max(parts, key=parts.count)", "that is there most often", 0.8),
    ("next((p for p in parts if p == [row[::-1] for row in p]), parts[0])", "that is symmetric from left to right", 1.0),
    ("next((p for p in parts if p != [row[::-1] for row in p]), parts[0])", "that is not symmetric from left to right", 1.1),
    ("next((p for p in parts if p == p[::-1]), parts[0])", "that is symmetric from top to bottom", 1.1),
    ("next((p for p in parts if p == [list(row) for row in zip(*p)]), parts[0])", "that is symmetric on its diagonal", 1.2),
]  # fmt: skip
_CELLS = [
    ("most(p)", "its most frequent colour", 0.6),
    ("commonest(p)", "the colour of most cells", 0.7),
    ("least(p)", "its least frequent colour", 0.8),
    ("int(any(map(any, p)))", "blue (1) where it shows anything", 1.0),
]


def _even(axis: str, count: int, gap: int) -> tuple[str, str, float]:
    between = f", {gap} apart" if gap else ""
    says = f"cut the grid into {count} equal parts, {axis}{between}"
    price = 0.1 * (count - 2) + 0.1 * bool(gap)
    size = "len(g)" if axis == "down" else "len(g[0])"
    step = f"({size} + {gap}) // {count}" if gap else f"{size} // {count}"
    part = "g[k * n:k * n + n{0}]" if axis == "down" else "[row[k * n:k * n + n{0}] for row in g]"
    part = part.format(f" - {gap}" if gap else "")
    return f"n = {step}\nparts = [{part} for k in range({count})]", says, price


def _quarters() -> tuple[str, str, float]:
    code = (
        "m, n = len(g) // 2, len(g[0]) // 2\n"
        "parts = [[row[a:a + n] for row in g[b:b + m]]\n"
        "         for b in (0, len(g) - m) for a in (0, len(g[0]) - n)]"
    )
    return code, "cut the grid into quarters", 0.3


@lru_cache(maxsize=512)
def _parts(code: str) -> Any:
    return compile_step(code + "\ng = parts")


def _sources(facts: Facts) -> Iterator[tuple[str, str, float]]:
    yield "parts = sections(g)", "split the grid at its separating lines", 0.2
    both = list(zip(facts.shapes, facts.goal.shapes, strict=True))
    for gap in (0, 1):
        for count in range(2, 8):
            if all(a[0] == b[0] * count + gap * (count - 1) and a[1] == b[1] for a, b in both):
                yield _even("down", count, gap)
            if all(a[1] == b[1] * count + gap * (count - 1) and a[0] == b[0] for a, b in both):
                yield _even("across", count, gap)
        if all(a == (2 * b[0] + gap, 2 * b[1] + gap) for a, b in both):
            yield _quarters()


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps on panels, if the grids of `facts` are larger than the outputs."""
    if facts.fits or not facts.larger:
        return
    for code, says, price in _sources(facts):
        try:
            cut: Panels = [_parts(code)(grid) for grid in facts.grids]
        except FAILURES:
            continue
        if any(len(parts) < 2 for parts in cut):
            continue
        outputs = facts.goal.outputs
        if all(
            all(shape(p) == shape(out) for p in parts)
            for parts, out in zip(cut, outputs, strict=True)
        ):
            yield from _together(facts, cut, code, says, price)
        if all(any(p == out for p in parts) for parts, out in zip(cut, outputs, strict=True)):
            yield from _chosen(cut, code, says, price)
        if code.endswith("sections(g)"):
            yield from _one_cell_each(says)


def _chosen(cut: Panels, code: str, says: str, price: float) -> Iterator[Step]:
    """Yield the steps that choose a panel by its place or by its content.

    A choice that misses an output leads to another state.
    """
    for k in (*range(min(9, min(map(len, cut)))), -1):
        yield Step(f"{code}\ng = parts[{k}]", f"{says} and take part {k}", 3.0 + price)
    for choice, which, more in _CHOICES:
        yield Step(f"{code}\ng = {choice}", f"{says} and take the part {which}", 2.6 + price + more)


def _together(facts: Facts, cut: Panels, code: str, says: str, price: float) -> Iterator[Step]:
    counts = {len(parts) for parts in cut}
    most = max(counts)
    if counts == {2}:
        triples = frozenset(
            (v, w, o)
            for (a, b), out in zip(cut, facts.goal.outputs, strict=True)
            for r, s, t in zip(a, b, out, strict=True)
            for v, w, o in zip(r, s, t, strict=True)
        )
        if needs_both_grids(triples):
            for text, how, more in find_combinations(triples, facts.goal.made_colours):
                yield Step(
                    f"{code}\ng = [[{text} for v, w in zip(*rows)] for rows in zip(*parts)]",
                    f"{says} and combine both: {how}",
                    2.8 + price + more,
                )
        return
    if len(counts) == 1 and most <= 4:
        orders = list(permutations(range(most)))
    else:
        orders = [(), (-1,)]
    for number, order in enumerate(orders):
        plain = list(order) in ([], list(range(most)))
        turned = order == (-1,) or list(order) == list(range(most))[::-1]
        names = "parts" if plain else "parts[::-1]" if turned else ""
        if not names:
            names = "[" + ", ".join(f"parts[{k}]" for k in order) + "]"
        how = "the first" if plain else "the last" if turned else f"{list(order)} first to last"
        if not (plain or turned) and any(
            _overlaid([parts[k] for k in order]) != out
            for parts, out in zip(cut, facts.goal.outputs, strict=True)
        ):
            continue
        yield Step(
            f"{code}\ng = overlaid({names})",
            f"{says} and lay them over each other, {how} on top",
            2.9 + price + (0.0 if plain or turned else 0.8) + 0.01 * number,
        )
    for k in facts.paint_colours:
        for word in ("any", "all"):
            test = f"{word}(cells)"
            yield Step(
                f"{code}\ng = [[{k} if {test} else 0 for cells in zip(*rows)]"
                " for rows in zip(*parts)]",
                f"{says} and paint {k} where {word} of them are coloured",
                3.2 + price,
            )
    yield Step(
        f"{code}\ng = [[max(cells, key=cells.count) for cells in zip(*rows)]"
        " for rows in zip(*parts)]",
        f"{says} and take what most of them show",
        3.2 + price,
    )


def _overlaid(parts: list[Grid]) -> Grid:
    return [
        [next((v for v in cells if v), 0) for cells in zip(*rows, strict=True)]
        for rows in zip(*parts, strict=True)
    ]


def _one_cell_each(says: str) -> Iterator[Step]:
    """Yield steps that make each panel one cell."""
    for value, which, more in _CELLS:
        code = (
            "parts = sections(g)\n"
            "columns = [k for k, column in enumerate(zip(*g)) if len(set(column)) == 1 and column[0]]\n"
            "n = 1 + sum(a + 1 < b for a, b in zip([-1] + columns, columns + [len(g[0])])) - 1\n"
            "n = max(1, n)\n"
            f"g = [[{value} for p in parts[k:k + n]] for k in range(0, len(parts), n)]"
        )
        yield Step(code, f"{says} and make each part one cell, {which}", 3.0 + more)
