"""What an evaluation is, and the scores of a stored session.

An evaluation turns the stored steps of a problem into numbers and never calls a model or a tool. The
registry (records/registry.py) names them.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

from ...records import Evaluated, InputSet, Json, Problem, StepRecord, UsageError, Verdict, registry
from ...store.bank import folded
from ...tasks import family as family_named
from .results import DEFAULT, Detail, Options, Spaces, read
from .statistics import RESAMPLES, Interval, summary

if TYPE_CHECKING:
    from ...store import Store


@dataclass(frozen=True)
class Metric:
    """better: the good direction; None where more is neither good nor bad."""

    name: str
    better: Literal["higher", "lower"] | None
    about: str

    @property
    def arrow(self) -> str:
        return {"higher": "↑", "lower": "↓", None: ""}[self.better]


class ProblemMetrics(Protocol):
    """How an evaluation scores a problem."""

    def __call__(
        self, problem: Problem, steps: Sequence[StepRecord], space: InputSet | None = None
    ) -> dict[str, float | None]:
        """One value for each metric, None where the problem has none.

        steps: of this problem alone, in order. space: its sample space, where the evaluation
        needs the weights of its inputs; without it all inputs weigh the same.
        """
        ...


class RowIntervals(Protocol):
    def __call__(
        self, problem: Problem, steps: Sequence[StepRecord], seed: int, resamples: int
    ) -> dict[str, Interval]:
        """Of metrics of one problem over the rows that it predicted, which n counts; those that it
        has no value of are left out."""
        ...


GENERAL = "gear"  # the evaluation of a family that names no other
WITHOUT_BANK = ("direct",)  # methods that keep no hypotheses, which is not an empty bank


class BankMetrics(Protocol):
    def __call__(self, problem: Problem, bank: Sequence[str]) -> dict[str, float | None]:
        """Of the sentences in a problem's bank, best first; those that it has no value of are None or
        left out."""
        ...


@dataclass(frozen=True)
class Evaluation:
    """families: those it can score; None for all.
    stratum: of a problem, within which the intervals draw; None: all problems are one. note: what a
    reader of its scores from the store alone has to know. over_rows: where a problem is a whole data
    set; a session of one problem has these intervals, as one problem has none. of_bank: metrics of the
    hypotheses that a session keeps, beside those of its steps. every_space: it looks at what inconsistent
    hypotheses predict over S too. main: the metrics that the screen shows unless all are asked for;
    empty: all."""

    name: str
    about: str
    families: frozenset[str] | None
    metrics: tuple[Metric, ...]
    of_problem: ProblemMetrics
    stratum: Callable[[Problem], str] | None = None
    note: str = ""
    over_rows: RowIntervals | None = None
    of_bank: BankMetrics | None = None
    every_space: bool = False
    main: tuple[str, ...] = ()

    def scores(self, family: str) -> bool:
        """Whether it can score problems of this family."""
        return self.families is None or family in self.families

    def intervals(
        self,
        problems: Sequence[Problem],
        results: Sequence[Mapping[str, float | None]],
        seed: int,
        resamples: int,
        rows: Sequence[Mapping[str, Interval]] = (),
    ) -> dict[str, Interval]:
        """Of each metric over the problems' results; of one problem over its rows (of `over_rows`),
        where there are any."""
        strata = None if self.stratum is None else list(map(self.stratum, problems))
        found = summary(results, self.metric_names, strata=strata, seed=seed, resamples=resamples)
        return found | dict(rows[0]) if len(rows) == 1 else found

    def on_screen(self, all_metrics: bool) -> tuple[Metric, ...]:
        """Return the metrics that a person sees: the main ones, or all."""
        if all_metrics or not self.main:
            return self.metrics
        return tuple(one for one in self.metrics if one.name in self.main)

    @property
    def metric_names(self) -> tuple[str, ...]:
        return tuple(metric.name for metric in self.metrics)


StepsOf = Callable[[Problem], Iterable[StepRecord]]


class Scores(TypedDict):
    """metrics: intervals over problems; by_problem: {"problem": id, metric: value, …} each."""

    evaluation: str
    problems: int
    metrics: dict[str, Interval]
    by_problem: list[dict[str, Json]]


def evaluations() -> list[Evaluation]:
    """All evaluations, by name."""
    return [registry.load("metrics", name) for name in registry.names("metrics")]


def find_evaluation(name: str) -> Evaluation:
    """Raises UsageError where there is none of this name."""
    if registry.has("metrics", name):
        found: Evaluation = registry.load("metrics", name)
        return found
    known = registry.names("metrics")
    near = difflib.get_close_matches(name, known, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"no evaluation {name!r}: there are {', '.join(known)}{meant}")


def default_evaluation(family: str) -> str:
    """The name of the evaluation of a family when none is asked for."""
    found = family_named(family)
    return found.evaluation if isinstance(found, Evaluated) else GENERAL


def fitting(name: str, problems: Sequence[Problem]) -> Evaluation:
    """The evaluation `name`. Raises UsageError where it does not fit a problem's family."""
    chosen = find_evaluation(name)
    for family in sorted({p.family for p in problems}):
        if not chosen.scores(family):
            fit = [e.name for e in evaluations() if e.scores(family)]
            raise UsageError(
                f"evaluation {name} does not score the family {family!r}: {', '.join(fit)} would"
            )
    return chosen


def evaluate(
    name: str,
    problems: Sequence[Problem],
    steps: StepsOf | Iterable[StepRecord],
    *,
    spaces: Mapping[str, InputSet] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Scores:
    """Scores problems by the evaluation `name`, from their steps alone.

    problems: those that ended; who has problems that failed (an outage is no score) leaves them
    out and counts them. steps: a function from a problem to its steps, so that predictions of one
    problem at a time are in memory, or all steps in any order. spaces: by problem id, where
    inputs have weights. Raises UsageError where the evaluation does not fit a problem's family.
    """
    chosen = fitting(name, problems)
    steps_of = steps if callable(steps) else _grouped(steps)
    results = []
    rows = []
    for problem in problems:
        ordered = sorted(steps_of(problem), key=lambda record: record.step)
        result = chosen.of_problem(problem, ordered, (spaces or {}).get(problem.id))
        if chosen.of_bank is not None:
            kept = folded(event for step in ordered for event in step.events)
            result |= chosen.of_bank(problem, [row["text"] for row in kept.rows()])
        results.append(result)
        if chosen.over_rows is not None:
            rows.append(chosen.over_rows(problem, ordered, seed, resamples))
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
    options: Options = DEFAULT,
    spaces: Spaces | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    rated: Mapping[str, Mapping[str, float | None]] | None = None,
) -> dict[str, Json]:
    """One entry of `peirce eval`: {session, task, method, model, evaluation, problems, left_out,
    breaches, malformed, memorising, left_out_pairs, metrics, by_problem}, from the store alone;
    "details" holds what tables need beside it, a `results.Detail` a problem. "rows", of an
    evaluation that has them: {"problem", metric: interval over its rows, …} each.

    name: of the evaluation; by default the one that fits the family. Scored are the problems that
    are done: those that failed or are still open are in `left_out`, counted by status. breaches,
    malformed: of the scored problems, as in `Tally`. memorising: hypotheses that are; with
    `options.without_memorising` they are left out. left_out_pairs: hidden pairs by which no
    hypothesis can be judged, left out unless `options.all_pairs`. spaces: of several sessions. rated: by
    problem id, metrics that somebody rated and the store does not hold.
    """
    settings = store.settings(session)
    rows = store.problems(session)
    done = [row for row in rows if row.status == "done"]
    named = name or (default_evaluation(rows[0].problem.family) if rows else GENERAL)
    chosen = fitting(named, [row.problem for row in done])
    counted = Tally.nothing()
    left_out_pairs = 0
    results: list[dict[str, float | None]] = []
    details: list[Detail] = []
    over_rows: list[dict[str, Interval]] = []
    for one in read(store, session, done, options, spaces, every=chosen.every_space):
        counted += tally(one.steps)
        left_out_pairs += one.left_out_pairs
        result = chosen.of_problem(one.problem, one.steps, one.space)
        if chosen.of_bank is not None and settings.get("method") not in WITHOUT_BANK:
            kept = store.bank(session, one.problem.id)
            result |= chosen.of_bank(one.problem, [row["text"] for row in kept])
        results.append(result | dict((rated or {}).get(one.problem.id, {})))
        details.append(one.detail)
        if chosen.over_rows is not None:
            over_rows.append(chosen.over_rows(one.problem, one.steps, seed, resamples))
    ids = [row.problem.id for row in done]
    return {
        "session": session,
        **{field: settings.get(field) for field in ("task", "method", "model")},
        "evaluation": chosen.name,
        "problems": len(done),
        "left_out": dict(sorted(Counter(r.status for r in rows if r.status != "done").items())),
        "breaches": counted.breaches,
        "malformed": counted.malformed,
        "memorising": sum(detail.memorising for detail in details),
        "left_out_pairs": left_out_pairs,
        "metrics": chosen.intervals(
            [row.problem for row in done], results, seed, resamples, over_rows
        ),
        "by_problem": _named(ids, results),
        "details": details,
        **({"rows": _named(ids, over_rows)} if over_rows else {}),
    }


def _named(ids: Sequence[str], results: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    return [{"problem": name, **result} for name, result in zip(ids, results, strict=True)]


@dataclass(frozen=True)
class Tally:
    """What some steps hold. verdicts: how often each was given, all four named. breaches: of the
    answer contract, by kind, in the hypotheses that were judged; malformed: answers that give no
    hypothesis, by reason; both the most frequent first."""

    steps: int
    verdicts: dict[str, int]
    breaches: dict[str, int]
    malformed: dict[str, int]

    @staticmethod
    def nothing() -> Tally:
        return tally(())

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.steps + other.steps,
            {name: count + other.verdicts[name] for name, count in self.verdicts.items()},
            _ranked(Counter(self.breaches) + Counter(other.breaches)),
            _ranked(Counter(self.malformed) + Counter(other.malformed)),
        )


def tally(steps: Iterable[StepRecord]) -> Tally:
    """Steps, and what their hypotheses came to, the most frequent breaches and faults first."""
    number = 0
    verdicts: Counter[Verdict] = Counter()
    breaches: Counter[str] = Counter()
    malformed: Counter[str] = Counter()
    for record in steps:
        number += 1
        for judged in (one for answer in record.answers for one in answer.judged):
            verdicts[judged.verdict] += 1
            breaches.update(judged.hypothesis.breaches if judged.hypothesis else ())
            if judged.verdict is Verdict.MALFORMED:
                malformed[judged.reason.partition(":")[0]] += 1
    order = (Verdict.ACCEPTED, Verdict.REDUNDANT, Verdict.INCONSISTENT, Verdict.MALFORMED)
    named = {verdict.value: verdicts[verdict] for verdict in order}
    return Tally(number, named, _ranked(breaches), _ranked(malformed))


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _grouped(steps: Iterable[StepRecord]) -> StepsOf:
    by_problem: dict[str, list[StepRecord]] = {}
    for record in steps:
        by_problem.setdefault(record.problem, []).append(record)
    return lambda problem: by_problem.get(problem.id, [])
