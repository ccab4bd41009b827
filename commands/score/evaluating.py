"""`peirce eval`: metrics and tables of stored sessions, and their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from ...records import Json, StoreError, UsageError
from ...reports import default_evaluation, evaluate_session, evaluations, find_evaluation
from ...reports.files import tables, writing
from ...reports.metrics.results import Options, Spaces
from ...reports.metrics.sections import (
    EXACT,
    JudgedBy,
    ScoredSessions,
    section_of,
    sections_with,
)
from ...reports.screen.endings import SIDE_BY_SIDE
from ...store import Store
from ...tasks.io.files import expanded
from ...tools.solve import check_solver
from ..arguments import checked
from ..outcome import reading
from ..session.settings import shown_model
from .results import Evaluation, ProblemBaselines

EXACTLY = JudgedBy()


@checked
def evaluate(
    *sessions: str,
    name: str | None = None,
    by_problem: bool = False,
    all_pairs: bool = False,
    without_memorising: bool = False,
    evaluator: str = "exact",
    solver: str = "fast",
    workers: int | None = None,
    store: str | Path | None = None,
    out: str | Path | None = None,
    ratings: Sequence[str | Path] = (),
) -> Evaluation:
    """{"sessions": [{session, task, method, model, problems, metrics}]} from the store alone; by
    `gear` also "settings", a row for each data set, n and model, and "table3"; by `abd` also
    "evaluator", "bootstrap" and "tables" (docs/abd.md).

    name: abd, gear, hypobench or t3; without it the one that fits the task of the first session. all_pairs:
    hidden pairs by which no hypothesis can be judged count too. without_memorising: as if hypotheses
    that memorise what they were shown had not been proposed. evaluator, solver, workers: of `abd`,
    which judges the stored answers again, holdouts too. out: a folder or file for the tables, a
    folder for the figures too (docs/gear.md). ratings: of `hypobench`, sheets that people filled
    (`agree`), for its table 8.
    """
    check_solver(solver)
    judged_by = JudgedBy(evaluator, solver, workers)
    with reading(store) as opened:
        if sessions and name is None:
            _known_word(opened, sessions[0])
        found = [opened.find(session) for session in sessions or ("last",)]
        options = Options(all_pairs, without_memorising)
        result = evaluate_sessions(
            opened, list(dict.fromkeys(found)), name, options, out, judged_by, ratings
        )
    if not by_problem:
        for one in result["sessions"]:
            del one["by_problem"]
    return Evaluation.from_dict(result)


@checked
def baselines(session: str = "last", *, store: str | Path | None = None) -> list[ProblemBaselines]:
    """What stands beside a session on labelled text: {problem, baselines, said} of each problem that is
    done, trained here on the rows that were shown (reports/papers/hypobench/baselines.py)."""
    from ...reports.papers.hypobench.baselines import beside_session

    with reading(store) as opened:
        rows = beside_session(opened, opened.find(session))
    return [ProblemBaselines.from_dict(row) for row in rows]


def _known_word(store: Store, word: str) -> None:
    """Raises StoreError for a first word of `peirce eval` that is neither of the two."""
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
    options: Options,
    out: str | Path | None,
    judged_by: JudgedBy = EXACTLY,
    sheets: Sequence[str | Path] = (),
) -> dict[str, Json]:
    """{"sessions": […]} of whole ids with what the section of the evaluation adds; with out "files",
    and "notes" on what could not be written. judged_by: of rules. sheets: of labelled text, what people
    rated (`agreeing.compared`), for its table 8."""
    target = None if out is None else expanded(out)
    if target is not None:
        writing.check([target]) if _is_file(target) else writing.check_target(target)
    folder = None if target is None or _is_file(target) else target
    recorded = [store.session(session) for session in sessions]
    chosen = name or default_evaluation(recorded[0]["settings"]["family"])
    section = section_of(chosen)
    if sheets and (folder is None or not section.sheets):
        able = sections_with(lambda one: one.sheets)
        raise UsageError(f"filled sheets are for the tables of {able}: name a folder (--out DIR)")
    if section.evaluate is not None:
        return section.evaluate(store, sessions, judged_by, target)
    if judged_by.evaluator != EXACT:
        able = sections_with(lambda one: one.evaluate is not None)
        raise UsageError(
            f"evaluation {chosen} knows no evaluator {judged_by.evaluator!r}: {able} does"
        )
    spaces = Spaces(store)
    scored = [
        evaluate_session(
            store, session, chosen, options=options, spaces=spaces,
            rated=section.rated(store, session),
        ) | {"model": shown_model(one["settings"])}
        for session, one in zip(sessions, recorded, strict=True)
    ]  # fmt: skip
    added = section.add(ScoredSessions(store, sessions, recorded, scored, options, folder, sheets))
    for one, more in zip(scored, added.by_session, strict=bool(added.by_session)):
        one |= more
    result: dict[str, Json] = {"sessions": scored, **added.result}
    for one in scored:
        del one["details"]
    if target is not None:
        if folder is not None and added.note is not None:
            result["notes"] = [added.note] if added.note else []
        result["files"] = writing.write({**_tables(scored, target), **added.files})
    return result


def _is_file(target: Path) -> bool:
    return target.suffix in (".csv", ".md")


def _tables(scored: Sequence[Mapping[str, Json]], target: Path) -> dict[Path, str | bytes]:
    """Tables as files to write: a .csv or .md file, or a folder that gets both and one CSV of
    problems for each session."""
    from ...reports.screen import rating

    name = str(scored[0]["evaluation"])
    metrics = find_evaluation(name).metrics
    long = tables.as_csv(tables.long_table(scored, metrics))
    rows: Literal["metrics", "sessions"] = "metrics" if len(scored) <= SIDE_BY_SIDE else "sessions"
    side_by_side = tables.as_markdown(tables.summary_table(scored, metrics, rows=rows))
    if any(map(rating.compared_by_rules, scored)):
        side_by_side += f"\n\n{rating.BY_RULES}\n"
    if _is_file(target):
        return {target: long if target.suffix == ".csv" else side_by_side}
    of_problems: dict[Path, str | bytes] = {
        target / f"{name}-{one['session']}.csv": tables.as_csv(
            tables.problem_table(one["by_problem"])
        )
        for one in scored
    }
    return {target / f"{name}.csv": long, target / f"{name}.md": side_by_side, **of_problems}
