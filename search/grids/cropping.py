"""Steps that cut out a region of a grid: a box, a half, the inside of a border or a window."""

from __future__ import annotations

from collections.abc import Iterator

from .goal import Facts
from .grammar import Step, colour_name

PLAIN_STEPS = [
    Step(
        "g = cut(g, [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v])",
        "cut out the smallest box around all that is not black (0)",
        2.8,
    ),
    Step(
        "back = commonest(g)\n"
        "g = cut(g, [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if v != back])",
        "cut out the smallest box around all that is not of the most frequent colour",
        3.4,
    ),
    Step("g = cut(g, places(g, most(g)))", "cut out the box of the most frequent colour", 3.4),
    Step("g = cut(g, places(g, least(g)))", "cut out the box of the least frequent colour", 3.4),
    Step("g = g[:(len(g) + 1) // 2]", "keep the upper half", 2.8),
    Step("g = g[len(g) // 2:]", "keep the lower half", 2.8),
    Step("g = [row[:(len(row) + 1) // 2] for row in g]", "keep the left half", 2.8),
    Step("g = [row[len(row) // 2:] for row in g]", "keep the right half", 2.8),
    Step("g = g[:len(g) // 2]", "keep the upper half, without a middle row", 2.8),
    Step("g = g[(len(g) + 1) // 2:]", "keep the lower half, without a middle row", 2.8),
    Step(
        "g = [row[:len(row) // 2] for row in g]", "keep the left half, without a middle column", 2.8
    ),
    Step(
        "g = [row[(len(row) + 1) // 2:] for row in g]",
        "keep the right half, without a middle column",
        2.8,
    ),
    Step("g = g[:len(g) // 3]", "keep the upper third", 3.0),
    Step("g = g[-(len(g) // 3):]", "keep the lower third", 3.0),
    Step("g = [row[:len(row) // 3] for row in g]", "keep the left third", 3.0),
    Step("g = [row[-(len(row) // 3):] for row in g]", "keep the right third", 3.0),
    Step("g = [row[:len(g)] for row in g]", "keep as many columns as there are rows", 3.2),
    Step("g = [row[-len(g):] for row in g]", "keep the last columns, as many as rows", 3.2),
    Step("g = g[:len(g[0])]", "keep as many rows as there are columns", 3.2),
    Step("g = g[-len(g[0]):]", "keep the last rows, as many as columns", 3.2),
    Step("g = [row[1:-1] for row in g[1:-1]]", "take the border off", 2.8),
    Step("g = [row[2:-2] for row in g[2:-2]]", "take a border of two cells off", 3.4),
    Step("g = g[1:]", "drop the first row", 2.8),
    Step("g = g[:-1]", "drop the last row", 2.8),
    Step("g = [row[1:] for row in g]", "drop the first column", 2.8),
    Step("g = [row[:-1] for row in g]", "drop the last column", 2.8),
    Step("g = [row[::2] for row in g[::2]]", "keep every second row and column", 3.2),
    Step("g = [row[1::2] for row in g[1::2]]", "keep every second row and column from 1", 3.4),
]
# Choice of an object by its size, as code and as a phrase.
_CHOSEN = [
    ("max(found, key=len)", "the object of most cells"),
    ("min(found, key=len)", "the object of fewest cells"),
]
_KINDS = [
    ("True, False", "of one colour"),
    ("True, True", "of one colour, diagonals connected"),
    ("False, True", "of any colours, diagonals connected"),
]


def _objects() -> list[Step]:
    made = []
    for pick, which in _CHOSEN:
        for price, (kind, says) in enumerate(_KINDS):
            code = f"found = objects(g, {kind})\ng = cut(g, {pick} if found else [])"
            made.append(Step(code, f"cut out {which} ({says})", 3.4 + 0.1 * price))
    return made


OBJECT_STEPS = _objects()


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that cut out a region.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if not facts.may_shrink:
        return
    yield from PLAIN_STEPS
    yield from OBJECT_STEPS
    for c in facts.any_colour:
        if not c:
            continue
        price = 3.2 if c in facts.every_colour else 4.2
        says = f"cut out the smallest box around the {colour_name(c)} cells"
        yield Step(f"g = cut(g, places(g, {c}))", says, price)
        if c in facts.every_colour:
            yield Step(
                f"g = cut(g, places(g, {c}))\ng = [row[1:-1] for row in g[1:-1]]",
                f"{says}, without its border",
                price + 0.6,
            )
            yield Step(
                "g = cut(g, [(i, j) for i, row in enumerate(g) for j, v in enumerate(row)"
                f" if v not in (0, {c})])",
                f"cut out the smallest box around all that is not black (0) or {colour_name(c)}",
                price + 0.6,
            )
    yield from _windows(facts)


def _windows(facts: Facts) -> Iterator[Step]:
    """Yield the windows at the same place in all grids, if all outputs have one size."""
    size = facts.common_size
    if size is None or facts.fits or not facts.larger:
        return
    height, width = size
    for from_end in (False, True):
        shared: set[tuple[int, int]] | None = None
        for here, out in zip(facts.arrays, facts.output_arrays, strict=True):
            h, w = here.shape
            places = set()
            for i in range(h - height + 1):
                for j in range(w - width + 1):
                    if (here[i : i + height, j : j + width] == out).all():
                        places.add((i - h, j - w) if from_end else (i, j))
            shared = places if shared is None else shared & places
            if not shared:
                break
        if from_end and len(set(facts.shapes)) == 1:
            break
        for i, j in sorted(shared or ())[:3]:
            rows = _span(i, height)
            columns = _span(j, width)
            end = ", counted from the end" if from_end else ""
            yield Step(
                f"g = [row[{columns}] for row in g[{rows}]]",
                f"keep {height} rows from row {i} and {width} columns from column {j}{end}",
                4.6,
            )


def _span(start: int, size: int) -> str:
    stop = start + size
    return f"{start or ''}:{stop}" if start >= 0 or stop else f"{start}:"
