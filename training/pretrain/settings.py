"""What a pretraining is: all that decides its data and its course, and a digest of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ...records import Digest, Json, UsageError, digest_of

VERSION = 3  # of the corpus and the course: another one is another model
TASKS = ("list_functions", "acre", "mini_arc", "arc")
ARCHITECTURES = ("llama", "gpt_neox")
# Width, width between, layers, heads; entries of the tokenizer; rows of a batch.
SIZES: Mapping[str, tuple[int, int, int, int, int, int]] = {
    "small": (128, 352, 4, 4, 1_500, 16),
    "large": (512, 1_408, 8, 8, 4_000, 32),
}
CONTEXT = 2_048  # tokens that a model holds: a session asks for answers of 1,024 at most
WIDTH = 320  # tokens of a row in training


@dataclass(frozen=True)
class Shares:
    """Of answers that are not as they should be (imperfections.py)."""

    malformed: float = 0.08
    wrong: float = 0.06
    narrow: float = 0.08
    constant: float = 0.03


@dataclass(frozen=True)
class PretrainSettings:
    """minutes: of training, after the corpus is made; with `tokens` training ends after so many
    instead, and the same settings then give the same weights on one machine. tasks: with shares of
    the lessons. faults_from: the part of the course, from 0 to 1, before which no answer has a fault.
    problems: generated ones that the search answers for the library, by task."""

    architecture: str = "llama"
    size: str = "small"
    minutes: float = 14.0
    tokens: int | None = None
    seed: int = 0
    template: str = "compact"
    tasks: Mapping[str, float] = field(
        default_factory=lambda: {"list_functions": 0.7, "acre": 0.22, "mini_arc": 0.05, "arc": 0.03}
    )
    shares: Shares = Shares()
    faults_from: float = 0.6
    problems: Mapping[str, int] = field(
        default_factory=lambda: {
            "list_functions": 700,
            "acre": 900,
            "mini_arc": 1_000,
            "arc": 1_000,
        }
    )

    def __post_init__(self) -> None:
        _one_of("architecture", self.architecture, ARCHITECTURES)
        _one_of("size", self.size, tuple(SIZES))
        _one_of("template", self.template, ("compact",))
        if not self.tasks:
            raise UsageError(f"no tasks to pretrain on: they are of {', '.join(TASKS)}")
        for name, share in self.tasks.items():
            _one_of("task", name, TASKS)
            if not share > 0:
                raise UsageError(f"the share of task {name!r} is {share}: it must be above 0")
        if not (math.isfinite(self.minutes) and self.minutes > 0):
            raise UsageError(f"minutes is {self.minutes}: it must be above 0")
        if self.tokens is not None and self.tokens < 1:
            raise UsageError(f"tokens is {self.tokens}: it must be at least 1")

    def as_json(self) -> dict[str, Json]:
        said: dict[str, Any] = asdict(self)
        if self.tokens is not None:
            said.pop("minutes")  # it decides nothing then
        return {"version": VERSION, **said}

    @property
    def digest(self) -> Digest:
        return digest_of(self.as_json())


def _one_of(name: str, given: str, valid: tuple[str, ...]) -> None:
    if given not in valid:
        raise UsageError(f"unknown {name} {given!r}: it is one of {', '.join(valid)}")
