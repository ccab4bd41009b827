"""`peirce eval`: compute metrics and tables of stored sessions, and write them to files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ...records import Json, StoreError, UsageError
from ...reports import default_evaluation, evaluate_session, evaluations, find_evaluation
from ...reports.files import tables, writing
from ...reports.metrics.results import ScoringOptions, SpaceCache
from ...reports.metrics.sections import (
    DEFAULT_EVALUATOR,
    EvaluatorOptions,
    ScoredSessions,
    find_section,
    list_sections,
)
from ...reports.screen.summaries import MAX_SESSION_COLUMNS
from ...store import Store
from ...tasks.io.files import expand_home
from ...tools.solve import check_solver
from ..arguments import validate_call
from ..outcome import open_for_reading
from ..session.settings import display_model_name
from .evaluation_results import Evaluation, ProblemBaselines

EXACT_JUDGE = EvaluatorOptions()


@validate_call
def evaluate(
    *sessions: str,
    name: str | None = None,
    by_problem: bool = False,
    all_pairs: bool = False,
    without_memorising: bool = False,
    evaluator: str = "exact",
    solver: str = "fast",
    workers: int | None = None,
    cluster: str = "local",
    store: str | Path | None = None,
    out: str | Path | None = None,
    ratings: Sequence[str | Path] = (),
) -> Evaluation:
    """Compute the metrics of stored sessions.

    The metrics are computed from the store alone, except for `abd`: its stored answers are judged
    again.

    Args:
        sessions: ids, unique prefixes of ids, or "last" (the default).
        name: the evaluation: abd, gear, hypobench or t3; None for the evaluation that fits the task
            of the first session.
        by_problem: also return the metrics of each problem.
        all_pairs: also count hidden pairs by which no hypothesis can be judged.
        without_memorising: leave out hypotheses that memorise the shown observations.
        evaluator: for `abd`, exact or released. The evaluator also judges the holdouts.
        solver: for `abd`, the solver to use.
        workers: for `abd`, the number of workers; None for the default.
        cluster: for `abd`, where answers are judged: local, ray or ray://HOST.
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        out: a .csv or .md file for the tables, or a folder for tables and figures
            (docs/explanation/gear.md).
        ratings: for `hypobench`, sheets filled in by people (see `agree`), for table 8 of the
            paper.

    Returns:
        Session, task, method, model, number of problems and metrics for each session. `gear` adds
        "settings", with one row for each combination of data set, number of shown pairs and model,
            and
        "table3". `abd` adds "evaluator", "bootstrap" and "tables"
        (docs/explanation/exception-rules.md).

    Raises:
        UsageError: an option is invalid or does not fit the evaluation.
        StoreError: a session cannot be found.
    """
    check_solver(solver)
    judged_by = EvaluatorOptions(evaluator, solver, workers, cluster)
    with open_for_reading(store) as opened:
        if sessions and name is None:
            _known_word(opened, sessions[0])
        found = [opened.find_session(session) for session in sessions or ("last",)]
        options = ScoringOptions(all_pairs, without_memorising)
        result = evaluate_sessions(
            opened, list(dict.fromkeys(found)), name, options, out, judged_by, ratings
        )
    if not by_problem:
        for one in result["sessions"]:
            del one["by_problem"]
    return Evaluation.from_dict(result)


@validate_call
def baselines(
    session: str = "last",
    *,
    store: str | Path | None = None,
    on_baseline: Callable[[str, int], None] | None = None,
) -> list[ProblemBaselines]:
    """Train baselines for each finished problem of a session on labelled text, and return their
    scores.

    A baseline predicts labels without hypotheses. It is trained on the rows that the session was
    shown, and tested on the rows that the session was tested on
    (reports/papers/hypobench/baselines.py).

    Args:
        session: the session's id, a unique prefix of the id, or "last".
        store: path of the store; None for $PEIRCE_STORE, else peirce.duckdb.
        on_baseline: called with the name of each baseline and the number of its rows before it is
            trained; None to be told nothing.
    """
    from ...reports.papers.hypobench.baselines import session_baselines

    with open_for_reading(store) as opened:
        rows = session_baselines(opened, opened.find_session(session), on_baseline)
    return [ProblemBaselines.from_dict(row) for row in rows]


def _known_word(store: Store, word: str) -> None:
    """Raise StoreError if the word is neither an evaluation nor a session."""
    ids = [row["session"] for row in store.sessions()]
    if word != "last" and not any(session.startswith(word) for session in ids):
        names = ", ".join(one.name for one in evaluations())
        raise StoreError(
            f"there is neither an evaluation nor a session {word!r}: the evaluations are {names},"
            " and `peirce sessions` lists the sessions"
        )


def evaluate_sessions(
    store: Store,
    sessions: Sequence[str],
    name: str | None,
    options: ScoringOptions,
    out: str | Path | None,
    judged_by: EvaluatorOptions = EXACT_JUDGE,
    sheets: Sequence[str | Path] = (),
) -> dict[str, Json]:
    """Compute the metrics of sessions in an open store.

    Args:
        store: the open store.
        sessions: full ids of the sessions.
        name: name of the evaluation; None for the evaluation that fits the first session.
        options: which hypotheses and observations the metrics count.
        out: file or folder for the tables; None to write nothing.
        judged_by: evaluator, solver and workers, for evaluations that judge stored answers again.
        sheets: for labelled text, sheets filled in by people (`compare_raters`), for table 8 of the
            paper.

    Returns:
        An object with "sessions" and the keys that the evaluation adds. With `out` it also has
        "files", and "notes" about what could not be written.

    Raises:
        UsageError: the evaluation does not support the evaluator or the sheets.
    """
    target = None if out is None else expand_home(out)
    if target is not None:
        writing.check_paths([target]) if _is_file(target) else writing.check_target(target)
    folder = None if target is None or _is_file(target) else target
    recorded = [store.session(session) for session in sessions]
    chosen = name or default_evaluation(recorded[0]["settings"]["family"])
    section = find_section(chosen)
    if sheets and (folder is None or not section.takes_sheets):
        able = list_sections(lambda one: one.takes_sheets)
        raise UsageError(
            f"--ratings is only used for the tables of {able}: also give a folder with --out DIR"
        )
    if section.evaluate is not None:
        return section.evaluate(store, sessions, judged_by, target)
    if judged_by.evaluator != DEFAULT_EVALUATOR:
        able = list_sections(lambda one: one.evaluate is not None)
        raise UsageError(
            f"evaluation {chosen} has no evaluator {judged_by.evaluator!r}; {able} does"
        )
    if judged_by.cluster != "local":
        able = list_sections(lambda one: one.evaluate is not None)
        raise UsageError(
            f"--cluster {judged_by.cluster}: evaluation {chosen} only reads the store of this machine;"
            f" {able} judges answers on a cluster"
        )
    spaces = SpaceCache(store)
    scored = [
        evaluate_session(
            store, session, chosen, options=options, spaces=spaces,
            ratings=section.read_ratings(store, session),
        ) | {"model": display_model_name(one["settings"])}
        for session, one in zip(sessions, recorded, strict=True)
    ]  # fmt: skip
    added = section.build_output(
        ScoredSessions(store, sessions, recorded, scored, options, folder, sheets)
    )
    for one, more in zip(scored, added.by_session, strict=bool(added.by_session)):
        one |= more
    result: dict[str, Json] = {"sessions": scored, **added.result}
    for one in scored:
        del one["details"]
    if target is not None:
        if folder is not None and added.note is not None:
            result["notes"] = [added.note] if added.note else []
        result["files"] = writing.write_files({**_tables(scored, target), **added.files})
    return result


def _is_file(target: Path) -> bool:
    return target.suffix in (".csv", ".md")


def _tables(scored: Sequence[Mapping[str, Json]], target: Path) -> dict[Path, str | bytes]:
    """Return tables as contents of files.

    These are one .csv or .md file, or both in a folder with a CSV of problems for each session.
    """
    from ...reports.screen import rating

    name = str(scored[0]["evaluation"])
    metrics = find_evaluation(name).metrics
    long = tables.as_csv(tables.long_table(scored, metrics))
    rows: Literal["metrics", "sessions"] = (
        "metrics" if len(scored) <= MAX_SESSION_COLUMNS else "sessions"
    )
    side_by_side = tables.as_markdown(tables.summary_table(scored, metrics, rows=rows))
    if any(map(rating.has_exact_discovery, scored)):
        side_by_side += f"\n\n{rating.EXACT_SCORES_NOTE}\n"
    if _is_file(target):
        return {target: long if target.suffix == ".csv" else side_by_side}
    of_problems: dict[Path, str | bytes] = {
        target / f"{name}-{one['session']}.csv": tables.as_csv(
            tables.problem_table(one["by_problem"])
        )
        for one in scored
    }
    return {target / f"{name}.csv": long, target / f"{name}.md": side_by_side, **of_problems}
