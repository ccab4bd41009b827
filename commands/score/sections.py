"""Report sections of `abd` and `hypobench`, which need more than the store.

They use the solver that judges answers again, ratings by people and models, and baselines trained
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records import Json
from ...reports.metrics.sections import Added, JudgedBy, Rated, ReportSection, ScoredSessions
from ...store import Store
from ..session.settings import shown_model

if TYPE_CHECKING:
    from rich.console import Console

BESIDE = ("prompt_validity", "gap", "ast_size", "holdout_validity", "holdout_gap")


def _evaluate_rules(
    store: Store, sessions: Sequence[str], judged_by: JudgedBy, target: Path | None
) -> dict[str, Json]:
    from .rule_scores import evaluate_rules

    return evaluate_rules(store, sessions, judged_by, target)


def _show_evaluator(out: Console, result: Mapping[str, Json]) -> None:
    """Print the evaluator, and the metrics of rules that no session proposed."""
    from ...reports.screen.text import number_of

    drawn = result["bootstrap"]
    out.print(
        f"evaluator {result['evaluator']}; intervals: {drawn['resamples']:,} resamples of problems"
        f" within their {drawn['strata']}, seed {drawn['seed']}", soft_wrap=True
    )  # fmt: skip
    for name, told in result.get("beside", {}).items():
        means = [(metric, told["metrics"][metric]["mean"]) for metric in BESIDE]
        parts = [f"{metric} {mean:.3f}" for metric, mean in means if mean is not None]
        counted = number_of(told["problems"], "problem")
        out.print(f"{name}, {counted}: {', '.join(parts)}", soft_wrap=True)


def _show_failures(out: Console, scored: Mapping[str, Json]) -> None:
    from ...reports.screen.text import counts

    out.print(f"  rules     {counts(scored['failures'])}", soft_wrap=True)


ABD = ReportSection(
    "abd", evaluate=_evaluate_rules, show=_show_evaluator, show_session=_show_failures
)


def _rated(store: Store, session: str) -> Rated:
    from .rated_sessions import qualities, ratings_of

    return qualities(ratings_of(store, session))


def _add_texts(given: ScoredSessions) -> Added:
    """Add baselines, ratings, banks read by several models, and trained classifiers.

    With a folder, also make HypoBench's tables and figures.
    """
    from ...reports.papers.hypobench import cross_model, files
    from ...reports.papers.hypobench.baselines import beside_session
    from ...reports.papers.hypobench.entries import tuned
    from .agreeing import compared
    from .rated_sessions import rating_rows, ratings_of

    store, sessions = given.store, given.sessions
    proposers = {one["session"]: shown_model(one["settings"]) for one in store.sessions()}
    cells = cross_model.cells(given.recorded, given.scored, proposers)
    trainings = store.trainings.list()
    problems = [[row.problem for row in store.problems(one)] for one in sessions]
    fine_tuned = tuned(trainings, [one for some in problems for one in some])
    by_session = [
        {"baselines": beside_session(store, one), "rated": ratings_of(store, one)}
        for one in sessions
    ]
    result = {"cross_model": cells, "fine_tuned": [one.as_json() for one in fine_tuned]}
    if given.folder is None:
        return Added(result, by_session)
    scored = [{**one, **more} for one, more in zip(given.scored, by_session, strict=True)]
    roles = [store.usage(one)["by_role"].keys() for one in sessions]
    ratings = compared([row for one in sessions for row in rating_rows(store, one)], given.sheets)
    written, note = files.files(
        given.folder, given.recorded, scored, problems, roles, cells, ratings, trainings
    )
    return Added(result, by_session, written, note)


def _show_cross_model(out: Console, result: Mapping[str, Json]) -> None:
    from ...reports.papers.hypobench import cross_model

    if result["cross_model"]:
        cross_model.print_table(out, result["cross_model"])


def _show_baselines(out: Console, scored: Mapping[str, Json]) -> None:
    from ...reports.screen import endings, rating

    endings.print_beside(out, scored["metrics"], scored["baselines"])
    rating.print_raters(out, scored)


def _finish_with_baselines(out: Console, session: Any) -> None:
    """Print baselines after a run. They are trained only here, where they are read."""
    if session.status == "failed":
        return
    from ...reports.screen import endings, text
    from .evaluating import baselines

    out.print()
    with text.console(talk=True).status("Training baselines on the same rows"):
        told = baselines(session.session, store=session.store)
    endings.print_beside(out, session.metrics, told)


HYPOBENCH = ReportSection(
    "hypobench",
    add=_add_texts,
    rated=_rated,
    sheets=True,
    show=_show_cross_model,
    show_session=_show_baselines,
    finish=_finish_with_baselines,
)
