"""`peirce eval abd`: the stored answers of sessions judged again, their metrics, and the paper's
tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...records import Json, Measuring, OracleSettings, Problem, StepRecord
from ...reports.files import tables, writing
from ...reports.metrics.evaluation import fitting
from ...reports.papers.abd import beside as abd_beside
from ...reports.papers.abd import files, metrics
from ...reports.papers.abd import groups as abd_groups
from ...reports.papers.abd.beside import Known
from ...reports.papers.abd.groups import Run
from ...reports.papers.abd.records import MODES, Record, feedback_of, refined
from ...reports.papers.abd.worlds import Described
from ...store import Store
from ...tasks.logic.measures import EVALUATORS, check_evaluator
from ...tools.solve import check_solver
from ..opening import opened
from ..session.driving import complete
from ..session.settings import shown_model
from .rule_records import Judging, Said

OF_RULES = metrics.EVALUATION.name
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


EXACTLY = JudgedBy()


def evaluate_rules(
    store: Store, sessions: Sequence[str], judged_by: JudgedBy, target: Path | None
) -> dict[str, Json]:
    """{"sessions", "beside", "evaluator", "bootstrap", "tables"} of whole ids; with a target "files". Raises
    UsageError for sessions of another family, Unavailable where the solver died."""
    stored = [_stored(store, session) for session in sessions]
    records, problems, known = complete(_judged(stored, judged_by))
    scored = [
        one.told | _told(judged_by.evaluator, some, one.told["feedback"])
        for one, some in zip(stored, records, strict=True)
    ]
    runs = abd_groups.ordered(
        Run(session, name, some)
        for session, name, some in zip(sessions, tables.headings(scored), records, strict=True)
    )
    beside = abd_beside.besides(known)
    whole = files.Scored(judged_by.evaluator, runs, problems, beside)
    by_name = files.tables_of(whole)
    result: dict[str, Json] = {
        "sessions": scored,
        "beside": abd_beside.told(beside),
        "evaluator": judged_by.evaluator,
        "bootstrap": dict(files.BOOTSTRAP),
        "tables": {name: files.as_json(table) for name, table in by_name.items()},
    }
    if target is not None:
        rows = {one["session"]: one["by_problem"] for one in scored}
        result["files"] = writing.write(files.files(whole, by_name, rows, target))
    return result


@dataclass(frozen=True)
class Stored:
    """A session. told: what is said of it beside its metrics, as `evaluate_session` says it.
    answered: its problems that are done, with what it said to each."""

    told: dict[str, Json]
    answered: list[Said]


def _stored(store: Store, session: str) -> Stored:
    settings = store.settings(session)
    rows = store.problems(session)
    done = [row.problem for row in rows if row.status == "done"]
    fitting(OF_RULES, done)
    steps: dict[str, list[StepRecord]] = {problem.id: [] for problem in done}
    for step in store.steps(session, list(steps), spaces=False):
        steps[step.problem].append(step)
    told = {
        "session": session,
        **{field: settings.get(field) for field in ("task", "method")},
        "model": shown_model(settings),
        "feedback": feedback_of(settings),
        "evaluation": OF_RULES,
        "problems": len(done),
        "left_out": dict(sorted(Counter(r.status for r in rows if r.status != "done").items())),
        "memorising": 0,
        "left_out_pairs": 0,
    }
    return Stored(told, [_said(problem, steps[problem.id]) for problem in done])


def _said(problem: Problem, steps: Sequence[StepRecord]) -> Said:
    texts = [answer.text for step in steps for answer in step.answers]
    return Said(problem, texts, refined(steps))


async def _judged(
    stored: Sequence[Stored], judged_by: JudgedBy
) -> tuple[list[tuple[Record, ...]], tuple[Described, ...], tuple[Known, ...]]:
    """The records of each session; each problem that one of them has, once, and what is known of
    it."""
    from ...tasks import family as family_named

    family = family_named("logic")
    assert isinstance(family, Measuring)
    problems = {problem.digest: problem for one in stored for problem, *_ in one.answered}
    async with opened(
        family, OracleSettings(workers=judged_by.workers, solver=judged_by.solver)
    ) as tools:
        judging = Judging(family.by(judged_by.evaluator), judged_by.evaluator, tools.oracles())
        records = [await judging.records(one.answered) for one in stored]
        some = list(problems.values())
        return records, await judging.described(some), await judging.known(some)


def _told(evaluator: str, records: Sequence[Record], feedback: str) -> dict[str, Json]:
    """What takes the place of a session's scores from the store alone."""
    modes = Counter(one.mode for one in records)
    groups: Mapping[str, list[tuple[str, list[Record]]]] = {
        "by_regime": abd_groups.by_regime(records),
        "by_theory": abd_groups.by_theory(records),
        "by_difficulty": abd_groups.by_difficulty(records),
    }
    breaches = Counter(name for one in records for name in one.breaches)
    malformed = Counter(name for one in records for name in one.malformed)
    return {
        "evaluator": evaluator,
        "breaches": dict(breaches.most_common()),
        "malformed": dict(malformed.most_common()),
        "metrics": metrics.intervals(records),
        **{
            group: {name: metrics.intervals(some) for name, some in named}
            for group, named in groups.items()
        },
        "failures": {mode: modes[mode] for mode in MODES},
        "by_problem": [
            {"problem": one.facts.problem, "feedback": feedback, **metrics.told(one)}
            for one in records
        ],
    }
