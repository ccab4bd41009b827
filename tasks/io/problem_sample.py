"""Which problems of a data set a session works on: a draw without repeats (GEAR, section 4.1).

A problem's place in the draw is SHA-256 of (seed, its id): `--sample N` takes the first N places,
on any machine. So the problems of N are among those of a larger N, and one that is left out since
it has too few pairs for `--observations n` changes no other: sessions of n = 1 to 4 with one seed
are about the same problems. Their order stays that of the data. The draw says nothing of which
pairs are shown, which observations.py draws for each problem.

GEAR's own problems, 100 a data set by another generator, are run by `--observations FILE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ...records import Problem, UsageError
from .messages import warn


def draw(problems: Sequence[Problem], count: int, seed: int) -> list[Problem]:
    """`count` of the problems, or all with a warning where there are fewer. Raises `UsageError`
    for a count below 1."""
    if count < 1:
        raise UsageError(f"--sample {count}: at least 1 problem is needed")
    if count > len(problems):
        warn(f"--sample {count}: there are {len(problems)} problems, and all are taken")
    chosen = {p.id for p in sorted(problems, key=lambda p: _place(p.id, seed))[:count]}
    return [problem for problem in problems if problem.id in chosen]


def _place(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"sample of problems, seed {seed}: {name}".encode()).digest()
