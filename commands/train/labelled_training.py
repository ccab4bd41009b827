"""`peirce train --labels`: fine-tune a local model as a classifier of labelled text.

One classifier is trained for each data set. Its scores are the fine-tuned row of HypoBench's tables
(reports/papers/hypobench/entries.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import DataError, Json, UsageError
from ...records.tables import TableLike, read_table
from ...reports.files import writing
from ...reports.metrics.statistics import wilson_interval
from ...store.sessions import new_id
from ...tasks.io.bad_records import BadRecords, skip_bad_records
from ...tasks.io.files import expand_home
from ...tasks.io.messages import suggest_nearest
from ...tasks.io.table_files import open_data
from ...tasks.text.labels import TASK, Labels
from ...tasks.text.problems import SPLIT_NAMES, LabelledData
from ...training.model_cards import classifier_card
from ..arguments import validate_call
from ..outcome import store_path
from .results import ClassifierRecord, ClassifierSet
from .training_folder import (
    CARD_FILE,
    absolute_path,
    check_unused,
    read_config,
    read_request,
    save_request,
    warn_about_new_training,
)

if TYPE_CHECKING:
    from ...agents.local.files import ModelFolder
    from ...training.classifier.epochs import Epoch
    from ...training.classifier.fitting import FitResult, LabelledSet
    from ...training.classifier.settings import ClassifierSettings
    from ...training.durable_log import DurableLog

GENERATED_PREFIX = "labels:"
SCORES_FILE, PREDICTIONS_FILE = "scores.json", "predictions.jsonl"
# names of the log for those of an epoch
LOG_NAMES = {"loss": "val_loss", "accuracy": "val_accuracy", "f1": "val_f1"}


@validate_call
def train_labels(
    data: str | Path | TableLike | None = None,
    *,
    base: str | Path | None = None,
    out: str | Path,
    problem: Sequence[str] = (),
    label: str | None = None,
    ood: str | None = None,
    skip_bad: bool = False,
    config: str | Path | None = None,
    resume: bool = False,
    store: str | Path | None = None,
    on_progress: Callable[[Any], None] | None = None,
    **settings: Any,
) -> ClassifierRecord:
    """Fine-tune a local model as a classifier on each data set of labelled text.

    Args:
        data: the data sets: a file or folder as in `--data` of the task `labels`, a table, or
            `labels:GENERATOR`. To resume a training on a table, pass the table again.
        base: folder of the model to fine-tune.
        out: folder of the training.
        problem: names of data sets; by default all data sets.
        label: column that contains the labels.
        ood: which out-of-distribution file to use, if there are several.
        skip_bad: leave out rows, and data sets if there are several, that cannot be read, and count
            them in a warning. A resumed training uses its original value.
        config: a file of settings.
        resume: continue a training in `out`. Finished data sets are kept, and an unfinished data
            set continues after its last epoch.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        on_progress: called with {"set", "epoch", "update", "updates"}.
        settings: fields of `training.classifier.settings.ClassifierSettings`.

    Returns:
        The training, with scores by data set and split.

    Raises:
        UsageError: a setting is invalid, or differs from the setting of the training to resume.
        DataError: the data is invalid.
    """
    from ...training.base_models import find_base
    from ...training.classifier.fitting import check_packages
    from ...training.durable_log import DurableLog
    from ...training.external_libraries import parse_trackers

    check_packages("a classifier")
    folder = expand_home(out)
    writing.check_target(folder)
    before = read_request(folder, "labels") if resume else {}
    source, base = before.get("data") if data is None else data, base or before.get("base")
    if source is None or base is None:
        raise UsageError(
            "a classifier needs rows and a model: give both, as --labels DATA --base DIR"
        )
    if resume and not before:
        warn_about_new_training(folder)
    base, path = absolute_path(base), store_path(store or before.get("store")).resolve()
    over = {**(before.get("settings") or {}), **read_config(config), **settings}
    told = make_settings(over)
    parse_trackers(told.report_to)  # checked before anything is written
    wanted = list(problem or before.get("problem") or ())
    label, ood = label or before.get("label"), ood or before.get("ood")
    model = find_base(base)
    skip_bad = skip_bad or bool(before.get("skip_bad"))
    rows = source if isinstance(source, str | Path) else read_table(source)
    with skip_bad_records(skip_bad), open_data(rows) as place:
        sets = read_sets(str(place), wanted, label, ood, told.seed)
    asked: dict[str, Json] = {
        "kind": "labels", "base": base, "data": str(rows), "problem": wanted, "label": label, "ood": ood,
        "skip_bad": skip_bad, "settings": told.to_record(), "store": str(path),
        "training": before.get("training") or new_id(), "digests": [s.digests() for s in sets],
    }  # fmt: skip
    if before:
        _same(folder, before, asked)
    else:
        check_unused(folder)
    log = DurableLog(
        folder, path, {"kind": "labels", "operational": {"base": base, "out": str(folder.resolve()), "data": str(rows)}},
        on_begin=lambda: save_request(folder, asked),
    )  # fmt: skip
    training, began, status = str(asked["training"]), time.monotonic(), "failed"
    done: list[dict[str, Json]] = []
    try:
        log.open(training, {"settings": told.to_record(), "base": model.to_record()})
        for one in sets:
            done.append(_fitted(model.files, one, told, folder, log, resume, on_progress))
        status = "done"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        seconds = round(time.monotonic() - began, 3)
        if log.settings:  # only a training that began is recorded
            log.close(status, {"sets": done, "seconds": seconds})
    return ClassifierRecord(
        training=training, status=status, out=str(folder), base=base, seconds=seconds,
        store=str(path), sets=[ClassifierSet.from_dict(one) for one in done],
    )  # fmt: skip


def read_sets(
    data: str, wanted: Sequence[str], label: str | None, ood: str | None, seed: int
) -> list[LabelledSet]:
    """Return data sets of labelled text with all their rows.

    Args:
        data: the data sets: a file, a folder, or `labels:GENERATOR`.
        wanted: names of data sets; empty for all data sets.
        label: column that contains the labels; None for the default.
        ood: which out-of-distribution file to use, if there are several.
        seed: seed of a generator.
    """
    from ...training.classifier.fitting import LabelledSet

    found = []
    for rows in _rows(data, wanted, label, ood, seed):
        splits = {SPLIT_NAMES.get(split, split): tuple(some) for split, some in rows.splits.items()}
        found.append(
            LabelledSet(rows.name, tuple(rows.labels), {k: v for k, v in splits.items() if v})
        )
    return found


def _rows(
    data: str, wanted: Sequence[str], label: str | None, ood: str | None, seed: int
) -> list[LabelledData]:
    if data.startswith(GENERATED_PREFIX) or data == GENERATED_PREFIX[:-1]:
        task: Labels = (
            TASK.with_generator(data.removeprefix(GENERATED_PREFIX)) if ":" in data else TASK
        )
        if label is not None or ood is not None:
            raise UsageError(f"--labels {data}: generated rows do not take --label or --ood")
        return task.generate_rows(wanted, seed)
    from ...tasks.text.sources import parse_source

    source = parse_source(data, label, ood)
    there = source.find_data_sets()
    for name in wanted:
        if name not in there:
            raise UsageError(f"no data set {name!r} in {data}{suggest_nearest(name, there)}")
    names = list(wanted or there)
    found: list[LabelledData] = []
    with BadRecords(source.path) as bad:
        for name in names:
            with bad.record("") if len(names) > 1 else nullcontext():
                found.append(source.read(there[name], seed))
        if not found:
            raise bad.no_records_error(f"{source.path}: no data sets")
    return found


def make_settings(values: Mapping[str, Any]) -> ClassifierSettings:
    """Return the settings of a classifier training from values by name.

    Raises:
        UsageError: a name is unknown or a value is invalid.
    """
    from ...training.classifier.settings import ClassifierSettings

    names = list(ClassifierSettings.model_fields)
    for name in values:
        if name not in names:
            raise UsageError(
                f"a classifier has no setting {name!r}{suggest_nearest(str(name), names, len(names))}"
            )
    return ClassifierSettings(**values)


def _same(folder: Path, before: Mapping[str, Json], asked: Mapping[str, Json]) -> None:
    """Raise UsageError if a training to resume was started with other settings, rows or base."""
    for key, what in (("base", "base"), ("digests", "rows"), ("settings", "settings")):
        if before.get(key) != asked[key]:
            raise UsageError(
                f"{folder} contains a training with other {what}: resume it with the same"
                " values, or choose another folder"
            )


def _fitted(
    base: ModelFolder,
    data: LabelledSet,
    settings: ClassifierSettings,
    folder: Path,
    log: DurableLog,
    resume: bool,
    on_progress: Callable[[Any], None] | None,
) -> dict[str, Json]:
    """Train on one set, or read the scores of a finished one; return its part of the record."""
    from ...training.classifier.fitting import fit

    out = folder / "sets" / data.name
    if resume and (out / SCORES_FILE).is_file():
        return _scored(out / SCORES_FILE)

    def passed(epoch: Epoch | None, update: int, updates: int) -> None:
        if epoch is not None:
            at = epoch.number * len(data.rows["train"])
            for name in ("train_loss", "loss", "accuracy", "f1"):
                log.log_point(at, data.name, LOG_NAMES.get(name, name), getattr(epoch, name))
        if on_progress is not None:
            on_progress({"set": data.name, "epoch": epoch, "update": update, "updates": updates})

    fitted = fit(base, data, settings, out, resume=resume, progress=passed)
    told = _summarise_fit(data, fitted, out)
    labelled = [
        json.dumps({"split": split, "row": row, "label": str(one.output), "predicted": got})
        for split, labels in fitted.predicted.items()
        for row, (one, got) in enumerate(zip(data.rows[split], labels, strict=True))
    ]
    writing.write_files(
        {
            out / PREDICTIONS_FILE: "\n".join(labelled),
            out / CARD_FILE: classifier_card(base.name, told, settings),
        }
    )
    # written last, because this file marks the set as finished
    writing.write_files({out / SCORES_FILE: json.dumps(told, indent=1)})
    return told


def _scored(path: Path) -> dict[str, Json]:
    """Return the stored scores of a finished set. Raise DataError for an invalid file."""
    try:
        told: dict[str, Json] = json.loads(path.read_text("utf-8"))
        _ = told["set"], told["scores"], told["model"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise DataError(f"{path} contains no scores; remove it to train this set again") from None
    return told


def _summarise_fit(data: LabelledSet, fitted: FitResult, out: Path) -> dict[str, Json]:
    from ...training.classifier.fitting import split_scores

    scores: dict[str, Json] = {}
    for split, labels in fitted.predicted.items():
        gold = [str(one.output) for one in data.rows[split]]
        told = split_scores(gold, labels, data.labels)
        right = sum(map(str.__eq__, gold, labels))
        interval = wilson_interval(right, len(gold))
        scores[split] = {**told, "n": len(gold), "low": interval["low"], "high": interval["high"]}
    return {
        "set": data.name, "labels": list(data.labels),
        "rows": {split: len(some) for split, some in data.rows.items()}, "digests": data.digests(),
        "scores": scores, "epochs": len(fitted.epochs), "best": fitted.best, "cut": fitted.cut,
        "held": fitted.held, "weights": fitted.weights, "trained": fitted.trained,
        "learning_rate": fitted.learning_rate, "model": str(out / "model"),
    }  # fmt: skip
