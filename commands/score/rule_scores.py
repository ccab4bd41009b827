"""`peirce eval abd`: judge the stored answers of sessions again, and compute the paper's tables."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from ...records import (
    Agreement,
    Family,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    MeasuresHypotheses,
    Oracles,
    OracleSettings,
    Problem,
    StepRecord,
    View,
)
from ...reports.files import tables, writing
from ...reports.metrics.evaluation import require_evaluation
from ...reports.metrics.sections import EvaluatorOptions
from ...reports.papers.abd import files, metrics
from ...reports.papers.abd import groups as abd_groups
from ...reports.papers.abd import reference_rules as abd_beside
from ...reports.papers.abd.groups import SessionRecords
from ...reports.papers.abd.records import (
    MODES,
    Attempt,
    Record,
    build_record,
    choose_attempt,
    is_refined,
    problem_facts,
    session_feedback,
)
from ...reports.papers.abd.reference_rules import ANTECEDENT, PLANTED, Kind, ReferenceRule
from ...reports.papers.abd.worlds import ProblemStatistics, describe_problem
from ...store import Store
from ...tasks.logic.family import make_hypothesis
from ...tasks.logic.measures import check_evaluator, measure_rule
from ...tools.logic.rules import InvalidRule, read_rule
from ...tools.logic.theories import theory_from_json
from ...tools.solve import check_solver
from ..oracles import open_oracles
from ..session.event_loops import run_coroutine
from ..session.settings import display_model_name

# --- Stored answers of a logic session are judged again, holdouts included, by either evaluator. No
# model is called. The solver is the one that `run` and `check` use.

MAX_CONCURRENT_PROBLEMS = 64  # enough for the cores of a cluster
EMPTY_SPACE = InputSet("none", ())
TRIVIAL_RULE = "(= x x)"  # valid wherever any rule is; judging it gives the lower bounds
T = TypeVar("T")
Item = TypeVar("Item")


class SessionAnswers(NamedTuple):
    """The answers of one session to one problem.

    Args:
        problem: the problem.
        answers: the raw texts of the answers, in order.
        refined: whether the session refined its answers (see `abd.records.choose_attempt`).
    """

    problem: Problem
    answers: Sequence[str]
    refined: bool = False


@dataclass(frozen=True)
class RuleJudge:
    """A judge of exception rules, which uses the exact or the released evaluator.

    Args:
        family: the family, configured to read rules as the evaluator does.
        evaluator: exact or released.
        oracles: the solver that applies the rules.
    """

    family: Family
    evaluator: str
    oracles: Oracles

    async def judge_answers(self, answered: Sequence[SessionAnswers]) -> tuple[Record, ...]:
        """Judge the answers to each problem, and return one record per problem, in order.

        Raises:
            Unavailable: the solver stopped unexpectedly.
        """
        return await _apply_to_all(self._record, answered)

    async def describe_problems(self, problems: Sequence[Problem]) -> tuple[ProblemStatistics, ...]:
        """Return statistics of each problem: the bounds of its worlds, and the costs of its planted
        rule.
        """
        return await _apply_to_all(self._described, problems)

    async def judge_known_rules(self, problems: Sequence[Problem]) -> tuple[ReferenceRule, ...]:
        """Judge the planted rules of the problems and the conditions of their theories."""
        found = await _apply_to_all(self._known, problems)
        return tuple(one for some in found for one in some)

    async def _record(self, answered: SessionAnswers) -> Record:
        known, answers, refined = answered
        problem = await self._costed(self._adapt_problem(known))
        view = problem.make_view(EMPTY_SPACE)
        shown: dict[str, Agreement] = {}
        attempts: list[Attempt] = []
        for answer in answers:
            for item in self.family.parse(view, answer, self.family.answer_formats[0]):
                if isinstance(item, Malformed):
                    closed = self._closed(problem, view, answer)
                    attempts.append(Attempt(len(attempts), answer, None, item.reason, closed))
                    continue
                if item.digest not in shown:
                    shown[item.digest] = await self._agree(item, problem, view, hidden=False)
                closed = item.meta.get("closed", 0)
                attempts.append(
                    Attempt(len(attempts), answer, item, "", closed, shown[item.digest])
                )
        chosen = choose_attempt(attempts, refined)
        hidden = None
        if chosen.rule is not None:
            hidden = await self._agree(chosen.rule, problem, view, hidden=True)
        of_rule = measure_rule(problem, chosen.shown, hidden, self.evaluator)
        return build_record(problem, problem_facts(known), attempts, chosen, of_rule)

    async def _known(self, known: Problem) -> list[ReferenceRule]:
        problem = await self._costed(self._adapt_problem(known))
        view = problem.make_view(EMPTY_SPACE)
        some: list[tuple[Kind, Hypothesis | None, bool]] = [
            (PLANTED, *_reference(problem)),
            (ANTECEDENT, *_antecedent(problem)),
        ]
        made = []
        for kind, rule, in_scope in some:
            if rule is None:
                continue
            shown = await self._agree(rule, problem, view, hidden=False)
            hidden = await self._agree(rule, problem, view, hidden=True)
            attempt = Attempt(0, rule.text, rule, shown=shown)
            of_rule = measure_rule(problem, shown, hidden, self.evaluator)
            one = build_record(problem, problem_facts(known), [attempt], attempt, of_rule)
            made.append(ReferenceRule(kind, one, in_scope))
        return made

    async def _described(self, known: Problem) -> ProblemStatistics:
        problem = self._adapt_problem(known)
        view = problem.make_view(EMPTY_SPACE)
        rule, in_scope = _reference(problem)
        asked = rule or _bounds_alone(problem)
        shown = await self._agree(asked, problem, view, hidden=False)
        hidden = await self._agree(asked, problem, view, hidden=True)
        of_rule = measure_rule(problem, shown, hidden, self.evaluator)
        return describe_problem(known, problem_facts(known), of_rule, rule is not None, in_scope)

    async def _costed(self, problem: Problem) -> Problem:
        """Return the problem with the cost of its planted rule.

        The rule is judged here where the cost is not recorded.
        """
        rule, _ = _reference(problem)
        if problem.secret.get("reference_cost") is not None or rule is None:
            return problem
        shown = await self._agree(rule, problem, problem.make_view(EMPTY_SPACE), hidden=False)
        cost = measure_rule(problem, shown, None, self.evaluator).prompt.cost
        return replace(problem, secret={**problem.secret, "reference_cost": cost})

    def _adapt_problem(self, problem: Problem) -> Problem:
        assert isinstance(self.family, MeasuresHypotheses)
        return self.family.adapt_problem(problem, self.evaluator)

    def _closed(self, problem: Problem, view: View, answer: str) -> int:
        """Return how many parentheses were added to a text that is still no rule."""
        assert isinstance(self.family, MeasuresHypotheses)
        said = self.family.extract_hypothesis(view, answer)
        told = self.family.compute_measures(problem, said, None, None, self.evaluator)
        return int(told["auto_closed"])

    async def _agree(
        self, rule: Hypothesis, problem: Problem, view: View, hidden: bool
    ) -> Agreement:
        worlds = problem.hidden if hidden else problem.shown
        return await self.family.measure_agreement(rule, worlds, view, self.oracles)


def _reference(problem: Problem) -> tuple[Hypothesis | None, bool]:
    """Return the planted rule and whether it is in scope.

    Published planted rules are not always in scope; their cost counts all the same. The rule is
    None where there is none, or where it is no formula about x.
    """
    text = problem.secret.get("reference")
    if not isinstance(text, str):
        return None, False
    theory = theory_from_json(problem.public["theory"])
    found = read_rule(text, replace(theory, allowed=frozenset(theory.signature)), objects=True)
    if isinstance(found, InvalidRule):
        return None, False
    return make_hypothesis(found.formula), not isinstance(read_rule(text, theory), InvalidRule)


def _antecedent(problem: Problem) -> tuple[Hypothesis | None, bool]:
    """Return the antecedent of the theory's defaults and whether it is in scope."""
    theory = theory_from_json(problem.public["theory"])
    if theory.antecedent is None:
        return None, False
    rule = make_hypothesis(theory.antecedent)
    return rule, not isinstance(read_rule(rule.text, theory), InvalidRule)


def _bounds_alone(problem: Problem) -> Hypothesis:
    found = read_rule(TRIVIAL_RULE, theory_from_json(problem.public["theory"]))
    assert not isinstance(found, InvalidRule)
    return make_hypothesis(found.formula)


async def _apply_to_all(
    work: Callable[[Item], Awaitable[T]], items: Sequence[Item]
) -> tuple[T, ...]:
    """Apply `work` to the items concurrently, and return the results in order."""
    turns = asyncio.Semaphore(MAX_CONCURRENT_PROBLEMS)

    async def apply(item: Item) -> T:
        async with turns:
            return await work(item)

    return tuple(await asyncio.gather(*map(apply, items)))


EVALUATION_NAME = metrics.EVALUATION.name


def evaluate_rules(
    store: Store, sessions: Sequence[str], judged_by: EvaluatorOptions, target: Path | None
) -> dict[str, Json]:
    """Evaluate sessions on rules about worlds.

    Args:
        store: the open store.
        sessions: full ids of the sessions.
        judged_by: evaluator, solver and number of workers.
        target: file or folder for the tables; None to write nothing.

    Returns:
        An object with "sessions", "beside", "evaluator", "bootstrap" and "tables", and with "files"
            if
        `target` is set.

    Raises:
        UsageError: a session has another family, or the evaluator or solver is unknown.
        Unavailable: the solver stopped unexpectedly.
    """
    check_evaluator(judged_by.evaluator)
    check_solver(judged_by.solver)
    stored = [_stored(store, session) for session in sessions]
    records, problems, known = run_coroutine(_judged(stored, judged_by))
    scored = [
        one.summary | _summarise_records(judged_by.evaluator, some, one.summary["feedback"])
        for one, some in zip(stored, records, strict=True)
    ]
    runs = abd_groups.sort_runs(
        SessionRecords(session, name, some)
        for session, name, some in zip(
            sessions, tables.session_headings(scored), records, strict=True
        )
    )
    beside = abd_beside.reference_runs(known)
    whole = files.ScoredRuns(judged_by.evaluator, runs, problems, beside)
    by_name = files.build_tables(whole)
    result: dict[str, Json] = {
        "sessions": scored,
        "beside": abd_beside.runs_to_json(beside),
        "evaluator": judged_by.evaluator,
        "bootstrap": dict(files.BOOTSTRAP),
        "tables": {name: files.as_json(table) for name, table in by_name.items()},
    }
    if target is not None:
        rows = {one["session"]: one["by_problem"] for one in scored}
        result["files"] = writing.write_files(files.render_files(whole, by_name, rows, target))
    return result


@dataclass(frozen=True)
class StoredSession:
    """A stored session whose rules are to be judged again.

    Args:
        summary: the fields of the session other than metrics, as in `evaluate_session`.
        answers: the session's answers to each finished problem.
    """

    summary: dict[str, Json]
    answers: list[SessionAnswers]


def _stored(store: Store, session: str) -> StoredSession:
    settings = store.settings(session)
    rows = store.problems(session)
    done = [row.problem for row in rows if row.status == "done"]
    require_evaluation(EVALUATION_NAME, done)
    steps: dict[str, list[StepRecord]] = {problem.id: [] for problem in done}
    for step in store.steps(session, list(steps), spaces=False):
        steps[step.problem].append(step)
    told = {
        "session": session,
        **{field: settings.get(field) for field in ("task", "method")},
        "model": display_model_name(settings),
        "feedback": session_feedback(settings),
        "evaluation": EVALUATION_NAME,
        "problems": len(done),
        "left_out": dict(sorted(Counter(r.status for r in rows if r.status != "done").items())),
        "memorising": 0,
        "left_out_pairs": 0,
    }
    return StoredSession(told, [_collect_answers(problem, steps[problem.id]) for problem in done])


def _collect_answers(problem: Problem, steps: Sequence[StepRecord]) -> SessionAnswers:
    texts = [answer.text for step in steps for answer in step.answers]
    return SessionAnswers(problem, texts, is_refined(steps))


async def _judged(
    stored: Sequence[StoredSession], judged_by: EvaluatorOptions
) -> tuple[list[tuple[Record, ...]], tuple[ProblemStatistics, ...], tuple[ReferenceRule, ...]]:
    """Return the records of each session, and descriptions and known rules of all problems.

    A problem of several sessions is described once.
    """
    from ...tasks import load_family as family_named

    family = family_named("logic")
    assert isinstance(family, MeasuresHypotheses)
    problems = {problem.digest: problem for one in stored for problem, *_ in one.answers}
    async with open_oracles(
        family,
        OracleSettings(workers=judged_by.workers, solver=judged_by.solver),
        judged_by.cluster,
    ) as tools:
        judging = RuleJudge(
            family.with_evaluator(judged_by.evaluator), judged_by.evaluator, tools.make_oracles()
        )
        records = [await judging.judge_answers(one.answers) for one in stored]
        some = list(problems.values())
        return records, await judging.describe_problems(some), await judging.judge_known_rules(some)


def _summarise_records(evaluator: str, records: Sequence[Record], feedback: str) -> dict[str, Json]:
    """Return the fields that replace those that `evaluate_session` computes from the store."""
    modes = Counter(one.mode for one in records)
    groups: Mapping[str, list[tuple[str, list[Record]]]] = {
        "by_regime": abd_groups.group_by_regime(records),
        "by_theory": abd_groups.group_by_theory(records),
        "by_difficulty": abd_groups.group_by_difficulty(records),
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
            {"problem": one.facts.problem, "feedback": feedback, **metrics.record_row(one)}
            for one in records
        ],
    }
