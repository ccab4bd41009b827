"""Steps that change colours: by a table read from the pairs, by deletion, or by frequency."""

from __future__ import annotations

from collections.abc import Iterator

from ..goal import Facts
from ..grammar import Step, colour_name


def _each(value: str, says: str, price: float) -> Step:
    return Step(f"g = [[{value} for v in row] for row in g]", says, price)


_BY_COUNT = [
    ("most(g)", "the most frequent colour"),
    ("least(g)", "the least frequent colour"),
]


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps that change colours.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if facts.fits:
        yield from _map(facts)
    if not facts.may_keep_size:
        return
    for c in facts.usual_colours:
        if len(facts.any_colour) > 2:
            yield _each(f"0 if v == {c} else v", f"delete the {colour_name(c)} cells", 2.8)
            yield _each(f"v if v == {c} else 0", f"keep only the {colour_name(c)} cells", 2.8)
    for c in facts.removed_colours:
        for d in [d for d in facts.paint_colours if d not in facts.any_colour]:
            says = f"make the {colour_name(c)} cells {colour_name(d)}"
            yield _each(f"{d} if v == {c} else v", says, 2.7)
    for code, which in _BY_COUNT:
        yield Step(
            f"one = {code}\ng = [[v if v == one else 0 for v in row] for row in g]",
            f"keep only {which}",
            3.0,
        )
        yield Step(
            f"one = {code}\ng = [[0 if v == one else v for v in row] for row in g]",
            f"delete {which}",
            3.0,
        )
        yield Step(
            f"one = {code}\ng = [[one if v else 0 for v in row] for row in g]",
            f"make every coloured cell of {which}",
            3.0,
        )
        yield Step(
            f"one = {code}\ng = [[v or one for v in row] for row in g]",
            f"fill the black (0) cells with {which}",
            3.1,
        )
        yield Step(
            f"one = {code}\ng = [[one] * len(row) for row in g]",
            f"paint the whole grid with {which}",
            3.1,
        )
        if facts.fits:
            for d in facts.paint_colours[:2]:
                yield Step(
                    f"one = {code}\ng = [[{d} if v == one else v for v in row] for row in g]",
                    f"make {which} {colour_name(d)}",
                    3.0,
                )
                yield Step(
                    f"one = {code}\ng = [[{d} if v not in (0, one) else v for v in row] for row in g]",
                    f"make all colours but {which} {colour_name(d)}",
                    3.2,
                )
    yield Step(
        "a, b = most(g), least(g)\ng = [[b if v == a else a if v == b else v for v in row] for row in g]",
        "swap the most and the least frequent colour",
        3.2,
    )
    yield Step(
        "back = commonest(g)\ng = [[0 if v == back else v for v in row] for row in g]",
        "make the most frequent of all colours black (0)",
        3.0,
    )
    yield Step(
        "one = most(g)\ng = [[0 if v else one for v in row] for row in g]",
        "swap black (0) and the colour of the grid",
        3.0,
    )
    if facts.fits:
        for d in facts.paint_colours[:3]:
            yield _each(f"{d} if v else 0", f"make every coloured cell {colour_name(d)}", 2.7)
            yield _each(f"v or {d}", f"make the background {colour_name(d)}", 2.7)
            yield _each(
                f"0 if v else {d}", f"swap black (0) and coloured cells, {colour_name(d)}", 2.9
            )


def _map(facts: Facts) -> Iterator[Step]:
    """Yield the map from colours to colours that makes the outputs, if there is one."""
    table: dict[int, int] = {}
    for here, out in zip(facts.grids, facts.goal.outputs, strict=True):
        for row, made in zip(here, out, strict=True):
            for v, o in zip(row, made, strict=True):
                if table.setdefault(v, o) != o:
                    return
    changed = {v: o for v, o in sorted(table.items()) if v != o}
    if not changed or len(set(table.values())) < 2:
        return
    price = 2.5 + 0.5 * (len(changed) - 1)
    coloured = {o for v, o in table.items() if v}
    if len(coloured) == 1 and table.get(0, 0) == 0:
        (k,) = coloured
        if k and len(table) > 2:
            yield _each(f"{k} if v else 0", f"make every coloured cell {colour_name(k)}", 2.6)
    if len(changed) == 1:
        ((a, b),) = changed.items()
        yield _each(
            f"{b} if v == {a} else v", f"make the {colour_name(a)} cells {colour_name(b)}", price
        )
        return
    if len(changed) == 2 and all(changed.get(o) == v for v, o in changed.items()):
        a, b = changed
        swap = f"{b} if v == {a} else {a} if v == {b} else v"
        yield _each(swap, f"swap {colour_name(a)} and {colour_name(b)}", 2.6)
        return
    ends = set(changed.values())
    if len(ends) == 1:
        (k,) = ends
        gone = ", ".join(map(str, changed))
        said = " and ".join(map(colour_name, changed))
        yield _each(
            f"{k} if v in ({gone}) else v", f"make the {said} cells {colour_name(k)}", price
        )
        return
    shifts = {(o - v) % 10 for v, o in table.items()}
    if len(shifts) == 1 and len(table) > 2:
        (k,) = shifts
        yield _each(f"(v + {k}) % 10", f"add {k} to every colour, from 9 on to 0", 3.0)
    text = "{" + ", ".join(f"{v}: {o}" for v, o in changed.items()) + "}"
    said = ", ".join(f"{colour_name(v)} {colour_name(o)}" for v, o in changed.items())
    yield Step(
        f"other = {text}\ng = [[other.get(v, v) for v in row] for row in g]",
        f"make other colours: {said}",
        price,
    )
