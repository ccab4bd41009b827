"""Easy and hard problems among those that are generated for the program tasks.

Easy: the rule is one step, and the grids that are shown have at most 64 cells; of ACRE, every object
that can be told to be a blicket is one by a scene that says so itself. Hard: the others. Problems are
those that the task generates without a difficulty, in the same order, the rest left out.
"""

from __future__ import annotations

from typing import Any

from ...records import Json, Problem, UsageError

DIFFICULTIES = ("easy", "hard")
KINDS = ("difficulty",)  # of `peirce tasks generate` that the program tasks take
CELLS = 64  # of a grid
TRIED = 4_000  # problems that are generated at most, or
PER_PROBLEM = 40  # so many for each that is asked for


def is_easy(problem: Problem) -> bool:
    """Of a generated problem."""
    if problem.task in ("mini_arc", "arc") and any(
        cells(grid) > CELLS for pair in problem.shown for grid in (pair.input, pair.output)
    ):
        return False
    if "on indirect" in problem.secret.get("objects", {}).values():
        return False
    return bool(problem.secret.get("steps", 1) == 1)


def cells(grid: Json) -> int:
    return len(grid) * len(grid[0]) if grid else 0


def of_difficulty(source: Any, count: int, seed: int, difficulty: str) -> list[Problem]:
    """The first `count` problems of the seed that are so. Raises UsageError where there are too few,
    and for another difficulty."""
    if difficulty not in DIFFICULTIES:
        raise UsageError(f"--difficulty {difficulty}: it is one of {', '.join(DIFFICULTIES)}")
    most = max(TRIED, PER_PROBLEM * count)
    tried = 2 * count
    while True:
        found = [
            one for one in source.generate(tried, seed) if is_easy(one) == (difficulty == "easy")
        ]
        if len(found) >= count:
            return found[:count]
        if tried >= most:
            raise UsageError(
                f"--problems {count}: of the first {tried:,} problems of seed {seed} {len(found):,} are"
                f" {difficulty}; ask for fewer, or take several seeds"
            )
        tried = min(most, max(2 * tried, int(1.2 * tried * count / max(1, len(found)))))
