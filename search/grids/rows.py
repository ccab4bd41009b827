"""Steps that remove, sort, repeat or paint entire rows and columns."""

from __future__ import annotations

from collections.abc import Iterator

from .goal import Facts
from .grammar import Step

TURN = "g = [list(row) for row in zip(*g)]"


def row_and_column_steps(code: str, says: str, price: float, both: bool = False) -> list[Step]:
    """Return a step on rows and the same step on columns.

    Args:
        code: Python code of the step on rows.
        says: Description of the step, with the placeholders {row} and {rows}.
        price: Cost of the step on rows, which is also the cost of the step on columns.
        both: Whether to add a third step that changes rows and then columns. It costs 0.2 more.
    """
    made = [
        Step(code, says.format(row="row", rows="rows"), price),
        Step(f"{TURN}\n{code}\n{TURN}", says.format(row="column", rows="columns"), price),
    ]
    if both:
        made.append(
            Step(
                f"{code}\n{TURN}\n{code}\n{TURN}",
                says.format(row="row and column", rows="rows and columns"),
                price + 0.2,
            )
        )
    return made


SHRINKING = [
    *row_and_column_steps("g = [row for row in g if any(row)] or g", "remove the empty {rows}", 2.8, True),
    *row_and_column_steps(
        "g = [row for k, row in enumerate(g) if not k or row != g[k - 1]]",
        "make equal {rows} that follow each other one",
        2.9,
        True,
    ),
    *row_and_column_steps(
        "g = [row for k, row in enumerate(g) if row not in g[:k]]",
        "keep the first of equal {rows}",
        3.0,
        True,
    ),
    *row_and_column_steps(
        "g = [row for row in g if len(set(row)) > 1] or g",
        "remove the {rows} of one colour",
        3.1,
        True,
    ),
    *row_and_column_steps("g = [row for row in g if len(set(row)) == 1] or g", "keep the {rows} of one colour", 3.3),
    *row_and_column_steps("g = [row for row in g if all(row)] or g", "keep the full {rows}", 3.3),
    *row_and_column_steps("g = g[::2]", "keep every second {row}", 3.1),
    *row_and_column_steps("g = g[1::2]", "keep every second {row}, from the second on", 3.2),
    *row_and_column_steps("g = [max(g, key=lambda row: sum(v > 0 for v in row))]", "keep the fullest {row}", 3.3),
    *row_and_column_steps("g = g[:1]", "keep the first {row}", 3.1),
    *row_and_column_steps("g = g[-1:]", "keep the last {row}", 3.1),
]  # fmt: skip
KEEPING = [
    *row_and_column_steps("g = [sorted(row) for row in g]", "sort each {row} by its numbers", 3.0),
    *row_and_column_steps("g = [sorted(row)[::-1] for row in g]", "sort each {row} downwards", 3.1),
    *row_and_column_steps("g = sorted(g)", "sort the {rows}", 3.1),
    *row_and_column_steps(
        "g = sorted(g, key=lambda row: sum(v > 0 for v in row))",
        "sort the {rows} by how many coloured cells they have",
        3.1,
    ),
    *row_and_column_steps(
        "g = sorted(g, key=lambda row: -sum(v > 0 for v in row))",
        "sort the {rows} by how many coloured cells they have, most first",
        3.2,
    ),
    *row_and_column_steps(
        "g = [[most([row])] * len(row) for row in g]",
        "paint each {row} with its most frequent colour but black (0)",
        3.0,
    ),
    *row_and_column_steps(
        "g = [[max(row, key=row.count)] * len(row) for row in g]",
        "paint each {row} with its most frequent colour",
        3.1,
    ),
    *row_and_column_steps(
        "g = [[v or most([row]) for v in row] for row in g]",
        "fill the black (0) cells of each {row} with its most frequent colour",
        3.1,
    ),
    *row_and_column_steps("g = [row[:1] * len(row) for row in g]", "paint each {row} with its first colour", 3.1),
    *row_and_column_steps("g = [row[-1:] * len(row) for row in g]", "paint each {row} with its last colour", 3.2),
    *row_and_column_steps("g = [onward(row) for row in g]", "draw every colour on along its {row} until the next", 3.2),
    *row_and_column_steps(
        "g = [onward(row[::-1])[::-1] for row in g]",
        "draw every colour back along its {row} until the next",
        3.3,
    ),
]  # fmt: skip


def steps(facts: Facts) -> Iterator[Step]:
    """Yield the steps on rows and columns.

    Steps that cannot help in the state that `facts` describes are left out.
    """
    if facts.may_shrink:
        yield from SHRINKING
    if facts.may_keep_size:
        yield from KEEPING
