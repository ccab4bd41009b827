"""The data of `peirce train --quick`: a small base model, and recorded answers of this model.

    recorded/base/            the base model: weights with 8 bits per number, config and tokenizer
    recorded/answers.jsonl    generated problems with their shown observations, and the base model's
                              answers with their verdicts

A session with the built-in search has only good answers, so its pairs teach neither the answer
format nor consistency. The recorded answers are good and bad. They come from the base model itself,
except for some good answers about lists, which come from the search. `python -m
peirce.commands.train.record_quick_base` creates the folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from ..agents.prompts.protocol import Template
from ..records import (
    DataError,
    InputSet,
    Json,
    Observation,
    UsageError,
    View,
    canonical_json,
    digest_of,
)
from ..records.private_files import write_folder
from ..tasks import load_family
from .pair_prompts import render_prompt
from .pair_table import PairTable
from .splits import Split
from .stages import Stage

FOLDER = Path(__file__).parent / "recorded"
BASE_FOLDER = FOLDER / "base"
ANSWERS_FILE = FOLDER / "answers.jsonl"
TASKS = ("list_functions", "acre")
MODEL_NAME = "recorded base"  # the name of the base as the author of an answer
VALIDATION_EVERY = 5  # every fifth problem is for validation
TEMPLATE: Template = "compact"
VARIABLES = "template_variables"  # in the settings of a set of pairs
_SCALE = ".scale"
_EMPTY = InputSet("S", ())


@dataclass(frozen=True)
class RecordedProblem:
    """A generated problem with recorded answers of the base model.

    Attributes:
        task: The name of the task.
        problem: The id of the problem.
        rule: The rule that generated the observations.
        shown: The shown observations.
        answers: The distinct answers, each as (verdict, text). The verdict is malformed,
            inconsistent or consistent.
    """

    task: str
    problem: str
    rule: str
    shown: tuple[Observation, ...]
    answers: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Json]:
        """Return this problem as a JSON object, as one line of the file contains it."""
        shown = [[one.input, one.output] for one in self.shown]
        return {"task": self.task, "problem": self.problem, "rule": self.rule, "shown": shown,
                "answers": [list(one) for one in self.answers]}  # fmt: skip

    def texts(self, verdict: str) -> list[str]:
        """Return the texts of the answers with the verdict `verdict`."""
        return [text for one, text in self.answers if one == verdict]


def read_recorded(task: str, path: Path = ANSWERS_FILE) -> list[RecordedProblem]:
    """Return the recorded problems of a task from a file."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["task"] == task:
            shown = tuple(Observation(*pair) for pair in row["shown"])
            answers = tuple((str(verdict), str(text)) for verdict, text in row["answers"])
            found.append(RecordedProblem(task, row["problem"], row["rule"], shown, answers))
    return found


def recorded_pairs(problems: Sequence[RecordedProblem]) -> PairTable:
    """Return the parsing pairs and consistency pairs of recorded answers, as a table without
    digest.
    """
    family = load_family("programs")
    prompts, splits, answers = [], [], dict[str, int]()
    rows: list[tuple[int, int, int, int]] = []
    for number, one in enumerate(problems):
        view = View(one.problem, one.task, "programs", one.shown, {}, _EMPTY)
        prompts.append(render_prompt(view, (), family.words, family.answer_formats[0], TEMPLATE))
        splits.append(Split.TRAIN if (number + 1) % VALIDATION_EVERY else Split.VALIDATION)
        bad, wrong, good = (
            one.texts(verdict) for verdict in ("malformed", "inconsistent", "consistent")
        )
        for stage, better, worse in (
            (Stage.PARSING, [*good, *wrong], bad),
            (Stage.CONSISTENCY, good, wrong),
        ):
            for chosen, rejected in product(better, worse):
                first, second = (
                    answers.setdefault(text, len(answers)) for text in (chosen, rejected)
                )
                rows.append((number, first, second, int(stage)))
    columns = np.array(rows, np.int32).reshape(-1, 4)
    return PairTable(
        prompts=prompts,
        prompt_task=[one.task for one in problems],
        prompt_problem=[one.problem for one in problems],
        prompt_split=splits,
        prompt_context=[0] * len(problems),
        answers=list(answers),
        answer_model=[MODEL_NAME] * len(answers),
        prompt=columns[:, 0],
        chosen=columns[:, 1],
        rejected=columns[:, 2],
        stage=columns[:, 3].astype(np.int8),
        digest="",
        settings={"template": TEMPLATE, "recorded": digest_of([one.as_json() for one in problems])},
    )


def join_tables(first: PairTable, second: PairTable) -> PairTable:
    """Return a table with the pairs of both tables, and with a new digest.

    The new table has the sessions and the recorded prompts of both tables. It has a length limit
    only if both have the same. Of other settings that both have, the value of `first` counts.

    Raises:
        UsageError: The sessions of the tables used different variables of the chat template.
    """
    _check_variables(first, second)
    prompts, answers = len(first.prompts), len(first.answers)
    return PairTable(
        prompts=[*first.prompts, *second.prompts],
        prompt_task=[*first.prompt_task, *second.prompt_task],
        prompt_problem=[*first.prompt_problem, *second.prompt_problem],
        prompt_split=[*first.prompt_split, *second.prompt_split],
        prompt_context=[*first.prompt_context, *second.prompt_context],
        answers=[*first.answers, *second.answers],
        answer_model=[*first.answer_model, *second.answer_model],
        prompt=np.concatenate([first.prompt, second.prompt + np.int32(prompts)]),
        chosen=np.concatenate([first.chosen, second.chosen + np.int32(answers)]),
        rejected=np.concatenate([first.rejected, second.rejected + np.int32(answers)]),
        stage=np.concatenate([first.stage, second.stage]),
        digest="",
        settings=_join_settings(first.settings, second.settings),
    ).with_digest()


def _check_variables(first: PairTable, second: PairTable) -> None:
    own = [
        one.settings.get(VARIABLES, {})
        for one in (first, second)
        if one.settings.get("rendering") or VARIABLES in one.settings
    ]
    if len(own) == 2 and own[0] != own[1]:
        raise UsageError(
            "the sessions of these sets used different variables of the chat template"
            f" ({canonical_json(own[0])} and {canonical_json(own[1])}), so their prompts differ:"
            " train on each set separately"
        )


def _join_settings(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    joined = {**second, **first}
    for name in ("sessions", "rendering"):
        listed = [*first.get(name, ()), *second.get(name, ())]
        if listed:
            joined[name] = [one for at, one in enumerate(listed) if one not in listed[:at]]
    if first.get("length") != second.get("length"):
        joined.pop("length", None)
    return joined


# --- The base, whose matrices are stored as int8 with a float32 scale per row.


def write_base(folder: Path, source: Path = BASE_FOLDER) -> None:
    """Write the recorded base model to `folder` as an ordinary Hugging Face model in float32.

    Raises:
        DataError: The package was installed without the base model.
    """
    from safetensors.numpy import load_file, save_file

    if not (source / "model.safetensors").is_file():
        raise DataError(
            f"{source} has no model: install peirce again, or give a model of your own with --base"
        )

    def write(place: Path) -> None:
        shutil.copytree(source, place, dirs_exist_ok=True)
        stored = load_file(source / "model.safetensors")
        weights = {
            name: stored[name].astype(np.float32) * stored[name + _SCALE]
            if name + _SCALE in stored
            else stored[name]
            for name in stored
            if not name.endswith(_SCALE)
        }
        save_file(weights, place / "model.safetensors", {"format": "pt"})

    write_folder(folder, write, replace=True)


def store_base(folder: Path, target: Path = BASE_FOLDER) -> None:
    """Store a pretrained model in `target`, with 8 bits per number of its matrices.

    Args:
        folder: The folder of the pretrained model.
        target: The folder to write.
    """
    from safetensors.numpy import load_file, save_file

    def write(place: Path) -> None:
        place.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path.suffix in (".json", ".jinja"):
                shutil.copy(path, place / path.name)
        stored: dict[str, np.ndarray] = {}
        for name, weight in load_file(folder / "model.safetensors").items():
            stored[name] = weight
            if weight.ndim == 2:
                scale = np.abs(weight).max(axis=1, keepdims=True) / 127
                stored[name] = np.round(weight / np.maximum(scale, 1e-12)).astype(np.int8)
                stored[name + _SCALE] = scale.astype(np.float32)
        save_file(stored, place / "model.safetensors", {"format": "pt"})

    write_folder(target, write, replace=True)


def write_recorded(problems: Sequence[RecordedProblem], path: Path = ANSWERS_FILE) -> None:
    """Write recorded problems to a file, one JSON object per line."""
    lines: list[Mapping[str, Json]] = [one.as_json() for one in problems]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, "utf-8")
