"""Define evaluations (named sets of metrics), and score stored sessions with them.

An evaluation computes metrics from the stored steps of a problem and never calls a model or a tool.
Evaluations are registered by name (records/registry.py).
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

from ...records import (
    HasEvaluation,
    InputSet,
    Json,
    Problem,
    StepRecord,
    UsageError,
    registry,
)
from ...store.bank import build_bank
from ...tasks import load_family as family_named
from .results import (
    DEFAULT_OPTIONS,
    ProblemDetail,
    ScoringOptions,
    SpaceCache,
    apply_options,
    pair_with_steps,
)
from .statistics import RESAMPLES, Interval, metric_intervals
from .tallies import Tally, tally

if TYPE_CHECKING:
    from ...store import ProblemRow, Store


@dataclass(frozen=True)
class Metric:
    """The definition of a metric: its name, its direction and its description.

    Args:
        name: Key of the metric in results.
        better: Whether higher or lower values are better; None if neither is better.
        about: One-line description.
    """

    name: str
    better: Literal["higher", "lower"] | None
    about: str

    @property
    def arrow(self) -> str:
        """An arrow that shows whether higher or lower is better; an empty string if neither is."""
        return {"higher": "↑", "lower": "↓", None: ""}[self.better]


class ProblemMetrics(Protocol):
    """A function that computes the metrics of one problem."""

    def __call__(
        self, problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
    ) -> dict[str, float | None]:
        """Return the value of each metric; None if the problem has no value.

        Args:
            problem: The problem.
            steps: The recorded steps of this problem, in order.
            space: The sample space of the problem, for evaluations that weight inputs. If it is
                None, all inputs have the same weight.
        """
        ...


class RowIntervals(Protocol):
    """A function that computes intervals of metrics over the rows of one problem on labelled
    text.
    """

    def __call__(
        self, problem: Problem, steps: Sequence[StepRecord], seed: int, resamples: int
    ) -> dict[str, Interval]:
        """Return the intervals of a problem's metrics over the rows for which labels were
        predicted.

        In an interval, n is the number of rows. Metrics without a value are left out.

        Args:
            problem: The problem.
            steps: The recorded steps of this problem, in order.
            seed: Seed of the bootstrap.
            resamples: Number of bootstrap samples.
        """
        ...


DEFAULT_EVALUATION = "gear"  # The default evaluation of a family.
METHODS_WITHOUT_BANK = ("direct",)  # Methods without a bank, which differs from an empty bank.


class BankMetrics(Protocol):
    """A function that computes metrics of a problem's bank of hypotheses."""

    def __call__(self, problem: Problem, bank: Sequence[str]) -> dict[str, float | None]:
        """Return metrics of the sentences in a problem's bank.

        Metrics without a value are None or left out.

        Args:
            problem: The problem.
            bank: The sentences, best first.
        """
        ...


@dataclass(frozen=True)
class Evaluation:
    """A named set of metrics, with the functions that compute them.

    Args:
        name: Name of the evaluation in the registry.
        about: One-line description.
        families: Families whose problems can be scored; None means all families.
        metrics: The metrics, in the order of tables.
        problem_metrics: Computes the metrics of one problem.
        stratum: Returns a group name for a problem. The bootstrap then resamples problems within
            their group. None resamples over all problems.
        note: What a reader must know about scores that are computed from the store alone.
        row_intervals: Computes intervals over rows, for tasks in which a problem is a complete data
            set. A session with one problem has only these intervals.
        bank_metrics: Computes metrics of the hypotheses that a session keeps, in addition to
            `problem_metrics`.
        needs_all_predictions: Whether the predictions of inconsistent hypotheses are needed as
            well.
        main: Names of the metrics that the screen shows by default; empty means all metrics.
    """

    name: str
    about: str
    families: frozenset[str] | None
    metrics: tuple[Metric, ...]
    problem_metrics: ProblemMetrics
    stratum: Callable[[Problem], str] | None = None
    note: str = ""
    row_intervals: RowIntervals | None = None
    bank_metrics: BankMetrics | None = None
    needs_all_predictions: bool = False
    main: tuple[str, ...] = ()

    def supports_family(self, family: str) -> bool:
        """Return whether this evaluation can score problems of the family `family`."""
        return self.families is None or family in self.families

    def intervals(
        self,
        problems: Sequence[Problem],
        results: Sequence[Mapping[str, float | None]],
        seed: int,
        resamples: int,
        rows: Sequence[Mapping[str, Interval]] = (),
    ) -> dict[str, Interval]:
        """Return the mean and the interval of each metric over several problems.

        Args:
            problems: The scored problems.
            results: The metrics of each problem.
            seed: Seed of the bootstrap.
            resamples: Number of bootstrap samples.
            rows: The intervals of each problem over its rows (from `row_intervals`). They are used
                only if there is one problem.
        """
        strata = None if self.stratum is None else list(map(self.stratum, problems))
        found = metric_intervals(
            results, self.metric_names, strata=strata, seed=seed, resamples=resamples
        )
        return found | dict(rows[0]) if len(rows) == 1 else found

    def on_screen(self, all_metrics: bool) -> tuple[Metric, ...]:
        """Return the metrics to show on the screen.

        These are the main metrics. All metrics are returned if `all_metrics` is true, or if the
        evaluation has no main metrics.
        """
        if all_metrics or not self.main:
            return self.metrics
        return tuple(one for one in self.metrics if one.name in self.main)

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of the metrics, in the order of tables."""
        return tuple(metric.name for metric in self.metrics)


StepsReader = Callable[[Problem], Iterable[StepRecord]]


class Scores(TypedDict):
    """The scores of several problems, as `evaluate` returns them.

    "metrics" contains the mean and the interval of each metric. "by_problem" contains {"problem":
    id, metric: value, …} for each problem.
    """

    evaluation: str
    problems: int
    metrics: dict[str, Interval]
    by_problem: list[dict[str, Json]]


def evaluations() -> list[Evaluation]:
    """Return all registered evaluations, sorted by name."""
    return registry.load_all("metrics")


def find_evaluation(name: str) -> Evaluation:
    """Return the evaluation with the name `name`.

    Raises:
        UsageError: No evaluation has this name.
    """
    if registry.is_registered("metrics", name):
        found: Evaluation = registry.load("metrics", name)
        return found
    known = registry.component_names("metrics")
    near = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"there is no evaluation {name!r}; choose one of {', '.join(known)}{meant}")


def default_evaluation(family: str) -> str:
    """Return the name of the evaluation that a task family uses by default."""
    found = family_named(family)
    return found.evaluation if isinstance(found, HasEvaluation) else DEFAULT_EVALUATION


def require_evaluation(name: str, problems: Sequence[Problem]) -> Evaluation:
    """Return the evaluation with the name `name`, and check that it can score the problems.

    Raises:
        UsageError: No evaluation has this name, or it cannot score the task family of a problem.
    """
    chosen = find_evaluation(name)
    for family in sorted({p.family for p in problems}):
        if not chosen.supports_family(family):
            fit = [e.name for e in evaluations() if e.supports_family(family)]
            raise UsageError(
                f"evaluation {name} cannot score the family {family!r}; use {', '.join(fit)}"
            )
    return chosen


def evaluate(
    name: str,
    problems: Sequence[Problem],
    steps: StepsReader | Iterable[StepRecord],
    *,
    spaces: Mapping[str, InputSet] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Scores:
    """Score the stored answers to problems, and average the scores over the problems.

    Nothing is run: the scores come from the verdicts and predictions in the recorded steps.

    Args:
        name: Name of the evaluation, such as "gear" or "abd"; it decides the metrics.
        problems: Problems that ended as done. Do not pass failed problems, because an outage is not
            a score; count them separately.
        steps: Either a function that returns the recorded steps of a problem, or an iterable of the
            steps of all problems in any order. With a function, only one problem's predictions are
            in memory at a time.
        spaces: Sample space of each problem, by problem id; needed only if inputs have weights.
        seed: Seed of the bootstrap intervals.
        resamples: Number of bootstrap samples.

    Raises:
        UsageError: No evaluation has this name, or it cannot score the task family of a problem.
    """
    chosen = require_evaluation(name, problems)
    steps_of = steps if callable(steps) else _grouped(steps)
    results = []
    rows = []
    for problem in problems:
        ordered = sorted(steps_of(problem), key=lambda record: record.step)
        result = chosen.problem_metrics(problem, ordered, (spaces or {}).get(problem.id))
        if chosen.bank_metrics is not None:
            kept = build_bank(event for step in ordered for event in step.events)
            result |= chosen.bank_metrics(problem, [row["text"] for row in kept.rows()])
        results.append(result)
        if chosen.row_intervals is not None:
            rows.append(chosen.row_intervals(problem, ordered, seed, resamples))
    return {
        "evaluation": name,
        "problems": len(problems),
        "metrics": chosen.intervals(problems, results, seed, resamples, rows),
        "by_problem": [
            {"problem": p.id, **result} for p, result in zip(problems, results, strict=True)
        ],
    }


def evaluate_session(
    store: Store,
    session: str,
    name: str | None = None,
    *,
    options: ScoringOptions = DEFAULT_OPTIONS,
    spaces: SpaceCache | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    ratings: Mapping[str, Mapping[str, float | None]] | None = None,
) -> dict[str, Json]:
    """Score a stored session, and return its scores as `peirce eval` prints them.

    Only the store is read. Only problems with status "done" are scored.

    Args:
        store: The open store.
        session: Id of the session.
        name: Name of the evaluation; None for the default of the family.
        options: Which answers and observations are left out before scoring.
        spaces: A cache of sample spaces, to share between sessions.
        seed: Seed of the bootstrap.
        resamples: Number of bootstrap samples.
        ratings: Metrics by problem id that come from raters and are not in the store.

    Returns:
        {session, task, method, model, evaluation, problems, left_out, breaches, malformed,
        memorising, left_out_pairs, metrics, by_problem, details}.

        - "left_out": the number of failed and open problems by status.
        - "breaches", "malformed" and "repaired": the counts of `Tally` over the scored problems.
        - "memorising": the number of memorising hypotheses, which `options.without_memorising`
          leaves out.
        - "left_out_pairs": the number of hidden pairs by which no hypothesis can be judged. They are
          left out unless `options.all_pairs` is true.
        - "details": a `results.ProblemDetail` for each problem.
        - "rows": {"problem", metric: interval over rows, …} for each problem, if the evaluation
          computes intervals over rows.
    """
    scorer = SessionScorer(
        store, session, name, options=options, spaces=spaces, seed=seed, resamples=resamples,
        ratings=ratings,
    )  # fmt: skip
    chosen = scorer.evaluation.needs_all_predictions
    records = store.steps(
        session, [row.problem.id for row in scorer.rows], spaces=True if chosen else "consistent"
    )
    for row, steps in pair_with_steps(scorer.rows, records):
        scorer.add(row, steps)
    return scorer.summarize()


class SessionScorer:
    """Scores a stored session, one problem at a time (`evaluate_session`).

    A caller that reads the steps of a session for another reason as well reads them only once.

    Attributes:
        evaluation: The evaluation that scores the session.
        rows: The problems to score, which are those with status "done", in the session's order.

    The arguments are those of `evaluate_session`; `problems` are all problems of the session, if the
    caller has read them.

    Raises:
        UsageError: There is no such evaluation, or it cannot score the session's family.
    """

    def __init__(
        self,
        store: Store,
        session: str,
        name: str | None = None,
        *,
        options: ScoringOptions = DEFAULT_OPTIONS,
        spaces: SpaceCache | None = None,
        seed: int = 0,
        resamples: int = RESAMPLES,
        ratings: Mapping[str, Mapping[str, float | None]] | None = None,
        problems: Sequence[ProblemRow] | None = None,
    ) -> None:
        self._store, self._session = store, session
        self._settings = store.settings(session)
        self._all = store.problems(session) if problems is None else problems
        self.rows = [row for row in self._all if row.status == "done"]
        family = self._all[0].problem.family if self._all else None
        named = name or (DEFAULT_EVALUATION if family is None else default_evaluation(family))
        self.evaluation = require_evaluation(named, [row.problem for row in self.rows])
        self._options, self._spaces = options, spaces or SpaceCache(store)
        self._seed, self._resamples, self._ratings = seed, resamples, ratings or {}
        self._counted = Tally.empty()
        self._left_out_pairs = 0
        self._results: list[dict[str, float | None]] = []
        self._details: list[ProblemDetail] = []
        self._over_rows: list[dict[str, Interval]] = []

    def add(self, row: ProblemRow, steps: list[StepRecord]) -> Mapping[str, float | None]:
        """Score the next problem of `rows`, and return its metrics.

        Args:
            row: The problem.
            steps: Its steps, with the predictions of consistent hypotheses, and of the others too if
                the evaluation needs them.
        """
        chosen = self.evaluation
        one = apply_options(row, steps, self._options, self._spaces)
        self._counted += tally(one.steps)
        self._left_out_pairs += one.left_out_pairs
        result = chosen.problem_metrics(one.problem, one.steps, one.space)
        method = self._settings.get("method")
        if chosen.bank_metrics is not None and method not in METHODS_WITHOUT_BANK:
            kept = self._store.bank(self._session, one.problem.id)
            result |= chosen.bank_metrics(one.problem, [row["text"] for row in kept])
        self._results.append(result | dict(self._ratings.get(one.problem.id, {})))
        self._details.append(one.detail)
        if chosen.row_intervals is not None:
            intervals = chosen.row_intervals(one.problem, one.steps, self._seed, self._resamples)
            self._over_rows.append(intervals)
        return self._results[-1]

    def summarize(self) -> dict[str, Json]:
        """Return the scores of the problems that were added, as `evaluate_session` returns them."""
        settings, counted, done, chosen = self._settings, self._counted, self.rows, self.evaluation
        ids = [row.problem.id for row in done]
        left_out = Counter(row.status for row in self._all if row.status != "done")
        return {
            "session": self._session,
            **{field: settings.get(field) for field in ("task", "method", "model")},
            "evaluation": chosen.name,
            "problems": len(done),
            "left_out": dict(sorted(left_out.items())),
            "breaches": counted.breaches,
            "malformed": counted.malformed,
            **({"repaired": counted.repaired} if counted.repaired else {}),
            "memorising": sum(detail.memorising for detail in self._details),
            "left_out_pairs": self._left_out_pairs,
            "metrics": chosen.intervals(
                [row.problem for row in done], self._results, self._seed, self._resamples,
                self._over_rows,
            ),
            "by_problem": _named(ids, self._results),
            "details": self._details,
            **({"rows": _named(ids, self._over_rows)} if self._over_rows else {}),
        }  # fmt: skip


def _named(ids: Sequence[str], results: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    return [{"problem": name, **result} for name, result in zip(ids, results, strict=True)]


def _grouped(steps: Iterable[StepRecord]) -> StepsReader:
    by_problem: dict[str, list[StepRecord]] = {}
    for record in steps:
        by_problem.setdefault(record.problem, []).append(record)
    return lambda problem: by_problem.get(problem.id, [])
