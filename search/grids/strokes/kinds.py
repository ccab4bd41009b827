"""The kinds of strokes from which the finder in strokes.py composes a drawing.

They are rays that bounce or turn, lines that are continued, paths between marked cells, blocks,
rings, fillings and spirals. Their colours are read from the pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..goal import Goal
from ..grammar import Grids, colour_name


class Stroke(NamedTuple):
    """A stroke that a drawing may contain, such as a line.

    Attributes:
        text: Expression over `g` that gives the painted cells as a list of (row, column, colour).
        says: The stroke as an instruction in English.
        cost: Cost of the stroke without the cost of its colour.
        own: Whether the stroke may be drawn in the colours that `text` gives.
        starts: For lines, the expression for the cells and directions in which they start.
            Otherwise empty.
        mode: For lines, how they continue at obstacles (see the helper function `walks`). Otherwise
            empty.
    """

    text: str
    says: str
    cost: float
    own: bool = True
    starts: str = ""
    mode: str = ""


_SIDES = "[(0, 1), (0, -1), (1, 0), (-1, 0)]"
_SLANTS = "[(1, 1), (-1, -1), (1, -1), (-1, 1)]"
_ALL = "[(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]"
_WAYS = (
    ("[(0, 1)]", "to the right"),
    ("[(0, -1)]", "to the left"),
    ("[(1, 0)]", "down"),
    ("[(-1, 0)]", "up"),
    ("[(0, 1), (0, -1)]", "to both sides"),
    ("[(1, 0), (-1, 0)]", "up and down"),
    (_SIDES, "in all four directions"),
    (_SLANTS, "in all diagonal directions"),
    (_ALL, "in all eight directions"),
    ("[(1, 1)]", "down and right"),
    ("[(-1, 1)]", "up and right"),
    ("[(1, -1)]", "down and left"),
    ("[(-1, -1)]", "up and left"),
    ("[(1, 1), (-1, -1)]", "along the main diagonal"),
    ("[(1, -1), (-1, 1)]", "along the other diagonal"),
    ("[(1, 1), (1, -1)]", "down along both diagonals"),
    ("[(-1, 1), (-1, -1)]", "up along both diagonals"),
)
_MODES = (
    ("stop", "up to an obstacle", 0.0),
    ("through", "behind all that is there", 0.1),
    ("over", "over all that is there", 0.3),
    ("dotted", "in every second cell", 0.4),
    ("right", "turning right at obstacles", 0.7),
    ("left", "turning left at obstacles", 0.7),
    ("bounce", "bouncing off borders and obstacles", 0.6),
    ("aside right", "stepping aside to the right at obstacles", 0.9),
    ("aside left", "stepping aside to the left at obstacles", 0.9),
)


_CORNERS = (
    (_SLANTS, "the corners"),
    ("[(1, 1)]", "the lower right corner"),
    ("[(1, -1)]", "the lower left corner"),
    ("[(-1, 1)]", "the upper right corner"),
    ("[(-1, -1)]", "the upper left corner"),
)
_PLAIN = ("stop", "through", "over", "dotted")


def list_strokes(grids: Grids, goal: Goal) -> Iterator[Stroke]:
    """Yield the strokes that may be drawn on `grids`, roughly in the order of their cost."""
    held = [{v for row in g for v in row if v} for g in grids]
    often = [
        c for c in sorted(set().union(*held)) if 2 * sum(c in one for one in held) >= len(held)
    ]
    always = [c for c in often if all(c in one for one in held)]
    marks = often if len(set().union(*held)) == 1 else [0, *often]
    yield from _blocks(always, all(any(0 in row for row in g) for g in grids))
    yield from _shown(marks, always)
    yield from _straight(marks)
    yield from _between(always, often)
    yield from _around(marks)
    for below in (False, True):
        for right in (False, True):
            for turned in (False, True):
                corner = f"{'lower' if below else 'upper'} {'right' if right else 'left'}"
                ways = ("upwards" if below else "down") if turned else "along the edge"
                yield Stroke(
                    f"spiral(g, {below}, {right}, {turned})",
                    f"draw a spiral from the {corner} corner inwards, first {ways}",
                    2.2 + 0.2 * below + 0.1 * right + 0.1 * turned,
                    own=False,
                )


def _cells(c: int) -> str:
    return f"{colour_name(c)} cell" if c else "coloured cell"


def _lines(starts: str, mode: str, says: str, cost: float) -> Stroke:
    return Stroke(f'walks(g, {starts}, "{mode}")', says, cost, starts=starts, mode=mode)


def _straight(marks: list[int]) -> Iterator[Stroke]:
    for c in marks:
        for n, (ways, where) in enumerate(_WAYS):
            for mode, says, price in _MODES:
                if mode not in _PLAIN and (n in (4, 5, 6, 8) or ("aside" in mode and n > 3)):
                    continue
                yield _lines(
                    f"aimed(g, {c}, {ways})",
                    mode,
                    f"draw lines from every {_cells(c)} {where}, {says}",
                    1.5 + 0.5 * bool(c) + 0.1 * (n > 5) + price,
                )


def _shown(marks: list[int], always: list[int]) -> Iterator[Stroke]:
    """Yield lines whose direction is visible in the grid."""
    starts = []
    for c in marks:
        of = f" {colour_name(c)}" if c else ""
        starts.append(
            (f"line_ends(g, {c})", f"let{of} lines go on from their ends", 1.6 + 0.4 * bool(c))
        )
        for ways, where in _CORNERS:
            starts.append(
                (
                    f"outwards(g, {c}, {ways})",
                    f"draw lines outwards from {where} of{of} objects",
                    1.8 + 0.4 * bool(c) + 0.2 * (ways != _SLANTS),
                )
            )
        for same, whole in ((True, "object"), (False, "object of any colours")):
            starts.append(
                (
                    f"away(g, {c}, {same})",
                    f"draw lines from every {_cells(c)} away from the middle of its {whole}",
                    2.0 + 0.3 * bool(c) + 0.1 * (not same),
                )
            )
        for w in always:
            if w == c:
                continue
            for ways, where, price in (
                (_SIDES, "straight", 0.0),
                (_SLANTS, "diagonally", 0.2),
                (_ALL, "", 0.2),
            ):
                starts.append(
                    (
                        f"facing(g, {c}, {w}, {ways})",
                        f"draw lines from every {_cells(c)} {where} towards {colour_name(w)}",
                        2.0 + price,
                    )
                )
                starts.append(
                    (
                        f"leaving(g, {c}, {w}, {ways})",
                        f"draw lines from every {_cells(c)} {where} away from {colour_name(w)}",
                        2.1 + price,
                    )
                )
                if c:
                    starts.append(
                        (
                            f"pushed(g, {c}, {w}, {ways})",
                            f"draw lines from every {_cells(c)} {where} away from {colour_name(w)} beside it",
                            2.1 + price,
                        )
                    )
    for back, where in (
        (False, "out of the only gap of every object"),
        (True, "from the side across the only gap of every object"),
    ):
        starts.append((f"openings(g, {back})", f"draw lines {where}", 2.2 + 0.2 * back))
    for back, where in ((False, "away from"), (True, "across")):
        starts.append(
            (
                f"tips(g, {back})",
                f"from the cells of the rarer colour draw lines {where} the middle of their object",
                2.2,
            )
        )
    for text, says, cost in starts:
        for mode, how, price in _MODES[:7]:
            yield _lines(text, mode, f"{' '.join(says.split())}, {how}", cost + price)


def _between(always: list[int], often: list[int]) -> Iterator[Stroke]:
    for c in always:
        for full in (True, False):
            which = "the box" if full else "the edge of the box"
            yield Stroke(
                f"spans(g, {c}, {full})",
                f"fill the empty cells of {which} of all {colour_name(c)} cells",
                2.1,
            )
        for w in always:
            yield Stroke(
                f"crossings(g, {c}, {w})",
                f"mark where rows with {colour_name(c)} cross columns with {colour_name(w)}",
                2.3,
            )
    for c in always or often:
        for w in always or often:
            for kind, says in (
                ("across", "first along its row"),
                ("down", "first along its column"),
                ("slanting", "first diagonally"),
                ("straight", "diagonally at last"),
            ):
                to = f"the nearest {colour_name(w)} cell" if c != w else "the nearest that follows"
                yield Stroke(
                    f'joins(g, {c}, {w}, "{kind}")',
                    f"connect every {colour_name(c)} cell with {to}, {says}",
                    2.4,
                )


def _blocks(always: list[int], empty: bool) -> Iterator[Stroke]:
    for c in [*([0] if empty else []), *always]:
        what = "empty" if c == 0 else colour_name(c)
        for least in (1, 2):
            more = " that is at least 2 cells high and wide" if least == 2 else ""
            yield Stroke(
                f"widest(g, {c}, {least})",
                f"mark the largest rectangle of {what} cells{more}",
                2.0 + 0.4 * (least - 1),
                own=False,
            )
        for high in range(1, 6):
            for wide in range(1, 6):
                if high * wide > 1 and (high == wide or max(high, wide) < 4):
                    yield Stroke(
                        f"full_blocks(g, {c}, {high}, {wide})",
                        f"mark every block of {high} by {wide} {what} cells",
                        2.2 + 0.1 * (high != wide) + 0.1 * (high > 3),
                        own=False,
                    )
        if c:
            yield Stroke(
                f"[(i, j, {c}) for i, j in places(g, {c})]",
                f"mark the {colour_name(c)} cells",
                1.4,
                own=False,
            )


def _around(marks: list[int]) -> Iterator[Stroke]:
    for c in marks:
        what = f"{colour_name(c)} object" if c else "object"
        for step in (1, 2, 3):
            for most in (1, 2, 30):
                often = {1: "one ring", 2: "two rings", 30: "rings up to the border"}[most]
                apart = f", {step} cells apart" if step > 1 else ""
                yield Stroke(
                    f"rings(g, {c}, {step}, {most})",
                    f"draw {often} around every {what}{apart}",
                    2.0 + 0.4 * bool(c) + 0.2 * (step > 1) + 0.2 * (most == 2),
                )
        for way, where in (
            ("1, 0", "down"),
            ("-1, 0", "up"),
            ("0, 1", "to the right"),
            ("0, -1", "to the left"),
        ):
            yield Stroke(
                f"flows(g, {c}, {way})",
                f"let every {_cells(c)} flow {where} and around what it meets",
                2.3 + 0.4 * bool(c),
            )
        for around in (False, True):
            for step, first in ((1, 0), (2, 0), (2, 1)):
                every = (
                    "" if step == 1 else f", every second step{' from the first' if first else ''}"
                )
                yield Stroke(
                    f"spread(g, {c}, {around}, {step}, {first})",
                    f"let {'every ' + _cells(c)} spread over empty cells{', diagonally too' if around else ''}{every}",
                    2.0 + 0.4 * bool(c) + 0.2 * around + 0.5 * (step > 1),
                )
