"""Train a small model on the pairs of one session within minutes (`peirce train --quick`).

The package contains the base model and recorded answers of this model (`training.quick`). The
recorded answers give parsing pairs and consistency pairs, which a session of the built-in search
lacks. The model is measured before and after the training, on generated problems whose rules occur
neither in the session nor in the recorded answers.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import DataError, Json, Problem, StoreError, UsageError, digest_of
from ...records.private_files import write_atomically
from ...reports.files import writing
from ...store import Store
from ...tasks.io.files import expand_home
from ...training import quick
from ...training.pair_table import PairTable, save_table
from ...training.splits import Fractions, Split, Splits
from ...training.stages import STAGES, Stage
from ..arguments import validate_call
from ..oracles import open_oracles
from ..outcome import open_for_reading, store_path
from ..session.event_loops import run_coroutine
from .pretraining import make_unseen_problems
from .results import QuickMetric, QuickRecord
from .training import train
from .training_folder import QUICK_FILE, QUICK_FOLDER, check_unused, read_kind

SETTINGS: Mapping[str, Any] = {
    "full": True, "schedule": "fixed", "learning_rate": 6e-4, "beta": 0.1, "examples": 640,
    "period": 160, "batch": 16, "device_batch": 16, "probe_pairs": 16, "max_length": 640, "keep": 1,
}  # fmt: skip
HELD_OUT_SEED = 97_001  # seed of the problems that the model is measured on
PROBLEMS = 40  # number of these problems
ANSWERS = 8  # answers to each of them
OBSERVATIONS = 3  # shown observations of each of them
MAX_SESSION_PAIRS = 300  # per stage and split, so that the recorded pairs keep their part
METRICS = ("instruction_following", "consistent", "answered", "different")


@validate_call
def train_quick(
    session: str = "last",
    *,
    out: str | Path = QUICK_FOLDER,
    base: str | Path | None = None,
    seed: int = 0,
    resume: bool = False,
    store: str | Path | None = None,
    on_step: Callable[[str], None] | None = None,
    on_progress: Callable[[Any], None] | None = None,
) -> QuickRecord:
    """Train a small model on the pairs of a session, and measure it before and after the training.

    Args:
        session: id of a session of list_functions or acre, a unique prefix of one, or "last".
        out: folder of the training.
        base: the model to train; None for the model in this package.
        seed: seed of the training and of the measured answers.
        resume: continue the training in `out`.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        on_step: called with a sentence when a new step begins, such as measuring or training.
        on_progress: called with `training.dpo.progress.Progress` during the training.

    Returns:
        The model, the numbers of its pairs, and the measurements before and after the training.

    Raises:
        UsageError: the session belongs to another task, or `out` contains another training.
        StoreError: the session cannot be found.
    """
    from ...training.base_models import check_packages

    check_packages()
    began, processor = time.monotonic(), _processor_seconds()
    tell = on_step or (lambda sentence: None)
    folder = expand_home(out)
    asked = _read(folder) if resume else _prepare(folder, session, base, seed, store)
    path = Path(asked["store"])
    task = asked["task"]
    with open_for_reading(path) as opened:
        problems = _held_out_problems(task, _rules(opened, asked["session"], task))
    if "before" not in asked:
        tell(f"measuring the base on {len(problems)} held-out problems of {task}")
        asked["before"] = _measure(asked["base"], task, problems, asked["seed"])
        _save(folder, asked)
    tell("training on {:,} pairs of the session and {:,} recorded pairs".format(
        *(sum(counts[n] for counts in asked["pairs"].values()) for n in (0, 1))
    ))  # fmt: skip
    begun = bool(read_kind(folder))
    trained = train(
        asked["base"], out=folder, pairs=asked["digest"], store=path, sample_answers=0, resume=begun,
        on_progress=on_progress, **SETTINGS, seed=asked["seed"],
    )  # fmt: skip
    record: dict[str, Json] = {
        "session": asked["session"], "task": task, "out": str(folder), "base": asked["base"],
        "training": trained.training, "status": trained.status, "model": trained.model,
        "pairs": asked["pairs"], "problems": len(problems), "answers": ANSWERS,
        "observations": OBSERVATIONS, "metrics": {},
    }  # fmt: skip
    if trained.model is not None:
        tell(f"measuring the tuned model on the same {len(problems)} problems")
        after = _measure(trained.model, task, problems, asked["seed"])
        record["metrics"] = _compare(asked["before"], after)
    record["seconds"] = round(time.monotonic() - began, 1)
    record["processor_seconds"] = round(_processor_seconds() - processor, 1)
    return QuickRecord.from_dict(record)


# --- Private parts.


def _processor_seconds() -> float:
    """Return the processor time of this process and of its sandboxes that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _read(folder: Path) -> dict[str, Any]:
    """Return what `_save` wrote into a folder."""
    try:
        found: dict[str, Any] = json.loads((folder / QUICK_FILE).read_text("utf-8"))
        _ = [
            found[name] for name in ("session", "task", "seed", "store", "base", "digest", "pairs")
        ]
    except FileNotFoundError:
        raise UsageError(
            f"{folder} contains no training of --quick: start one with peirce train --quick"
            f" --out {folder}"
        ) from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DataError(
            f"{folder / QUICK_FILE} cannot be read ({error}): remove the folder and start again"
        ) from None
    return found


def _prepare(
    folder: Path, session: str, base: str | Path | None, seed: int, store: str | Path | None
) -> dict[str, Any]:
    """Build and store the pairs, write the base, and return what the folder records."""
    writing.check_target(folder)
    if (folder / QUICK_FILE).exists():
        raise UsageError(
            f"{folder} already contains a training: continue it with peirce train --resume --out"
            f" {folder}, or choose another folder with --out DIR"
        )
    check_unused(folder)
    path = store_path(store).resolve()
    with open_for_reading(path) as opened:
        name = opened.find_session(session)
        task = str(opened.settings(name)["task"])
        if task not in quick.TASKS:
            raise UsageError(
                f"session {name} is of the task {task}, but --quick trains on"
                f" {' and '.join(quick.TASKS)}: name a session of these (peirce sessions lists"
                f" them), or make one with peirce run {quick.TASKS[0]} --problems 20"
            )
        table, report, counts = _mixed_pairs(opened, name, task)
    with Store.open(path, write=True) as opened:
        save_table(opened, table, report)
    if base is None:
        quick.write_base(folder / "base")
    asked = {
        "session": name, "task": task, "seed": seed, "store": str(path),
        "base": str(folder / "base" if base is None else base), "digest": table.digest,
        "pairs": counts,
    }  # fmt: skip
    _save(folder, asked)
    return asked


def _save(folder: Path, asked: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically({folder / QUICK_FILE: json.dumps(asked, indent=1).encode()})


def _mixed_pairs(
    opened: Store, session: str, task: str
) -> tuple[PairTable, dict[str, Json], dict[str, list[int]]]:
    """Return the pairs of the session and the recorded ones, their report, and counts by stage."""
    from ...training.pairs.build_pairs import PairChoices, build_pairs
    from ...training.pairs.preferences import Caps
    from ...training.pairs.report import count_table

    recorded = quick.recorded_pairs(quick.read_recorded(task))
    choices = PairChoices(
        Caps((1, 3, 3), (300, 15, 15)), MAX_SESSION_PAIRS, template=quick.TEMPLATE,
        splits=Splits(0, Fractions(0.8, 0.2, 0.0)),
    )  # fmt: skip
    try:
        made = build_pairs(opened, [session], choices)
    except StoreError:  # each problem has one answer, for example
        table, report = recorded.with_digest(), {}
        own = [0] * len(Stage)
    else:
        table = quick.join_tables(made.table, recorded)
        report, own = dict(made.report), _by_stage(made.table)
    counts = dict(zip(STAGES, map(list, zip(own, _by_stage(recorded), strict=True)), strict=True))
    models = {**report.get("by_model", {}), quick.MODEL_NAME: _authorship(recorded)}
    whole = {
        "sessions": [], "problems": len(recorded.prompts), "without_pairs": 0, "found": {}, "ties": 0,
        "contexts": {}, "left_out": {}, "several": 0, "groups": {}, "missing": [],
        **report, **count_table(table), "by_model": models,
    }  # fmt: skip
    return table, whole, counts


def _by_stage(table: PairTable) -> list[int]:
    return [len(table.positions(stage, Split.TRAIN)) for stage in Stage]


def _authorship(recorded: PairTable) -> dict[str, Json]:
    counts = dict(zip(STAGES, (len(recorded.positions(stage)) for stage in Stage), strict=True))
    return {"answers": len(recorded.answers), "malformed": 0, "inconsistent": 0, "consistent": 0,
            "chosen": counts, "rejected": counts}  # fmt: skip


def _rules(opened: Store, session: str, task: str) -> set[str]:
    """Return the rules and the shown observations of all training problems."""
    names = {name for row in opened.problems(session) for name in _names(row.problem)}
    return names | {one.rule for one in quick.read_recorded(task)}


def _names(problem: Problem) -> list[str]:
    """Return names under which the same problem or rule would occur again."""
    shown = digest_of([[one.input, one.output] for one in problem.shown])
    return [shown, *([str(problem.secret["rule"])] if "rule" in problem.secret else [])]


def _held_out_problems(task: str, known: set[str]) -> list[Any]:
    from ...training.pretrain.measure import make_prompts

    made = make_unseen_problems(task, OBSERVATIONS, 2 * PROBLEMS, HELD_OUT_SEED)
    kept = [
        (problem, space) for problem, space in zip(*made, strict=True)
        if not known.intersection(_names(problem))
    ][:PROBLEMS]  # fmt: skip
    return make_prompts([problem for problem, _ in kept], [space for _, space in kept])


def _measure(folder: str, task: str, problems: Sequence[Any], seed: int) -> dict[str, list[float]]:
    """Return the metrics of a model, one value per held-out problem."""
    return run_coroutine(_measured(folder, problems, seed))


async def _measured(folder: str, problems: Sequence[Any], seed: int) -> dict[str, list[float]]:
    from ...tasks import load_family
    from ...training.external_libraries import quiet_libraries
    from ...training.pretrain import measure

    family = load_family("programs")
    with quiet_libraries():
        model, tokenizer = measure.load_model(folder)
        samples = list(measure.sample_answers(model, tokenizer, family, problems, ANSWERS, seed))
    found: dict[str, list[float]] = {name: [] for name in METRICS}
    async with open_oracles(family) as tools:
        for place, problem in enumerate(problems):
            own = [(0, text, ended, size) for at, text, ended, size in samples if at == place]
            one = await measure.judge_answers(family, [problem], own, tools.make_oracles(), ANSWERS)
            for name in METRICS:
                found[name].append(getattr(one, name))
    return found


def _compare(
    before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> dict[str, Json]:
    """Return means before and after, and the difference with its 95% interval over problems."""
    from ...reports.metrics.statistics import bootstrap

    found: dict[str, Json] = {}
    for name in METRICS:
        pairs = list(zip(before[name], after[name], strict=True))
        change = bootstrap([b - a for a, b in pairs])
        found[name] = QuickMetric(
            before=sum(a for a, _ in pairs) / len(pairs), after=sum(b for _, b in pairs) / len(pairs),
            change=float(change["mean"] or 0.0), low=float(change["low"] or 0.0),
            high=float(change["high"] or 0.0),
        ).to_dict()  # fmt: skip
    return found
