"""Pretrain a model from settings, and write the model as an ordinary Hugging Face folder.

The folder contains config.json, model.safetensors, the tokenizer with its chat template,
generation_config.json (sampling at temperature 1), README.md, and pretrain.json with the settings,
their digest and the measurements. The folder is written under a temporary name and renamed when it
is complete, so a folder that contains pretrain.json is complete. A second call with the same
settings returns the existing model.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...records import DataError, Json, UsageError
from ...records.private_files import write_atomically, write_folder
from . import library
from .corpus import ChainLessons, Lesson, LibraryLessons, prior
from .library import grid_library, list_library
from .packing import PackedRows
from .settings import CONTEXT_TOKENS, ROW_TOKENS, SIZES, PretrainSettings

# --- The training loop.


@dataclass(frozen=True)
class TrainingPace:
    """The duration and the learning rates of a pretraining.

    The training ends after `seconds` or after `tokens`, whichever comes first. The learning rates
    fall to a twentieth of their maxima by the end.
    """

    seconds: float = math.inf
    tokens: float = math.inf
    rate: float = 2.5e-3  # AdamW: embeddings and norms
    matrix_rate: float = 0.02  # Muon: the matrices of the layers
    warmup: float = 0.03
    decay: float = 0.01


def train_model(
    model: Any,
    rows: Iterator[PackedRows],
    pace: TrainingPace,
    use_bfloat16: bool,
    progress: Callable[[float, int, float], None] | None = None,
) -> tuple[int, float]:
    """Train a model on packed lessons for the duration that `pace` sets.

    Args:
        model: The model, which is changed in place.
        rows: Batches of packed lessons.
        pace: The duration and the learning rates.
        use_bfloat16: Whether to multiply matrices in bfloat16.
        progress: Called after each update with the fraction of the training that is done, the
            number of tokens so far, and the mean loss.

    Returns:
        The number of tokens seen, and the running mean of the loss on answers.
    """
    import torch
    from torch.nn import functional

    matrices: list[Any] = []
    rest: list[Any] = []
    for name, weight in model.named_parameters():
        inner = weight.ndim == 2 and "embed" not in name
        (matrices if inner else rest).append(weight)
    optimizers = [
        torch.optim.Muon(matrices, lr=pace.matrix_rate, weight_decay=pace.decay, momentum=0.95),
        torch.optim.AdamW(rest, lr=pace.rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]
    tops = [pace.matrix_rate, pace.rate]
    device = model.device
    head = model.get_output_embeddings()
    start = time.monotonic()
    tokens, mean = 0, 0.0
    model.train()
    for step, batch in enumerate(rows):
        done = max((time.monotonic() - start) / pace.seconds, tokens / pace.tokens)
        if done >= 1:
            break
        factor = learning_rate_factor(done, pace.warmup)
        for optimizer, top in zip(optimizers, tops, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = top * factor
        weights = torch.from_numpy(batch.weights).to(device)
        with torch.autocast(device.type, torch.bfloat16, enabled=use_bfloat16):
            hidden = model.base_model(
                input_ids=torch.from_numpy(batch.tokens).to(device),
                position_ids=torch.from_numpy(batch.positions).to(device),
                attention_mask=torch.from_numpy(batch.attention_mask()).to(device),
                use_cache=False,
            ).last_hidden_state
            chosen = weights > 0
            logits = head(hidden[chosen])
        targets = torch.from_numpy(batch.targets).to(device)[chosen]
        losses = functional.cross_entropy(logits.float(), targets, reduction="none")
        weights = weights[chosen]
        loss = (losses * weights).sum() / weights.sum()
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        tokens += int((batch.lesson >= 0).sum())
        said = float(losses.detach()[weights == 1].mean())
        mean = said if step == 0 else 0.9 * mean + 0.1 * said
        if progress is not None:
            progress(done, tokens, mean)
    return tokens, mean


def learning_rate_factor(done: float, warmup: float) -> float:
    """Return the factor by which the maximum learning rate is multiplied at a point of the
    training.

    The factor is the product of a linear rise from 0.01 to 1 during the warmup, and a cosine curve
    that falls from 1 at the start to 0.05 at the end.

    Args:
        done: The fraction of the training that is over, from 0 to 1.
        warmup: The fraction of the training during which the rate rises.
    """
    fall = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))
    return min(1.0, done / warmup + 0.01) * fall


def supports_bfloat16(device: str) -> bool:
    """Return whether the hardware of `device` has bfloat16 instructions.

    A processor without these instructions converts each number to float32 first, which makes
    training with bfloat16 more than twice as slow as training with float32.
    """
    import torch

    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    told = torch.cpu.get_capabilities()
    return device == "cpu" and any(told.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))


PACKAGES = ("torch", "transformers", "tokenizers", "safetensors")
INSTALL = "pip install 'peirce[local]'"
RECORD_FILE = "pretrain.json"
TOKENIZER_LESSONS = 6_000  # lessons that the tokenizer is trained on
# Probabilities of the number of observations in a prompt; below, the most characters of a prompt.
OBSERVATION_WEIGHTS: Mapping[str, Mapping[int, float]] = {
    "list_functions": {1: 0.15, 2: 0.35, 3: 0.4, 4: 0.1},
    "mini_arc": {1: 0.3, 2: 0.35, 3: 0.35},
    "arc": {1: 0.4, 2: 0.4, 3: 0.2},
}
MAX_PROGRAMS = {
    "list_functions": 120,
    "mini_arc": 40,
    "arc": 40,
}  # the most programs, by probability
MAX_PROMPT_CHARS = {"list_functions": 600, "mini_arc": 400, "arc": 400}

ProgressCallback = Callable[[Mapping[str, Json]], None]


@dataclass(frozen=True)
class PretrainResult:
    """The result of `pretrain`: a folder with a new or an existing model.

    Attributes:
        out: The folder of the model.
        record: The contents of pretrain.json in the folder.
        reused: Whether the folder already contained a model with the same settings.
    """

    out: Path
    record: Mapping[str, Json] = field(default_factory=dict)
    reused: bool = False

    def as_json(self) -> dict[str, Json]:
        """Return the result as JSON."""
        return {"out": str(self.out), "used": self.reused, **self.record}


def pretrain(
    settings: PretrainSettings, out: str | Path, progress: ProgressCallback | None = None
) -> PretrainResult:
    """Pretrain a model and write it to `out`, or return the model in `out` if its settings are
    equal.

    Args:
        settings: The settings of the pretraining.
        out: The folder to write.
        progress: Called repeatedly with a dict that has the keys "part" (what is being done),
            "done" (a fraction from 0 to 1) and further keys for some parts.

    Raises:
        UsageError: The folder contains something else, or required packages are missing.
        DataError: The record in the folder is damaged.
    """
    folder = Path(out).expanduser()
    before = read_finished(folder)
    if before is not None:
        if before.get("digest") != settings.digest:
            raise UsageError(
                f"{folder} contains a model with other settings ({_other(before, settings)}):"
                " choose another folder, or remove it"
            )
        return PretrainResult(folder, before, reused=True)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} exists but does not contain a model of `peirce pretrain`: choose another"
            " folder"
        )
    check_packages()
    tell = progress or (lambda said: None)
    started = time.monotonic()
    lessons = LessonStream(settings, tell)
    model, tokenizer, course = _learned(settings, lessons, tell)
    record: dict[str, Json] = {
        "digest": settings.digest, "settings": settings.as_json(), **course,
        "seconds": round(time.monotonic() - started, 1), "library": lessons.sizes,
    }  # fmt: skip
    _write(folder, model, tokenizer, record)
    return PretrainResult(folder, record)


def read_finished(folder: Path) -> dict[str, Json] | None:
    """Return the record of a finished pretraining in `folder`, or None if there is no record.

    Raises:
        DataError: The record is damaged.
    """
    try:
        text = (folder / RECORD_FILE).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(
            f"{folder / RECORD_FILE} is not a record of a pretraining: remove the folder"
        )
    return found


def check_packages() -> None:
    """Raise UsageError if a package of the extra `local` is missing."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"pretraining needs {', '.join(missing)}: {INSTALL}")


class LessonStream:
    """An endless, reproducible stream of lessons of all tasks, drawn with the shares of the tasks.

    Attributes:
        done: The fraction of the training that is over, from 0 to 1. Set it during the training.
            Early lessons have programs of low cost, and only late lessons have deliberate faults.
        sizes: The number of programs or chains in each task's library.
    """

    def __init__(self, settings: PretrainSettings, progress: ProgressCallback) -> None:
        self._sources: dict[str, LibraryLessons | ChainLessons] = {}
        self._settings = settings
        self._progress = progress
        self.done = 0.0
        sizes: dict[str, int] = {}
        for wait in (False, True):  # libraries that another process is searching come last
            for task in settings.tasks:
                if task in sizes:
                    continue
                solved = self._report_solved(task, len(sizes) / len(settings.tasks), wait)
                solved(0)
                found = self._source(task, wait, solved)
                if found is not None:
                    self._sources[task], sizes[task] = found
        self.sizes: dict[str, Json] = {task: sizes[task] for task in settings.tasks}

    def _report_solved(self, task: str, done: float, waiting: bool) -> library.SolvedCallback:
        """Return what reports the search of a task's library; `done` is the share before it."""
        problems = self._settings.problems[task]
        part = 1 / len(self._settings.tasks)

        def report(solved: int) -> None:
            self._progress(
                {"part": "library", "task": task, "done": done + part * solved / problems,
                 "solved": solved, "problems": problems, "waiting": waiting and not solved}
            )  # fmt: skip

        return report

    def _source(
        self, task: str, wait: bool, solved: library.SolvedCallback
    ) -> tuple[LibraryLessons | ChainLessons, int] | None:
        """Return the lessons of a task and the size of its library, or None without waiting."""
        # All seeds share one library; they differ in what is drawn from it, and in which order.
        problems, shares = self._settings.problems[task], self._settings.shares
        if task == "acre":
            chains = library.load_chains(0, problems, wait=wait, progress=solved)
            return None if chains is None else (ChainLessons(chains, shares), len(chains))
        programs = library.load_programs(task, 0, problems, wait=wait, progress=solved)
        if programs is None:
            return None
        programs = sorted(programs, key=lambda one: -prior(one))[
            : self._settings.programs or MAX_PROGRAMS[task]
        ]
        of = (
            list_library(programs, 0)
            if task == "list_functions"
            else grid_library(task, programs, 0)
        )
        if not of.programs:
            raise UsageError(
                f"none of the {problems} problems of {task} was solved by a program: use more"
                " problems"
            )
        lessons = LibraryLessons(of, shares, MAX_PROMPT_CHARS[task], OBSERVATION_WEIGHTS[task])
        return lessons, len(of.programs)

    def __iter__(self) -> Iterator[Lesson]:
        rng = random.Random(f"pretrain {self._settings.seed}")
        tasks, weights = zip(*self._settings.tasks.items(), strict=True)
        while True:
            (task,) = rng.choices(tasks, weights)
            lesson = self._sources[task].draw(
                rng, self.done, self.done >= self._settings.faults_from
            )
            if lesson is not None:
                yield lesson


def single_token_names(settings: PretrainSettings) -> tuple[str, ...]:
    """Return the texts that get a token of their own: the objects in scenes, and the words for
    them.

    The result is empty if the settings do not include the task acre.
    """
    from ...tasks.programs.acre_scenes import COLORS, ENTITIES, MATERIALS, SHAPES

    return (*ENTITIES, *COLORS, *MATERIALS, *SHAPES) if "acre" in settings.tasks else ()


def _learned(
    settings: PretrainSettings, lessons: LessonStream, tell: ProgressCallback
) -> tuple[Any, Any, dict[str, Json]]:
    """Return the trained model, its tokenizer, and what the record contains about the training."""
    tell({"part": "tokenizer", "done": 0.0})  # before torch, which takes seconds to load
    import torch

    from ...agents.local.decoding import count_parameters
    from . import packing
    from .model import build_model, train_tokenizer

    vocabulary, rows = SIZES[settings.size][4:]
    lessons.done = 1.0  # all programs and faults

    def lesson_texts() -> Iterator[str]:
        for k, one in enumerate(itertools.islice(lessons, TOKENIZER_LESSONS)):
            tell({"part": "tokenizer", "done": k / TOKENIZER_LESSONS})
            yield from one.texts

    words = train_tokenizer(
        lesson_texts(), single_token_names(settings), vocabulary, CONTEXT_TOKENS
    )
    lessons.done = 0.0
    model = build_model(
        settings.architecture,
        settings.size,
        words,
        single_token_names(settings),
        CONTEXT_TOKENS,
        settings.seed,
    )
    if torch.cuda.is_available():
        model.to("cuda")
    planter = packing.LessonTokenizer(words)
    trees = (planter.build_tree(lesson) for lesson in lessons)
    batches = packing.pack_rows(trees, ROW_TOKENS, settings.rows or rows, words.pad_token_id)
    if settings.tokens is None:
        pace = TrainingPace(seconds=60 * settings.minutes)
    else:
        pace = TrainingPace(tokens=settings.tokens)

    def report(done: float, tokens: int, loss: float) -> None:
        lessons.done = done
        tell({"part": "training", "done": min(1.0, done), "tokens": tokens, "loss": loss})

    started, processor = time.monotonic(), time.process_time()
    half = supports_bfloat16(model.device.type)
    tell({"part": "training", "done": 0.0})
    tokens, loss = train_model(model, batches, pace, half, report)
    seconds, processor = time.monotonic() - started, time.process_time() - processor
    model.to("cpu")
    return model, words, {
        "parameters": count_parameters(model), "vocabulary": len(words), "tokens": tokens,
        "loss": round(loss, 4), "bfloat16": half, "processor_seconds": round(processor, 1), "tokens_per_second": round(tokens / max(seconds, 1e-9)),
    }  # fmt: skip


def _write(folder: Path, model: Any, tokenizer: Any, record: Mapping[str, Json]) -> None:
    from ..external_libraries import report_write_errors
    from ..model_cards import proposer_card

    def write(place: Path) -> None:
        with report_write_errors(folder):
            model.save_pretrained(str(place))
        tokenizer.save_pretrained(str(place))
        (place / "README.md").write_text(proposer_card(record), "utf-8")
        (place / RECORD_FILE).write_text(
            json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8"
        )
        if folder.exists():  # an empty one
            folder.rmdir()

    write_folder(folder, write)


def write_measurements(folder: Path, figures: list[dict[str, Json]]) -> dict[str, Json]:
    """Add measurements to the record and the model card in `folder`, and return the new record."""
    from ..model_cards import proposer_card

    record = {**(read_finished(folder) or {}), "measured": figures}
    texts = {
        RECORD_FILE: json.dumps(record, indent=1, sort_keys=True) + "\n",
        "README.md": proposer_card(record),
    }
    write_atomically({folder / name: text.encode() for name, text in texts.items()})
    return record


def _other(before: Mapping[str, Json], settings: PretrainSettings) -> str:
    """Return which settings differ, at most three of them."""
    old, new = before.get("settings") or {}, settings.as_json()
    keys = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
    return ", ".join(f"{key} {old.get(key)!r}, not {new.get(key)!r}" for key in keys[:3])
