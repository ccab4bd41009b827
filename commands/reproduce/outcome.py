"""Write the results of an experiment from its finished steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...records import Json
from ...reports.files import writing
from ...reports.papers.gear.training import TrainingRun, build_runs
from ...reports.papers.t3.reproduction import (
    ExperimentFacts,
    Variant,
    published_rows,
    render_files,
    score_variants,
)
from ...training.dpo.reach import Reach
from ..score.evaluating import evaluate
from .folder import ExperimentFolder
from .settings import ReproductionConfig
from .steps import BASE, PAIRS_STEP, Step

SHORT = 12  # characters of a digest on the page


def write_results(
    folder: ExperimentFolder, config: ReproductionConfig, steps: Sequence[Step]
) -> dict[str, Json]:
    """Write the tables and figures, and return {rows, pairs, left_out, files}.

    The files depend only on the results of the steps: an experiment that was killed and continued
    has the same results.json as one that was not.

    Args:
        folder: The folder of the experiment.
        config: The settings.
        steps: All steps whose results are written.
    """
    done = folder.steps
    variants = _variants(folder, config, steps)
    runs = _runs(folder, config)
    base = str(folder.request["base"]["name"])
    short = base.rstrip("/").rpartition("/")[2]
    left_out = [f"{name}: {one['left_out']}." for name, one in done.items() if "left_out" in one]
    left_out += [
        f"{name}: {len(one['failed'])} of {one['problems']} problems failed and are left out, such as"
        f" {next(iter(one['failed']))}."
        for name, one in done.items() if one.get("failed")
    ]  # fmt: skip
    if any(not one.problems for one in variants):
        left_out.append("A model without evaluated problems has no row.")
    pairs = done[PAIRS_STEP]
    about = ExperimentFacts(
        short, _facts(folder, config, steps, base), pairs["by_split"], left_out,
        {
            name.removeprefix("train "): said
            for name, one in done.items() if (said := [*_reach(one), *one.get("notes", ())])
        },
    )  # fmt: skip
    details: dict[str, Json] = {
        "experiment": folder.request["experiment"],
        "base": folder.request["base"] | {"name": short},
        "settings": {k: v for k, v in folder.request["settings"].items() if k not in ("base", "data")},
        "data": folder.request["data"],
        "splits": {split: len(groups) for split, groups in folder.request["splits"].items()},
        "sessions": {
            name: {key: one[key] for key in ("digest", "problems", "answers", "verdicts")}
            for name, one in done.items() if "session" in one
        },
        "pairs": {key: pairs[key] for key in ("digest", "pairs", "by_split")},
        "trainings": {
            name.removeprefix("train "): {
                key: one.get(key)
                for key in ("weights", "examples", "status", "stages", "notes", "reach")
            }
            for name, one in done.items() if "training" in one
        },
    }  # fmt: skip
    files = render_files(
        folder.path, about, [one for one in variants if one.problems], runs, details
    )
    rows = [
        {"base": short, "source": "here", **row}
        for row in score_variants(variants)
        if row["problems"]
    ]
    unknown: dict[str, Json] = {"low": None, "high": None, "n": 0}
    rows += [
        {
            "base": row["base"], "trained_by": row["trained_by"], "source": "published",
            "problems": None,
            "metrics": {name: {"mean": value, **unknown} for name, value in row["metrics"].items()},
        }
        for row in published_rows()
    ]  # fmt: skip
    return {
        "rows": rows, "pairs": pairs["by_split"], "left_out": left_out,
        "files": writing.write_files(files),
    }  # fmt: skip


def _reach(step: Mapping[str, Any]) -> list[str]:
    """Return how far a finished training could move its draws, as at most one sentence."""
    held = step.get("reach")
    return [Reach.from_record(held).describe()] if held else []


def _variants(
    folder: ExperimentFolder, config: ReproductionConfig, steps: Sequence[Step]
) -> list[Variant]:
    """Return the metrics of each model on each problem that it was evaluated on."""
    found: dict[str, dict[str, Any]] = {}
    for step in steps:
        result = folder.steps.get(step.name, {})
        if step.kind != "evaluate" or "session" not in result:
            continue
        own = found.setdefault(step.model, {})
        scored = evaluate(result["session"], name="t3", by_problem=True, store=folder.store)
        for row in scored.sessions[0]["by_problem"]:
            assert step.data_set is not None
            key = json.dumps([step.data_set.task, row["problem"]])
            own[key] = {name: value for name, value in row.items() if name != "problem"}
    return [
        Variant(name, found.get(name, {})) for name in (BASE, *config.schedule) if name in found
    ]


def _runs(folder: ExperimentFolder, config: ReproductionConfig) -> list[TrainingRun]:
    """Return the trainings with their curves, named by their schedules."""
    from ...training.dpo.record import read_record
    from ...training.durable_log import LOG_FILE, read_points

    rows = []
    for schedule in config.schedule:
        if "training" in folder.steps.get(f"train {schedule}", {}):
            place = folder.training(schedule)
            held = read_record(place)
            settings = {key: held[key] for key in ("settings", "base", "stages") if key in held}
            row = {"training": schedule, "status": held["status"], "settings": settings}
            rows.append((row, read_points(place / LOG_FILE)))
    return build_runs(rows)


def _facts(
    folder: ExperimentFolder, config: ReproductionConfig, steps: Sequence[Step], base: str
) -> dict[str, str]:
    done = folder.steps
    collected = [done[one.name] for one in steps if one.kind == "collect"]
    held_out = {
        one.data_set.task: len(one.problems)
        for one in steps if one.kind == "evaluate" and one.data_set is not None
    }  # fmt: skip
    splits = folder.request["splits"]
    return {
        "base": f"{base} (weights {str(folder.request['base']['weights'])[:SHORT]})",
        "collecting models": ", ".join(dict.fromkeys(config.collect)),
        "data sets": ", ".join(folder.request["data"]),
        "problems for training, for validation and held out": ", ".join(
            f"{len(splits[name]):,}" for name in ("train", "validation", "held-out")
        ),
        "evaluated problems": ", ".join(f"{task} {n}" for task, n in held_out.items()),
        "sessions of collecting models": f"{len(collected)} with {sum(one['answers'] for one in collected):,} answers",
        "set of pairs": f"{done[PAIRS_STEP]['pairs']:,} ({str(done[PAIRS_STEP]['digest'])[:SHORT]})",
        "examples of each training": f"{config.examples:,}, probes every {config.period:,}",
        "rounds of the evaluation": f"{config.rounds}, three answers each",
        "seed": str(config.seed),
    }  # fmt: skip
