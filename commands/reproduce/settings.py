"""The settings of `peirce reproduce gear-table4`. The defaults are those of the GEAR paper.

Settings of a training that are not listed here come from the YAML file of `config`, with the names
of `training.dpo.settings.TrainConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import field_validator

from ...records import Json, UsageError
from ...records.settings import Number, Settings, setting
from ...training.dpo.curriculum import SCHEDULES
from ...training.dpo.settings import MEMORY_SETTINGS

SINGLE = "single:"
PAPER_SCHEDULES = ("fixed", "momentum", "single:parsing", "single:consistency", "single:gear")
DEFAULT_FOLDER = "gear-table4"
# A later start may change these settings. The page of results names the problems that failed.
CHANGEABLE = ("out", "skip_failed")
# These settings concern trainings only, so they may change until the first training has begun.
OF_TRAININGS = ("examples", "period", "sample_answers", "train_config")
# These settings in the file of --train-config change nothing in the results, so they may always
# change.
UNIMPORTANT = (*MEMORY_SETTINGS, "save_every", "keep", "report_to")
# The pairs come from other models than the base, whose chat templates render prompts differently.
OWN_DEFAULTS: Mapping[str, Json] = {"render_anew": True}
# The pairs are built anew if one of these settings in the file changes.
OF_PAIRS = ("max_length", "render_anew")


class ReproductionConfig(Settings):
    """Settings of the experiment of GEAR's table 4: models, data and sizes."""

    panel = "Experiment"
    base: str | Path | None = setting(
        None, "Model to train: a folder, an id of the Hugging Face hub, or tiny for the small model"
              " that comes with Peirce.", metavar="NAME",
    )  # fmt: skip
    collect: Sequence[str] = setting(
        (), "Model whose sessions give the preference pairs, as for `peirce run --model`. May be"
            " repeated.", metavar="MODEL",
    )  # fmt: skip
    data: str | Path | None = setting(
        None, "Folder with the published data sets and observations: list_function.jsonl,"
              " acre.jsonl, miniarc.jsonl, arc_2025.jsonl or ARC-AGI-2/, each plain or .gz, and"
              " io_pairs/NAME_N.json for NAME list_function, acre, mini_arc and arc_2025, and N"
              " shown pairs. A data set may be missing.", metavar="DIR",
    )  # fmt: skip
    out: str | Path = setting(
        DEFAULT_FOLDER, "Folder of everything that the experiment makes.", metavar="DIR"
    )
    limit: int | None = setting(
        None, "Maximum number of published problems of each data set (default: all, 100 in the"
              " paper).", metavar="N", ge=1,
    )  # fmt: skip
    held_out: int = setting(
        40, "Maximum number of held-out problems of each data set in the evaluation.",
        metavar="N", ge=1,
    )  # fmt: skip
    max_answers: int = setting(
        25, "Maximum number of answers of a collecting model to one problem.", metavar="N", ge=1
    )
    rounds: int = setting(
        5, "Number of rounds of three answers in the evaluation.", metavar="N", ge=1
    )
    schedule: Sequence[str] = setting(
        PAPER_SCHEDULES, f"Schedule to train and evaluate: {', '.join(SCHEDULES)}. May be repeated"
                         " (default: those of the paper).", metavar="NAME",
    )  # fmt: skip
    examples: int = setting(
        51_200, "Total number of pairs drawn in each training.", metavar="N", ge=1
    )
    period: int = setting(
        1_280, "Number of examples between two probes of a training.", metavar="N", ge=1
    )
    sample_answers: int = setting(
        0, "Number of answers sampled in each period of a training, to watch for a collapse; 0"
           " samples none, as in the paper.", metavar="N", ge=0,
    )  # fmt: skip
    train_config: str | Path | None = setting(
        None, "YAML file with further settings of the trainings, as for `peirce train --config`.",
        metavar="FILE",
    )  # fmt: skip
    seed: int = setting(0, "Random seed of the splits, the sampled answers, the pairs and the trainings.")  # fmt: skip
    template: Literal["full", "compact"] = setting(
        "full", "Prompt template of all sessions: full, or compact for small models.",
        metavar="full|compact",
    )  # fmt: skip
    temperature: Number | None = setting(
        None, "Sampling temperature of all models (default: as each model sets it)."
    )
    top_p: Number | None = setting(
        0.9, "Probability mass of nucleus sampling for the base and the trained models."
    )
    max_tokens: int = setting(4_096, "Maximum number of tokens per answer.", metavar="N", ge=1)
    skip_failed: bool = setting(
        False, "Go on when problems of a session failed, for example because a prompt does not fit"
               " into a model (default: stop; the same command tries them again).",
    )  # fmt: skip
    collect_arg: Sequence[str] = setting(
        (), "Any other setting of the collecting models, as `peirce run --model-arg`. May be"
            " repeated.", metavar="K=V",
    )  # fmt: skip
    base_arg: Sequence[str] = setting(
        (), "Any other setting of the base and the trained models in the evaluation. chat_template"
            " and variables of the template also count for the pairs and the trainings. May be"
            " repeated.", metavar="K=V",
    )  # fmt: skip

    @field_validator("schedule")
    @classmethod
    def _has_known_schedules(cls, value: Sequence[str]) -> Sequence[str]:
        for name in value:
            if name not in SCHEDULES:
                raise ValueError(f"schedule is {name!r}: it must be one of {', '.join(SCHEDULES)}")
        order = dict.fromkeys((*PAPER_SCHEDULES, *SCHEDULES))
        return tuple(one for one in order if one in value)

    def check_required(self) -> None:
        """Raise UsageError if the base, the collecting models or the data are not set."""
        if self.base is None:
            raise UsageError(
                "no model to train is given: add --base NAME (a folder, or an id of the Hugging"
                " Face hub), or --base tiny for the small model that comes with Peirce"
            )
        if not self.collect:
            raise UsageError(
                "no collecting model is given: add --collect MODEL, such as openai:NAME,"
                " http://host:port/v1#NAME, hf:FOLDER or search; it may be repeated"
            )
        if self.data is None:
            raise UsageError(
                "no data is given: add --data DIR, a folder with list_function.jsonl, acre.jsonl,"
                " miniarc.jsonl or arc_2025.jsonl and the observations io_pairs/NAME_N.json"
            )

    def decisive_settings(self) -> dict[str, Json]:
        """Return the settings that determine the results. Only the others may change later."""
        return {name: one for name, one in self.to_dict().items() if name not in CHANGEABLE}


class CostAssumptions(Settings):
    """Figures from which a dry run estimates tokens, GPU hours and disk space.

    The rates are assumptions about a model of 7.6 billion parameters on one GPU of 80 GB, and are
    scaled by the number of parameters.
    """

    panel = "Estimate"
    base_size: str | None = setting(
        None, "Number of parameters of the base, such as 7.6B (default: from its files, or from its"
              " name).", metavar="SIZE",
    )  # fmt: skip
    answer_tokens: int = setting(200, "Tokens of an answer, without reasoning.", metavar="N", ge=1)
    answers_per_problem: Number = setting(
        3.7, "Answers of a collecting model to a problem (3.7 in the paper, on average).",
        metavar="X", gt=0,
    )  # fmt: skip
    sample_rate: Number = setting(
        400.0, "Tokens per second that a local 7.6B model samples.", metavar="X", gt=0
    )
    train_rate: Number = setting(
        3_000.0, "Tokens per second in the training of a 7.6B model, forward and backward, with LoRA"
                 " in 4 bits.", metavar="X", gt=0,
    )  # fmt: skip
    read_rate: Number = setting(
        9_000.0, "Tokens per second that a 7.6B model reads without gradients.", metavar="X", gt=0
    )
