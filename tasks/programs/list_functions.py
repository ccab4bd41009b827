"""Task `list_functions`: an unknown function from a list of integers to a list of integers.

Loads the published JSONL (an object a line: `idx`, `train`, `test`; pairs whose values are
strings such as `"[3, 4]"`, lists being read as well), and makes problems of its own
(list_generator.py).

The sample space is the one that GEAR's section 4.2 describes, of 14,101 lists: the empty list,
the 100 singletons, 1,000 for each length from 2 to 15, elements uniform in 0..99 and free to
repeat, the lists of one length distinct. The published code draws 15,101 lists without repeated
elements, on which "identity" and "remove duplicates" cannot be told apart. Singletons stand in
order, the lists of a length in the order in which they were drawn, so any prefix of a stratum is
a sample of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache

from ...records import DataError, InputSet, Json, Observation, Problem
from ..io import observations as observations_
from ..io.json_text import literal
from ..io.messages import shorten
from ..io.problem_lines import Row, id_of, pairs_of, read_problems, secret_of
from .difficulty import KINDS

FILES = tuple(
    name + end for name in ("list_function.jsonl", "list_functions.jsonl") for end in ("", ".gz")
)


class ListFunctions:
    name = "list_functions"
    family = "programs"
    about = "a function from a list of integers to a list of integers (Rule 2020)"
    takes = "list_function.jsonl as published: a problem a line, its pairs under train and test"
    commands = (
        "peirce run list_functions --problems 12 --observations 4",
        "peirce run list_functions --data list_function.jsonl --sample 100 --observations 4",
        "peirce tasks show list_functions --problems 1",
    )
    files = FILES
    kinds = KINDS

    def load(self, path: str, observations: str | None, seed: int) -> list[Problem]:
        loaded = read_problems(path, FILES, _problem)
        return loaded if observations is None else self.observe(loaded, observations, seed)

    def observe(self, problems: Sequence[Problem], observations: str, seed: int) -> list[Problem]:
        return observations_.apply(problems, observations, seed, _pair)

    def generate(self, count: int, seed: int) -> list[Problem]:
        from .list_generator import generate

        return generate(count, seed)

    def space(self, problem: Problem, seed: int) -> InputSet:
        return space(seed)

    def read_input(self, value: Json, where: str) -> Json:
        return integers(value, where)


def _problem(row: Row, where: str) -> Problem:
    name = id_of(row, where)
    return Problem(
        id=name,
        task=ListFunctions.name,
        family=ListFunctions.family,
        shown=_pairs(row, "train", where),
        hidden=_pairs(row, "test", where),
        secret=secret_of(row, where),
        group=name,
    )


def _pairs(row: Row, part: str, where: str) -> tuple[Observation, ...]:
    return tuple(
        _pair(pair["input"], pair["output"], place) for place, pair in pairs_of(row, part, where)
    )


def _pair(given: Json, output: Json, where: str) -> Observation:
    return Observation(integers(given, f"{where}.input"), integers(output, f"{where}.output"))


def integers(value: Json, where: str) -> Json:
    """A list of integers, or the string that says one."""
    found = literal(value, where) if isinstance(value, str) else value
    if not isinstance(found, list) or any(type(item) is not int for item in found):
        raise DataError(f"{where}: not a list of integers: {shorten(value)}")
    return found


# --- the sample space ----------------------------------------------------------


def stratum(rng: random.Random, length: int, low: int, high: int, count: int) -> list[list[int]]:
    """`count` distinct lists of `length` elements uniform in low..high, or all where fewer exist.

    Only `Random.random` is used, whose stream Python promises to keep.
    """
    width = high - low + 1
    if width**length <= count:
        whole: list[list[int]] = [[]]
        for _ in range(length):
            whole = [[*start, v] for start in whole for v in range(low, high + 1)]
        return whole
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < count:
        drawn.setdefault(tuple(low + int(rng.random() * width) for _ in range(length)))
    return [list(row) for row in drawn]


@lru_cache(maxsize=4)
def space(seed: int) -> InputSet:
    """14,101 lists; one seed gives one space on any machine. Treat it as read-only."""
    rng = random.Random(f"list_functions space {seed}")
    rows: list[Json] = []
    for length in range(16):
        rows += stratum(rng, length, 0, 99, 1_000)
    return InputSet(f"list_functions space, seed {seed}", tuple(rows))


TASK = ListFunctions()
