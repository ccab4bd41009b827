"""Frames, which say from which cells of the current grid a cell of the output is computed.

A cell of the output may correspond to one cell of the current grid, to one cell in each of several
panels laid over each other, to a block of cells, or to a cell of a tile that is repeated. The
prelude of a frame is code that builds a grid `g` of the output's size. A rule then decides the
colour of every cell of `g`. The prelude may also define names for the rule to use.

Frames do not support a number of panels or blocks that differs from pair to pair, or lines of
several widths between panels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..goal import Goal, State, shape
from ..grammar import MAX_SIDE, colour_name
from .features import Term


class Frame(NamedTuple):
    """A way to match the cells of the current grid with the cells of the output.

    Attributes:
        prelude: Lines of code that build `g` and define names for the rule.
        says: The prelude as an instruction in English, which comes before the description of the
            rule.
        cost: Cost of using this frame.
        terms: Expressions about a cell that are available only with this frame.
    """

    prelude: tuple[str, ...]
    says: str
    cost: float
    terms: tuple[Term, ...]


PLAIN_FRAME = Frame((), "", 0.0, ())


def list_frames(state: State, goal: Goal, colours: list[int]) -> Iterator[Frame]:
    """Yield the frames that turn the grids of `state` into grids of the outputs' sizes.

    Args:
        state: The search state.
        goal: The outputs that the search has to reach.
        colours: Colours whose cells the terms of a frame may count.
    """
    if goal.has_shapes(state.grids):
        yield PLAIN_FRAME
        return
    pairs = [(*shape(g), *out) for g, out in zip(state.grids, goal.shapes, strict=True)]
    yield from _panels(pairs)
    yield from _blocks(pairs, colours)
    yield from _tiles(pairs)


def _panels(pairs: list[tuple[int, int, int, int]]) -> Iterator[Frame]:
    for gap in (0, 1):
        for k in range(2, 7):
            if all(w == k * b + gap * (k - 1) and h == a for h, w, a, b in pairs):
                line = _cut("[row[a : a + step{}] for row in g]", "g[0]", k, gap)
                yield _panel_frame(line, k, "side by side", ("left", "right"))
            if all(h == k * a + gap * (k - 1) and w == b for h, w, a, b in pairs):
                line = _cut("g[a : a + step{}]", "g", k, gap)
                yield _panel_frame(line, k, "below each other", ("upper", "lower"))
        for k in range(2, 5):
            for m in range(2, 5):
                if all(
                    h == k * a + gap * (k - 1) and w == m * b + gap * (m - 1)
                    for h, w, a, b in pairs
                ):
                    high, wide = _step("g", k, gap), _step("g[0]", m, gap)
                    less = " - 1" if gap else ""
                    lines = (
                        f"high, wide = {high}, {wide}",
                        "starts = [(a, b) for a in range(0, len(g), high) for b in range(0, len(g[0]), wide)]",
                        f"sheets = [[row[b : b + wide{less}] for row in g[a : a + high{less}]] for a, b in starts]",
                    )
                    yield _panel_frame(lines, k * m, f"in {k} rows of {m}", ())


def _step(cells: str, k: int, gap: int) -> str:
    return f"(len({cells}) + 1) // {k}" if gap else f"len({cells}) // {k}"


def _cut(piece: str, cells: str, k: int, gap: int) -> tuple[str, ...]:
    less = " - 1" if gap else ""
    return (
        f"step = {_step(cells, k, gap)}",
        f"sheets = [{piece.format(less)} for a in range(0, len({cells}), step)]",
    )


def _panel_frame(lines: tuple[str, ...], k: int, where: str, names: tuple[str, ...]) -> Frame:
    layers = "[p[i][j] for p in sheets]"
    terms = [
        Term("number", "sum(bool(p[i][j]) for p in sheets)", "the number of panels coloured there", 0.8),
        Term("truth", "all(p[i][j] for p in sheets)", "coloured in all panels", 0.7),
        Term("truth", "any(p[i][j] for p in sheets)", "coloured in any panel", 0.7),
        Term("number", "len({p[i][j] for p in sheets})", "the number of colours there in the panels", 1.0),
        Term("colour", f"next(filter(None, {layers}), 0)", "the first panel that is coloured there", 0.8),
        Term("colour", f"next(filter(None, {layers}[::-1]), 0)", "the last panel that is coloured there", 0.8),
        Term("colour", f"common({layers})", "most of the panels there", 1.2),
        Term("colour", f"rarest({layers})", "the fewest of the panels there", 1.2),
    ]  # fmt: skip
    for n in range(1, k if k <= 5 else 1):
        name = f"the {names[1]} panel" if names and k == 2 else f"panel {n + 1}"
        terms.append(Term("colour", f"sheets[{n}][i][j]", name, 0.5 if k == 2 else 0.8))
    return Frame(
        (*lines, "g = sheets[0]"),
        f"lay the {k} panels {where} over each other and",
        1.2 if names else 1.6,
        tuple(terms),
    )


def _blocks(pairs: list[tuple[int, int, int, int]], colours: list[int]) -> Iterator[Frame]:
    """Yield frames in which each cell of the output stands for a block."""
    for gap in (0, 1):
        if not all((h + gap) % a == 0 and (w + gap) % b == 0 for h, w, a, b in pairs):
            continue
        sizes = {((h + gap) // a, (w + gap) // b) for h, w, a, b in pairs}
        counts = {(a, b) for _, _, a, b in pairs}
        if min(min(sizes)) <= gap or sizes == {(1, 1)}:
            continue
        if len(sizes) == 1:
            ((high, wide),) = sizes
            setting, says = (
                f"high, wide = {high}, {wide}",
                f"blocks of {high - gap} by {wide - gap}",
            )
        elif len(counts) == 1:
            ((a, b),) = counts
            setting = f"high, wide = {_step('g', a, gap)}, {_step('g[0]', b, gap)}"
            says = f"{a} by {b} blocks"
        else:
            continue
        less = " - 1" if gap else ""
        lines = (
            setting,
            "def block(g, a, b):",
            f"    return [w for row in g[a : a + high{less}] for w in row[b : b + wide{less}]]",
            "blocks = [[block(g, a, b) for b in range(0, len(g[0]), wide)] for a in range(0, len(g), high)]",
            "g = [row[::wide] for row in g[::high]]",
        )
        terms = [
            Term("truth", "any(blocks[i][j])", "a block with a colour", 0.6),
            Term("truth", "all(blocks[i][j])", "a block without black", 0.7),
            Term("truth", "len(set(blocks[i][j])) == 1", "a block of one colour", 0.8),
            Term("number", "sum(map(bool, blocks[i][j]))", "the number of coloured cells of its block", 0.8),
            Term("number", "len(set(blocks[i][j]) - {0})", "the number of colours of its block", 1.0),
            Term("colour", "common(blocks[i][j])", "the most frequent colour of its block", 0.7),
            Term("colour", "rarest(blocks[i][j])", "the rarest colour of its block", 0.9),
            Term("colour", "max(blocks[i][j])", "the highest colour of its block", 0.9),
            Term("colour", "common([w for w in blocks[i][j] if w] or [0])", "the most frequent colour but black of its block", 0.8),
            Term("truth", "sum(map(bool, blocks[i][j])) == max(sum(map(bool, b)) for line in blocks for b in line)", "a block with the most coloured cells", 1.2),
            Term("truth", "sum(map(bool, blocks[i][j])) == min(sum(map(bool, b)) for line in blocks for b in line)", "a block with the fewest coloured cells", 1.2),
            *(Term("number", f"blocks[i][j].count({c})", f"the number of {colour_name(c)} cells of its block", 0.9) for c in colours),
        ]  # fmt: skip
        yield Frame(lines, f"make each of the {says} one cell and", 1.2, tuple(terms))


def _tiles(pairs: list[tuple[int, int, int, int]]) -> Iterator[Frame]:
    """Yield frames in which the output repeats the grid.

    The grid is repeated once for each of its own cells, or a fixed number of times.
    """
    factors = {(a / h, b / w) for h, w, a, b in pairs}
    whole = [(a, b) == (h * h, w * w) for h, w, a, b in pairs]
    if all(whole):
        lines = ("small = g", _laid("len(g)", "len(g[0])"))
        scaled = "small[i // len(small)][j // len(small[0])]"
        yield _tile_frame(lines, scaled, "as often as it has cells")
    if len(factors) != 1:
        return
    ((high_times, wide_times),) = factors
    a, b = int(high_times), int(wide_times)
    if (a, b) != (high_times, wide_times) or all(whole):
        return
    lines = ("small = g", _laid(str(a), str(b)))
    yield _tile_frame(lines, f"small[i // {a}][j // {b}]", f"{a} by {b} times")


def _laid(down: str, across: str) -> str:
    """Return the line that repeats the grid, cut to the largest allowed size.

    Without the cut, the tiles of larger inputs would have millions of cells.
    """
    return f"g = [(row * {across})[:{MAX_SIDE}] for row in g * {down}][:{MAX_SIDE}]"


def _tile_frame(lines: tuple[str, ...], scaled: str, often: str) -> Frame:
    terms = (
        Term("colour", scaled, "the cell of the small grid at this place of the large one", 0.6),
        Term("truth", "i // len(small) % 2", "in an odd row of tiles, counted from 0", 1.0),
        Term("truth", "j // len(small[0]) % 2", "in an odd column of tiles, counted from 0", 1.0),
        Term("truth", "(i // len(small) + j // len(small[0])) % 2", "in every second tile", 1.1),
        Term("colour", "small[-1 - i % len(small)][j % len(small[0])]", "the tile upside down", 1.2),
        Term("colour", "small[i % len(small)][-1 - j % len(small[0])]", "the tile mirrored", 1.2),
        Term("colour", "small[-1 - i % len(small)][-1 - j % len(small[0])]", "the tile turned by half a turn", 1.3),
    )  # fmt: skip
    return Frame(lines, f"lay out the grid {often} and", 1.2, terms)
