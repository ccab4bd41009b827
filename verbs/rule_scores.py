"""`peirce eval abd`: the stored answers of sessions judged again, their metrics, and the paper's
tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..records import Json, Measuring, Problem
from ..reports import abd, abd_files, abd_groups, evaluate_session, tables, writing
from ..reports.abd_groups import Run
from ..reports.abd_records import MODES, Record
from ..reports.abd_worlds import Described
from ..store import Store
from ..tasks.logic_measures import EVALUATORS, check_evaluator
from ..tools.solve import check_solver
from .driving import complete
from .opening import opened
from .rule_records import Judging
from .settings import shown_model

OF_RULES = abd.EVALUATION.name
EXACT = EVALUATORS[0]


@dataclass(frozen=True)
class JudgedBy:
    """Who judges rules. Raises UsageError for a name that is none."""

    evaluator: str = EXACT
    solver: str = "fast"
    workers: int | None = None

    def __post_init__(self) -> None:
        check_evaluator(self.evaluator)
        check_solver(self.solver)


def evaluate_rules(
    store: Store,
    sessions: Sequence[str],
    judged_by: JudgedBy,
    target: Path | None,
) -> dict[str, Json]:
    """{"sessions", "evaluator", "bootstrap", "tables"} of whole ids; with a target "files". Raises
    UsageError for sessions of another family, Unavailable where the solver died."""
    scored = [
        evaluate_session(store, session, OF_RULES)
        | {"model": shown_model(store.session(session)["settings"])}
        for session in sessions
    ]
    records, problems = complete(_judged(store, sessions, judged_by))
    names = tables.headings(scored)
    runs = abd_groups.ordered(
        Run(session, name, some)
        for session, name, some in zip(sessions, names, records, strict=True)
    )
    for one, some in zip(scored, records, strict=True):
        del one["details"]
        one |= _told(judged_by.evaluator, some)
    whole = abd_files.Scored(judged_by.evaluator, runs, problems)
    by_name = abd_files.tables_of(whole)
    result: dict[str, Json] = {
        "sessions": scored,
        "evaluator": judged_by.evaluator,
        "bootstrap": dict(abd_files.BOOTSTRAP),
        "tables": {name: abd_files.as_json(table) for name, table in by_name.items()},
    }
    if target is not None:
        rows = {one["session"]: one["by_problem"] for one in scored}
        result["files"] = writing.write(abd_files.files(whole, by_name, rows, target))
    return result


async def _judged(
    store: Store, sessions: Sequence[str], judged_by: JudgedBy
) -> tuple[list[tuple[Record, ...]], tuple[Described, ...]]:
    """The records of each session, and each problem that one of them has, once."""
    from ..tasks import family as family_named

    family = family_named("logic")
    assert isinstance(family, Measuring)
    records = []
    problems: dict[str, Problem] = {}
    async with opened(family, workers=judged_by.workers, solver=judged_by.solver) as tools:
        judging = Judging(family.by(judged_by.evaluator), judged_by.evaluator, tools.oracles())
        for session in sessions:
            answered = _answered(store, session)
            problems |= {problem.digest: problem for problem, _ in answered}
            records.append(await judging.records(answered))
        return records, await judging.described(list(problems.values()))


def _answered(store: Store, session: str) -> list[tuple[Problem, list[str]]]:
    """The problems that are done with the raw texts of their answers, in order."""
    done = [row.problem for row in store.problems(session) if row.status == "done"]
    texts: dict[str, list[str]] = {problem.id: [] for problem in done}
    for step in store.steps(session, list(texts), spaces=False):
        texts[step.problem] += [answer.text for answer in step.answers]
    return [(problem, texts[problem.id]) for problem in done]


def _told(evaluator: str, records: Sequence[Record]) -> dict[str, Json]:
    """What takes the place of a session's scores from the store alone."""
    modes = Counter(one.mode for one in records)
    groups: Mapping[str, list[tuple[str, list[Record]]]] = {
        "by_regime": abd_groups.by_regime(records),
        "by_theory": abd_groups.by_theory(records),
        "by_difficulty": abd_groups.by_difficulty(records),
    }
    return {
        "evaluator": evaluator,
        "metrics": abd.intervals(records),
        **{
            group: {name: abd.intervals(some) for name, some in named}
            for group, named in groups.items()
        },
        "failures": {mode: modes[mode] for mode in MODES},
        "by_problem": [{"problem": one.facts.problem, **abd.told(one)} for one in records],
    }
