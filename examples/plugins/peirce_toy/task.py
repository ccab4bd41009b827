"""Task `between`: numbers, and whether each lies between two hidden bounds.

A file for `--data` is JSON Lines: {"id": "a", "pairs": [[5, true], [40, false]], "hidden": [[7, true]]}.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from peirce.records import DataError, InputSet, Json, Observation, Problem

from .family import NAME

LARGEST = 99


def _problem(name: str, low: int, high: int, numbers: list[int]) -> Problem:
    pairs = tuple(Observation(number, low <= number <= high) for number in numbers)
    return Problem(name, "between", NAME, pairs[:6], pairs[6:], secret={"rule": f"{low}..{high}"})


def _pair(number: Json, inside: Json) -> Observation:
    if type(number) is not int or type(inside) is not bool:
        raise ValueError(f"not [whole number, true or false]: {[number, inside]!r:.60}")
    return Observation(number, inside)


class Between:
    """A `records.Task`; `takes` and `commands` are what `peirce between` shows."""

    name = "between"
    family = NAME
    about = "two hidden bounds, from numbers that are in or out (a toy)"
    takes = "JSON Lines: an id, pairs [number, true or false], hidden pairs in the same form"
    commands = ("peirce run between --problems 5", "peirce run between --method patient")
    files = ("between.jsonl",)

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        found = []
        try:
            lines = Path(path).read_text("utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                shown, hidden = (
                    tuple(_pair(*pair) for pair in row.get(key, ())) for key in ("pairs", "hidden")
                )
                found.append(Problem(str(row["id"]), self.name, NAME, shown, hidden))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise DataError(f"{path}, line {number}: {error}") from None
        return found

    def generate(self, count: int, seed: int) -> list[Problem]:
        made = []
        for k in range(count):
            draw = random.Random(f"{seed}:{k}")
            low = draw.randrange(60)
            made.append(
                _problem(f"gen{seed}-{k}", low, low + 5 + draw.randrange(30),
                         draw.sample(range(LARGEST + 1), 12))
            )  # fmt: skip
        return made

    def space(self, problem: Problem, seed: int) -> InputSet:
        return InputSet("numbers", tuple(range(LARGEST + 1)))

    def read_input(self, value: Json, where: str) -> Json:
        """A number of `--space` or of `peirce predict`. A `records.tasks.ReadsInputs`."""
        if type(value) is not int:
            raise DataError(f"{where}: must be a whole number, not {value!r:.40}")
        return value


TASK = Between()
