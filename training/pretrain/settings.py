"""The settings of a pretraining, which determine its data and its result, and their digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import model_validator
from pydantic_core import ErrorDetails

from ...records import Digest, Json, UsageError, digest_of
from ...records.settings import Number, Settings, describe_type, setting

VERSION = 3  # version of corpus and training; another version gives another model
TASKS = ("list_functions", "acre", "mini_arc", "arc")
ARCHITECTURES = ("llama", "gpt_neox")
# Hidden size, intermediate size, layers, heads, vocabulary size, rows per batch.
SIZES: Mapping[str, tuple[int, int, int, int, int, int]] = {
    "small": (128, 352, 4, 4, 1_500, 16),
    "large": (512, 1_408, 8, 8, 4_000, 32),
}
CONTEXT_TOKENS = 2_048  # context length in tokens; a session asks for answers of 1,024 at most
ROW_TOKENS = 320  # tokens per row in training


@dataclass(frozen=True)
class Shares:
    """The shares of answers with each deliberate fault, from 0 to 1.

    A malformed answer cannot be parsed. A wrong answer is a program that does not depend on the
    observations. A narrow answer restricts a correct program to inputs like the shown inputs. A
    constant answer returns the shown output for every input.
    """

    malformed: float = 0.08
    wrong: float = 0.06
    narrow: float = 0.08
    constant: float = 0.03


class PretrainSettings(Settings):
    """The settings of a pretraining. If `tokens` is set, they determine the trained weights.

    If `tokens` is None, the training ends after `minutes`, so the weights also depend on the
    machine's speed.
    """

    architecture: Literal["llama", "gpt_neox"] = setting(
        "llama", "Architecture of the model: llama or gpt_neox."
    )
    size: Literal["small", "large"] = setting(
        "small", "Size of the model: small (for a CPU) or large (for a GPU)."
    )
    minutes: Number = setting(
        14.0, "Training time in minutes, not counting the generation of the corpus.", gt=0
    )
    tokens: int | None = setting(
        None, "Number of tokens to train on instead of a time limit; the same settings then"
              " give the same weights on one machine.", ge=1,
    )  # fmt: skip
    seed: int = setting(0, "Random seed for drawing the data and for the initial weights.")
    template: Literal["compact"] = setting("compact", "Template of the prompts.")
    tasks: Mapping[str, Number] = setting(
        {"list_functions": 0.7, "acre": 0.22, "mini_arc": 0.05, "arc": 0.03},
        "Tasks to train on, with each task's share of the examples.",
    )
    shares: Shares = setting(Shares(), "Shares of answers with each kind of fault.")
    faults_from: Number = setting(
        0.6, "Fraction of the training, from 0 to 1, before which no answer has a fault."
    )
    problems: Mapping[str, int] = setting(
        {"list_functions": 700, "acre": 900, "mini_arc": 1_000, "arc": 1_000},
        "Number of generated problems per task that the search solves to build the corpus.",
    )

    rows: int | None = setting(None, "Rows per batch (default: by the size).", ge=1)
    programs: int | None = setting(
        None, "Maximum number of programs per task, the most likely ones (default: by the task).",
        ge=1,
    )  # fmt: skip

    @model_validator(mode="after")
    def _has_tasks(self) -> Self:
        if not self.tasks:
            raise UsageError(f"no tasks to pretrain on: choose from {', '.join(TASKS)}")
        for name, share in self.tasks.items():
            if name not in TASKS:
                raise UsageError(f"unknown task {name!r}: it must be one of {', '.join(TASKS)}")
            if not share > 0:
                raise UsageError(f"the share of task {name!r} is {share}: it must be above 0")
        return self

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """Return one sentence that explains why a value is invalid."""
        if error["type"] == "literal_error":
            name = str(error["loc"][0])
            valid = describe_type(cls.model_fields[name].annotation)
            return f"unknown {name} {error['input']!r}: it must be {valid}"
        return super().describe_error(error, data)

    def as_json(self) -> dict[str, Json]:
        """Return the settings as a JSON object, without the settings that have no effect."""
        unused = {"minutes"} if self.tokens is not None else set()  # it decides nothing then
        # Without a value, the digest is that of models from before these settings existed.
        unused |= {name for name in ("rows", "programs") if getattr(self, name) is None}
        return {"version": VERSION, **self.model_dump(exclude=unused)}

    @property
    def digest(self) -> Digest:
        """The digest of the settings and of the version of the training code."""
        return digest_of(self.as_json())
