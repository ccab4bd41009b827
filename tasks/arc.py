"""Task `arc`: an unknown function from a grid to a grid, of 1 to 30 rows and columns (ARC-AGI-2).

Read are the folders of the ARC-AGI repositories (data/training and data/evaluation, a JSON file a
task, its id the name of the file), Kaggle's challenges with the solutions file beside them, the
same tasks as JSONL (`idx` or `id`, `train`, `test`), and a folder of any of these. A task that
stands in several files with the same pairs, as those of Kaggle's test challenges do, is read once.

`--observations N` draws from the train and test pairs together, as GEAR's section 4.1 says; the
published code draws from the train pairs alone, since it reads no solutions. Its own draws are run
by `--observations FILE`. Which pool was used is told each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Problem
from .grids import GridTask
from .sentences import warn


class Arc(GridTask):
    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        drawn = super().observe(problems, observations, seed)
        if observations.strip().isdecimal():
            warn(
                f"--observations {observations.strip()} draws from the train and test pairs of a"
                " task together (GEAR, section 4.1); the published code drew from train pairs"
                " alone, and its draws are run by --observations FILE"
            )
        return drawn


TASK = Arc(
    name="arc",
    about="a function from a grid of colours to another (ARC-AGI-2)",
    takes="the published folders of ARC-AGI, Kaggle's files, or JSONL",
    commands=(
        "peirce run arc --problems 12",
        "peirce run arc --data ARC-AGI-2 --sample 100 --model openai:NAME",
        "peirce tasks show arc --problems 1",
    ),
    files=tuple(
        name + end
        for name in ("arc_2025.jsonl", "arc.jsonl", "arc-agi.jsonl")
        for end in ("", ".gz")
    ),
    folders=(("data/training", "data/evaluation"), ("training", "evaluation")),
    challenges=True,
)
