"""The report sections of `abd` and `hypobench`, which need more than the data in the store.

They use the solver that judges answers again, ratings by people and models, and baselines that are
trained for the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import Json
from ...reports.metrics.sections import (
    EvaluatorOptions,
    RatedMetrics,
    ReportSection,
    ScoredSessions,
    SectionOutput,
)
from ...store import Store
from ..session.settings import display_model_name

if TYPE_CHECKING:
    from rich.console import Console

REFERENCE_METRICS = ("prompt_validity", "gap", "ast_size", "holdout_validity", "holdout_gap")


def _evaluate_rules(
    store: Store, sessions: Sequence[str], judged_by: EvaluatorOptions, target: Path | None
) -> dict[str, Json]:
    from .rule_scores import evaluate_rules

    return evaluate_rules(store, sessions, judged_by, target)


def _show_evaluator(out: Console, result: Mapping[str, Json]) -> None:
    """Print the evaluator, and the metrics of rules that no session proposed."""
    from ...reports.screen.text import format_count

    drawn = result["bootstrap"]
    out.print(
        f"evaluator {result['evaluator']}; intervals: {drawn['resamples']:,} resamples of problems"
        f" within their {drawn['strata']}, seed {drawn['seed']}", soft_wrap=True
    )  # fmt: skip
    for name, told in result.get("beside", {}).items():
        means = [(metric, told["metrics"][metric]["mean"]) for metric in REFERENCE_METRICS]
        parts = [f"{metric} {mean:.3f}" for metric, mean in means if mean is not None]
        counted = format_count(told["problems"], "problem")
        out.print(f"{name}, {counted}: {', '.join(parts)}", soft_wrap=True)


def _show_failures(out: Console, scored: Mapping[str, Json]) -> None:
    from ...reports.screen.text import join_counts

    out.print(f"  rules     {join_counts(scored['failures'])}", soft_wrap=True)


ABD = ReportSection(
    "abd", evaluate=_evaluate_rules, show=_show_evaluator, show_session=_show_failures
)


def _rated(store: Store, session: str) -> RatedMetrics:
    from .rated_sessions import mean_qualities, summarise_ratings

    return mean_qualities(summarise_ratings(store, session))


def _add_texts(given: ScoredSessions) -> SectionOutput:
    """Add baselines, ratings, banks read by several models, and trained classifiers.

    With a folder, also make HypoBench's tables and figures.
    """
    from ...reports.papers.hypobench import cross_model, files
    from ...reports.papers.hypobench.baselines import session_baselines
    from ...reports.papers.hypobench.entries import match_classifiers
    from .rated_sessions import rating_rows, summarise_ratings
    from .rater_agreement import compare_raters

    store, sessions = given.store, given.sessions
    proposers = {one["session"]: display_model_name(one["settings"]) for one in store.sessions()}
    cells = cross_model.build_cells(given.recorded, given.scored, proposers)
    trainings = store.trainings.list()
    problems = [[row.problem for row in store.problems(one)] for one in sessions]
    fine_tuned = match_classifiers(trainings, [one for some in problems for one in some])
    by_session = [
        {"baselines": session_baselines(store, one), "rated": summarise_ratings(store, one)}
        for one in sessions
    ]
    result = {"cross_model": cells, "fine_tuned": [one.as_json() for one in fine_tuned]}
    if given.folder is None:
        return SectionOutput(result, by_session)
    scored = [{**one, **more} for one, more in zip(given.scored, by_session, strict=True)]
    roles = [store.usage(one)["by_role"].keys() for one in sessions]
    ratings = compare_raters(
        [row for one in sessions for row in rating_rows(store, one)], given.sheets
    )
    written, note = files.render_files(
        given.folder, given.recorded, scored, problems, roles, cells, ratings, trainings
    )
    return SectionOutput(result, by_session, written, note)


def _show_cross_model(out: Console, result: Mapping[str, Json]) -> None:
    from ...reports.papers.hypobench import cross_model

    if result["cross_model"]:
        cross_model.print_table(out, result["cross_model"])


def _show_baselines(out: Console, scored: Mapping[str, Json]) -> None:
    from ...reports.screen import rating, summaries

    summaries.print_baselines(out, scored["metrics"], scored["baselines"])
    rating.print_rater_scores(out, scored)


def _finish_with_baselines(out: Console, session: Any, quiet: bool) -> None:
    """Print baselines after a run. They are trained only here, where they are read."""
    if session.status == "failed":
        return
    from ...reports.screen import summaries
    from ...reports.screen.phases import PhaseLines
    from .evaluating import baselines

    out.print()
    with PhaseLines("Training baselines on the same rows", quiet=quiet) as lines:
        told = baselines(
            session.session,
            store=session.store,
            on_baseline=lambda name, rows: lines.begin(
                f"Training the baseline {name} on {rows:,} rows"
            ),
        )
    summaries.print_baselines(out, session.metrics, told)


HYPOBENCH = ReportSection(
    "hypobench",
    build_output=_add_texts,
    read_ratings=_rated,
    takes_sheets=True,
    show=_show_cross_model,
    show_session=_show_baselines,
    show_at_end=_finish_with_baselines,
)
