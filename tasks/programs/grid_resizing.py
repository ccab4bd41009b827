"""Catalogue of the steps of grid rules that change the size of the grid.

`SIZE_CHANGING_STEPS` crop, repeat, stretch, halve or count; only rules for `arc` contain them. The
steps that keep the size, and what a step consists of, are in `grid_rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from .grid_rules import (
    ANY_PICTURES,
    FIND_OBJECTS_CODE,
    TRANSPOSE_CODE,
    ParameterSampler,
    Step,
    describe_colour,
)


def crop_step(draw: ParameterSampler) -> Step:
    """Draw a step that cuts out a bounding box."""
    box = (
        "rows, columns = [i for i, _ in cells], [j for _, j in cells]\n"
        "g = [row[min(columns):max(columns) + 1] for row in g[min(rows):max(rows) + 1]]"
    )
    (a,) = draw.sample_colours(1)
    at = "cells = [(i, j) for i, row in enumerate(g) for j, v in enumerate(row) if {}]\n"
    code, says, pictures, wanted = [
        (at.format("v") + box, "cut out the box around all that is coloured",
         ("object", "blobs"), ()),
        (at.format(f"v == {a}") + box, f"cut out the box around all that is {describe_colour(a)}",
         ("blobs", "rectangles"), (a,)),
        (f"{FIND_OBJECTS_CODE}cells = max(objects, key=len)\n" + box,
         "cut out the box around the largest object", ("blobs", "rectangles"), ()),
    ][draw.randint(0, 2)]  # fmt: skip
    return Step("crop", code, says, pictures, False, wanted)


def repeat_step(draw: ParameterSampler) -> Step:
    """Draw a step that tiles the grid or stretches its cells."""
    down, across = [(1, 2), (2, 1), (2, 2), (3, 3), (1, 3)][draw.randint(0, 4)]
    code, says = [
        (f"g = [row * {across} for row in g] * {down}",
         f"tile the grid, {down} by {across}"),
        (f"g = [[v for v in row for _ in range({across})] for row in g for _ in range({down})]",
         f"stretch each cell to {down} by {across}"),
    ][draw.randint(0, 1)]  # fmt: skip
    return Step("repeat", code, says, ANY_PICTURES, False)


def extend_step(draw: ParameterSampler) -> Step:
    """Draw a step that adds mirror images to the grid."""
    code, says = [
        ("g = [row + row[::-1] for row in g]", "append the mirror image on the right"),
        ("g = g + g[::-1]", "append the mirror image below"),
        ("g = [row + row[::-1] for row in g]\ng = g + g[::-1]",
         "append the mirror image on the right, then that of all below"),
        ("g = [row[::-1] + row for row in g]", "put the mirror image on the left"),
    ][draw.randint(0, 3)]  # fmt: skip
    return Step("extend", code, says, ANY_PICTURES, False)


def halves_step(draw: ParameterSampler) -> Step:
    """Draw a step that combines two halves of the grid by a logical operation."""
    (a,) = draw.sample_colours(1)
    test, says = [
        ("v and w", "both are coloured"),
        ("v or w", "either is coloured"),
        ("bool(v) != bool(w)", "exactly one is coloured"),
        ("not v and not w", "none is coloured"),
        ("v and not w", "only the first is coloured"),
    ][draw.randint(0, 4)]
    lay = "half = len(g[0]) // 2\ng = [[{0} if {1} else 0 for v, w in zip(row[:half], row[-half:])] for row in g]"
    code, sides = lay.format(a, test), "left and right"
    if draw.rng.random() < 0.5:
        code, sides = f"{TRANSPOSE_CODE}\n{code}\n{TRANSPOSE_CODE}", "upper and lower"
    what = (
        f"lay the {sides} halves on each other, and make a cell {describe_colour(a)} where {says}"
    )
    return Step("halves", code, what, ("noise",), False)


def part_step(draw: ParameterSampler) -> Step:
    """Draw a step that keeps a half of the grid, or removes rows, columns or the border."""
    code, says = [
        ("g = g[:len(g) // 2]", "keep the upper half"),
        ("g = g[-(len(g) // 2):]", "keep the lower half"),
        ("g = [row[:len(row) // 2] for row in g]", "keep the left half"),
        ("g = [row[-(len(row) // 2):] for row in g]", "keep the right half"),
        ("g = [row for row in g if any(row)]", "delete empty rows"),
        ("g = [list(row) for row in zip(*[row for row in zip(*g) if any(row)])]",
         "delete empty columns"),
        ("g = [row for i, row in enumerate(g) if i == 0 or row != g[i - 1]]",
         "delete rows that repeat the one above"),
        ("g = [row[1:-1] for row in g[1:-1]]", "cut off the border"),
        ("g = [row[::2] for row in g[::2]]", "keep every second row and column, from the first"),
    ][draw.randint(0, 8)]  # fmt: skip
    return Step("part", code, says, ("dots", "blobs", "noise"), False)


def border_step(draw: ParameterSampler) -> Step:
    """Draw a step that puts a frame around the grid."""
    (a,) = draw.sample_colours(1)
    code = (
        f"g = [[{a}] + row + [{a}] for row in g]\ng = [[{a}] * len(g[0])] + g + [[{a}] * len(g[0])]"
    )
    return Step(
        "border", code, f"put a frame of {describe_colour(a)} around the grid", ANY_PICTURES, False
    )


def fractal_step(draw: ParameterSampler) -> Step:
    """Return the step that replaces each coloured cell by a copy of the complete grid."""
    code = "g = [[v if u else 0 for u in outer for v in inner] for outer in g for inner in g]"
    return Step("fractal", code, "replace each coloured cell by the whole grid, and each other cell"
                " by as much background", ("noise",), False)  # fmt: skip


def count_step(draw: ParameterSampler) -> Step:
    """Draw a step whose output counts objects or colours."""
    (a,) = draw.sample_colours(1)
    tally = (
        "counts = sorted(((sum(row.count(c) for row in g), -c) for c in range(1, 10)), reverse=True)\n"
        "counts = [(n, -c) for n, c in counts if n]\n"
    )
    code, says, pictures = [
        (f"{FIND_OBJECTS_CODE}g = [[{a}] * len(objects)]",
         f"draw a row of {describe_colour(a)} as long as there are objects", ("blobs",)),
        (f"{tally}g = [[c] * n + [0] * (counts[0][0] - n) for n, c in counts]",
         "draw for each colour a row as long as it has cells, most first, the lower colour first"
         " of two", ("dots", "blobs")),
        (f"{tally}g = [[c for _, c in counts]]",
         "list the colours by how many cells they have, most first, the lower first of two",
         ("noise", "full")),
    ][draw.randint(0, 2)]  # fmt: skip
    return Step("count", code, says, pictures, False)


SIZE_CHANGING_STEPS: tuple[Callable[[ParameterSampler], Step], ...] = (
    crop_step, repeat_step, extend_step, halves_step, part_step, border_step, fractal_step, count_step,
)  # fmt: skip
