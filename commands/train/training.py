"""Train a proposer on stored preference pairs (`peirce train`), list trainings, and merge adapters.

A training writes a log and a model card. Learning curves are written as tables and figures.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import Json, UsageError
from ...reports.files import writing
from ...reports.papers.gear import training
from ...reports.papers.gear.training import STAGES, build_runs
from ...store import Store
from ...tasks.io.files import expand_home
from ...tasks.io.messages import warn
from ..arguments import validate_call
from ..outcome import open_for_reading, store_path
from ..session.settings import versions
from .results import Merged, TrainingCurves, TrainingRecord, TrainingRow
from .training_folder import (
    CARD_FILE,
    absolute_path,
    check_unused,
    is_main_process,
    read_config,
    read_request,
    save_request,
    warn_about_new_training,
)

if TYPE_CHECKING:
    from ...training.dpo.run import TrainingResult
    from ...training.dpo.settings import TrainConfig
    from .sampled_answers import SampleMetrics

PLOTS_FOLDER = "plots"
VERSIONED_PACKAGES = ("trl", "transformers", "peft", "torch", "bitsandbytes")
DEFAULT_SAMPLED_ANSWERS = 128  # number of answers in each sample
GRACE_S = 1.0  # how long an interrupted training may take to finish an update
# fields of training.json that the log holds too
LOGGED_FIELDS = ("settings", "digest", "pairs", "base", "stages", "pools")


@validate_call
def train(
    base: str | Path | None = None,
    *,
    out: str | Path,
    pairs: str = "last",
    config: str | Path | None = None,
    resume: bool = False,
    sample_answers: int | None = None,
    store: str | Path | None = None,
    template_variables: Mapping[str, Any] | None = None,
    prompt_date: str | None = None,
    on_progress: Callable[[Any], None] | None = None,
    **settings: Any,
) -> TrainingRecord:
    """Train a model by DPO on a stored set of preference pairs.

    The first Ctrl-C or SIGTERM ends the training with a checkpoint, from which `resume` continues.
    Before the training has begun, the signal raises KeyboardInterrupt.

    Args:
        base: the model to train: a folder, or an id on the Hugging Face hub.
        out: folder of the training.
        pairs: digest of a set of pairs, a unique prefix of one, or "last".
        config: YAML file of settings.
        resume: continue the training in `out`. Arguments that are not set keep their old values.
        sample_answers: number of answers to sample in each period, to prompts of validation
            problems in the store's sessions; None for 128, 0 for no sampling.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        template_variables: with `render_anew`, the variables of the base's chat template; None for
            its default variables. `resume` keeps those of the first start.
        prompt_date: with `render_anew`, the date that the template writes, such as 2026-11-29; None
            for today. `resume` keeps that of the first start.
        on_progress: called with `training.dpo.progress.Progress`.
        settings: fields of `training.dpo.settings.TrainConfig`, which take precedence over
            `config`.

    Returns:
        The training with its status, folders and settings, and with the first and the last value of
            the
        loss, the accuracy and the chosen log-ratio of each stage.

    Raises:
        UsageError: a setting is invalid, or `out` contains another training.
        DataError: a file of the training or of settings is invalid.
        StoreError: the set of pairs cannot be found.
    """
    from ...training.base_models import check_packages
    from ...training.dpo.record import discard_unbegun, read_record
    from ...training.dpo.run import train as train_dpo
    from ...training.durable_log import LOG_FILE, DurableLog, is_training
    from ...training.pair_table import read_table

    check_packages()
    folder = expand_home(out)
    writing.check_target(folder)
    before = read_request(folder, "dpo") if resume else {}
    base = base or before.get("base")
    if base is None:
        raise UsageError(
            f"--resume: {folder} contains no training yet; start one with --base DIR --pairs last"
            if resume
            else (
                "no model to train is given: add --base DIR (a folder, or an id of the Hugging"
                " Face hub), or type peirce train --quick to train a small one that comes with peirce"
            )
        )
    if resume and not before:
        warn_about_new_training(folder)
    base, path = absolute_path(base), store_path(store or before.get("store")).resolve()
    pairs = before.get("pairs", pairs) if pairs == "last" else pairs
    told = _settings_over(before.get("settings") or {}, config, settings)
    if sample_answers is None:
        sample_answers = int(before.get("sample_answers", DEFAULT_SAMPLED_ANSWERS))
    with open_for_reading(path) as opened:
        table = read_table(opened, pairs)
        counts = next(o["counts"] for o in opened.pairs.list() if o["digest"] == table.digest)
        sampled = _sampler(opened, table.settings, counts, sample_answers, told)
    asked: dict[str, Json] = {
        "kind": "dpo", "base": base, "pairs": table.digest, "settings": told.to_record(),
        "sample_answers": sample_answers, "store": str(path),
    }  # fmt: skip
    if not resume:
        check_unused(folder)
    elif (
        is_main_process()
        and not is_training(folder)
        and discard_unbegun(folder, told, table.digest)
    ):
        (folder / LOG_FILE).unlink(missing_ok=True)
    more = {
        "kind": "dpo", "sessions": list(table.settings.get("sessions") or ()),
        "operational": {"base": base, "out": str(folder.resolve())},
    }  # fmt: skip
    log = DurableLog(folder, path, more, on_begin=lambda: save_request(folder, asked))
    try:
        with handle_interrupts() as interrupt:
            if sampled is not None:
                sampled.overdue = interrupt.is_overdue
            trained = train_dpo(
                base, table, told, folder, log, measure_samples=sampled, progress=on_progress,
                interrupt=interrupt, overdue=interrupt.is_overdue, resume=resume,
                session_names=_session_names(counts), template_variables=template_variables,
                prompt_date=prompt_date,
            )  # fmt: skip
        # the training was finished already, but the store may lack its end
        if is_main_process() and not log.settings:
            held = read_record(folder)
            log.open(trained.training, {key: held[key] for key in LOGGED_FIELDS if key in held})
            log.close(trained.status, trained.fields)
    finally:
        log.release()
    if not is_main_process():
        return TrainingRecord(training=trained.training, status=trained.status, out=str(folder))
    record = _finished(trained, dict(log.settings), asked, counts, table.settings)
    return TrainingRecord.from_dict(record)


@validate_call
def trainings(*, store: str | Path | None = None) -> list[TrainingRow]:
    """Return every training in the store, oldest first.

    The status of a training whose process was killed is interrupted.

    Args:
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
    """
    with open_for_reading(store) as opened:
        return [TrainingRow.from_dict(_listed(row)) for row in opened.trainings.list()]


@validate_call
def training_curves(
    *names: str, store: str | Path | None = None, out: str | Path | None = None
) -> TrainingCurves:
    """Return the learning curves of DPO trainings, including trainings that still run.

    Args:
        names: ids, unique prefixes of ids, or "last"; by default all DPO trainings.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        out: folder for tables and figures; None to write no files. The result then contains the
            paths as "files", and "notes" about what could not be written.

    Raises:
        UsageError: a training is the training of a classifier, or the folder cannot be written.
        StoreError: a training cannot be found.
    """
    target = None if out is None else expand_home(out)
    if target is not None:
        writing.check_target(target)
    with open_for_reading(store) as opened:
        ids = [opened.trainings.find(name) for name in names]
        rows = [_listed(row) | row for row in opened.trainings.list()]
        wanted = [
            row for row in rows
            if (row["training"] in ids if ids else row["settings"].get("kind", "dpo") == "dpo")
        ]  # fmt: skip
        for row in wanted:
            if row["settings"].get("kind", "dpo") != "dpo":
                raise UsageError(
                    f"training {row['training']} is a classifier and has no curves: see its"
                    " results with `peirce eval hypobench`"
                )
            row["status"] = _status(row)
        found = build_runs((row, opened.trainings.points(str(row["training"]))) for row in wanted)
    result: dict[str, Json] = {
        "trainings": [
            {
                "training": one.training, "base": one.base, "label": one.label,
                "schedule": one.schedule, "seed": one.seed, "status": one.status,
                "examples": training.count_examples(one),
                "curves": {
                    stage: {
                        name: [list(point) for point in curve]
                        for (of, name), curve in one.curves.items() if of == stage
                    }
                    for stage in ("", *one.stages)
                },
            }
            for one in found
        ]
    }  # fmt: skip
    if target is not None:
        files, without = training.render_files(found, target)
        result |= {"files": writing.write_files(files), "notes": [without] if without else []}
    return TrainingCurves.from_dict(result)


@validate_call
def merge(adapter: str | Path, *, base: str | Path | None = None, out: str | Path) -> Merged:
    """Merge an adapter and its base model into one model, and write the model to a folder.

    Args:
        adapter: folder of the adapter.
        base: the base model; None for the base model that the adapter names.
        out: folder of the merged model.

    Raises:
        UsageError: the adapter was trained on another base model.
    """
    from ...training.dpo.models import merge_adapter as merged

    writing.check_folder(expand_home(out).parent)
    model = merged(expand_home(adapter), None if base is None else str(base), expand_home(out))
    return Merged(adapter=str(adapter), base=None if base is None else str(base), model=str(model))


class Interrupt:
    """Records whether Ctrl-C or SIGTERM was received. `handle_interrupts` yields an instance.

    The training calls this object after each update. An update of a large model may take minutes,
    so the training also calls `is_overdue`, which is true `GRACE_S` seconds after the signal. The
    training then abandons the update.
    """

    def __init__(self) -> None:
        self._received_at: float | None = None
        self._asked = False

    def __call__(self) -> bool:
        """Return whether a signal was received."""
        self._asked = True
        return self._received_at is not None

    def is_overdue(self) -> bool:
        """Return whether a signal was received more than `GRACE_S` seconds ago."""
        return self() and time.monotonic() - (self._received_at or 0.0) > GRACE_S

    def receive(self, *_: object) -> None:
        """Handle a signal; this is the signal handler.

        Raises:
            KeyboardInterrupt: this is the second signal, or the training has not asked for signals
                yet.
        """
        if self._received_at is not None or not self._asked:
            raise KeyboardInterrupt
        self._received_at = time.monotonic()


@contextlib.contextmanager
def handle_interrupts() -> Iterator[Interrupt]:
    """Yield an object that says whether Ctrl-C or SIGTERM was received in the `with` block.

    Outside the main thread no signal handler is installed.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, interrupt.receive) for number in numbers}
    try:
        yield interrupt
    finally:
        for number, old in before.items():
            signal.signal(number, old)


# --- Private parts.


def _settings_over(
    before: Mapping[str, Json], config: str | Path | None, given: Mapping[str, Json]
) -> TrainConfig:
    """Return the settings: arguments replace those of the file, which replace earlier ones."""
    from ...training.dpo.settings import TrainConfig

    return TrainConfig.from_mapping({**before, **read_config(config), **given})


def _session_names(counts: Mapping[str, Json]) -> dict[str, str]:
    """Return the names of the sessions of a set of pairs for error messages, by digest."""
    return {
        str(one["digest"]): f"session {one['session']} of model {one['model']}"
        for one in counts.get("sessions") or ()
    }


def _sampler(
    store: Store,
    pair_settings: Mapping[str, Json],
    counts: Mapping[str, Json],
    answers: int,
    settings: TrainConfig,
) -> SampleMetrics | None:
    """Return the sampling of answers during training.

    It is None where nothing is to be sampled, or no session of the pairs is in the store.

    Raises:
        UsageError: the training shall stop by sampled answers, but none are sampled.
    """
    if answers < 0:
        raise UsageError(f"sample_answers is {answers}: it must be at least 0")
    from .sampled_answers import MAX_PROMPTS, SampleMetrics, draw_validation_prompts

    sampled = None
    if answers and settings.sample_every:
        sessions = [str(one["session"]) for one in counts.get("sessions") or ()]
        if asked := draw_validation_prompts(
            store, sessions, pair_settings, min(MAX_PROMPTS, answers)
        ):
            sampled = SampleMetrics(asked, answers, settings.seed)
        elif is_main_process():
            warn(
                "no answers are sampled during training, because the store has no session of"
                " these pairs with a validation problem: only the chosen log-ratio can warn of"
                " a collapse"
            )
    if sampled is None and settings.stop == "following":
        raise UsageError("--stop following depends on sampled answers, but none are sampled here")
    return sampled


def _finished(
    trained: TrainingResult,
    settings: Mapping[str, Json],
    asked: Mapping[str, Json],
    counts: Mapping[str, Json],
    pair_settings: Mapping[str, Json],
) -> dict[str, Json]:
    """Write the model card and the figures, and return the record of the training."""
    from ...training.durable_log import LOG_FILE, read_points
    from ...training.model_cards import dpo_card

    out = trained.out
    points = read_points(out / LOG_FILE)
    told = asked["settings"]
    stages = {
        stage: {
            name.removeprefix("probe_"): [values[0], values[-1]]
            for name in ("probe_loss", "probe_accuracy", "chosen_logratio")
            if (values := [p.value for p in points if (p.stage, p.name) == (stage, name)])
        }
        for stage in STAGES
        if any((p.stage, p.name) == (stage, "probe_loss") for p in points)
    }
    record: dict[str, Json] = {
        "training": trained.training, "status": trained.status, "out": str(out),
        "model": None if trained.model is None else str(trained.model),
        "base": asked["base"], "pairs": asked["pairs"], "schedule": told["schedule"],
        "seed": told["seed"], "examples": trained.examples,
        "seconds": trained.fields.get("seconds"),
        "seconds_by_part": trained.fields.get("seconds_by_part"), "stages": stages,
        "template": pair_settings.get("template") or "full",
        "said": list(trained.fields.get("said") or ()), "store": asked["store"], "files": [],
    }  # fmt: skip
    if trained.model is None:
        return record
    whole = {
        **record, "settings": told, "base": settings.get("base") or asked["base"],
        "kind": trained.model.name, "versions": _versions(),
    }  # fmt: skip
    files: dict[Path, str | bytes] = {
        out / CARD_FILE: dpo_card(whole, points, counts, pair_settings)
    }
    row = {"training": trained.training, "status": trained.status, "settings": settings}
    drawn, _ = training.render_files(build_runs([(row, points)]), out / PLOTS_FOLDER)
    record["files"] = writing.write_files(files | drawn)
    return record


def _versions() -> dict[str, str | None]:
    import importlib.metadata

    found: dict[str, str | None] = {"peirce": versions().get("peirce")}
    for name in VERSIONED_PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _listed(row: Mapping[str, Json]) -> dict[str, Json]:
    settings = row["settings"]
    told = settings.get("settings") or {}
    operational = settings.get("operational") or {}
    base = settings.get("base") or {}
    return {
        "training": row["training"], "created": row["created"], "status": _status(row),
        "kind": settings.get("kind", "dpo"),
        "base": base.get("name") if isinstance(base, Mapping) else base,
        "pairs": settings.get("pairs"), "schedule": told.get("schedule"), "seed": told.get("seed"),
        "examples": row["examples"], "total": told.get("examples"), "out": operational.get("out"),
        "settings": settings, "fields": row["fields"],
    }  # fmt: skip


def _status(row: Mapping[str, Json]) -> str:
    """Return the status, which is interrupted for a running training that no process holds."""
    from ...training.durable_log import is_training

    out = (row["settings"].get("operational") or {}).get("out")
    if row["status"] == "running" and not (out and is_training(Path(str(out)))):
        return "interrupted"
    return str(row["status"])
