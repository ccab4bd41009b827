"""Select easy or hard problems among the generated problems of the program tasks.

A problem is easy if its rule has one step and its shown grids have at most 64 cells each. A problem
of ACRE is easy if direct evidence identifies all objects that can be identified as blickets. All
other problems are hard. Problems with the selected difficulty are taken, in order, from the
problems that the task generates without this selection.
"""

from __future__ import annotations

from typing import Any

from ...records import Json, Problem, UsageError

DIFFICULTIES = ("easy", "hard")
KINDS = ("difficulty",)  # options of `peirce tasks generate` that the program tasks take
MAX_EASY_CELLS = 64  # most cells of a shown grid in an easy problem
MAX_GENERATED = 4_000  # most problems that are generated to find enough, or
MAX_GENERATED_PER_PROBLEM = 40  # times the requested number, whichever is more


def is_easy(problem: Problem) -> bool:
    """Return whether a generated problem is easy; the module docstring defines this."""
    if problem.task in ("mini_arc", "arc") and any(
        count_cells(grid) > MAX_EASY_CELLS
        for pair in problem.shown
        for grid in (pair.input, pair.output)
    ):
        return False
    if "on indirect" in problem.secret.get("objects", {}).values():
        return False
    return bool(problem.secret.get("steps", 1) == 1)


def count_cells(grid: Json) -> int:
    """Return the number of cells of a grid, rows times columns."""
    return len(grid) * len(grid[0]) if grid else 0


def generate_with_difficulty(source: Any, count: int, seed: int, difficulty: str) -> list[Problem]:
    """Return the first `count` generated problems with the selected difficulty.

    Args:
        source: the task that generates the problems.
        count: the number of problems.
        seed: the seed of the problems.
        difficulty: "easy" or "hard".

    Raises:
        UsageError: the task generates too few such problems, or `difficulty` is unknown.
    """
    if difficulty not in DIFFICULTIES:
        raise UsageError(f"--difficulty {difficulty}: it must be one of {', '.join(DIFFICULTIES)}")
    most = max(MAX_GENERATED, MAX_GENERATED_PER_PROBLEM * count)
    tried = 2 * count
    while True:
        found = [
            one for one in source.generate(tried, seed) if is_easy(one) == (difficulty == "easy")
        ]
        if len(found) >= count:
            return found[:count]
        if tried >= most:
            raise UsageError(
                f"--problems {count}: only {len(found):,} of the first {tried:,} problems of"
                f" seed {seed} are {difficulty}; request fewer, or use several seeds"
            )
        tried = min(most, max(2 * tried, int(1.2 * tried * count / max(1, len(found)))))
