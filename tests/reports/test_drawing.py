"""`peirce tasks show` draws grids as lines of digits, in colours on a terminal that has them.

Internals: lines are drawn for terminals of several widths and colours.
"""

from __future__ import annotations

import io

from peirce.reports.screen.listings import draw_grid_pair, print_problem
from rich.console import Console

PROBLEM = {
    "id": "a",
    "task": "arc",
    "space": 3,
    "shown": [[[[1, 0], [0, 2]], [[1, 0, 2]]]],
    "hidden": [[[1, 2], [2]]],
    "public": {},
    "secret": {"rule": "def f(g):\n    return g\n", "steps": 1},
}


def test_a_problem_is_drawn_row_by_row() -> None:
    out = io.StringIO()
    print_problem(Console(file=out, width=100, markup=False), PROBLEM)
    assert out.getvalue().splitlines() == [
        "arc, problem a: 1 shown and 1 hidden observations, sample space of 3 inputs",
        "  shown, 2 by 2 -> 1 by 3",
        "     1 0  ->   1 0 2",
        "     0 2",
        "  hidden  [1, 2] -> [2]",
        "  hidden rule: ",
        "    def f(g):",
        "        return g",
        "  hidden steps: 1",
    ]


def test_colours_come_on_a_terminal_alone() -> None:
    for color, terminal in ((None, False), ("truecolor", True)):
        out = io.StringIO()
        console = Console(file=out, width=100, force_terminal=terminal, color_system=color)  # type: ignore[arg-type]
        print_problem(console, PROBLEM)
        assert ("\x1b[" in out.getvalue()) == terminal


def test_the_largest_grids_fit_a_terminal() -> None:
    lines = draw_grid_pair([[7] * 30] * 30, [[8] * 30] * 30)
    assert len(lines) == 30 and {len(line) for line in lines} == {66}
    assert len(draw_grid_pair([[1]], [[2]])[0]) == 2 + 6 + 2
