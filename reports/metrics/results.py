"""Read the problems of a stored session for scoring, with one problem in memory at a time.

`read_problems` yields the problems of a session in order. `ScoringOptions` defines which answers
and observations are left out before anything is counted. `ProblemDetail` contains what tables need
in addition to the metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from ...records import Agreement, Digest, InputSet, JudgedHypothesis, Problem, StepRecord
from ...tasks import judgeable_pairs, load_family
from ...tools.gear.memorisation import Inputs, is_memorising
from ...tools.gear.prediction_classes import recall_classes
from ...tools.gear.scores import scatter_point_of_classes

if TYPE_CHECKING:
    from ...store import ProblemRow, Store

T = TypeVar("T")


@dataclass(frozen=True)
class ScoringOptions:
    """Options that decide which answers and hidden pairs are scored.

    Args:
        all_pairs: Also count hidden pairs by which no hypothesis can be judged (`tasks.judgeable`).
        without_memorising: Leave out hypotheses that memorise the shown observations
            (tools/gear/memorisation.py), as if they had not been proposed.
    """

    all_pairs: bool = False
    without_memorising: bool = False


DEFAULT_OPTIONS = ScoringOptions()


@dataclass(frozen=True)
class ProblemDetail:
    """Details of one problem that tables need in addition to the metrics.

    S is the sample space of the problem.

    Args:
        problem: Id of the problem.
        stop: Why the problem ended.
        verdicts: Number of hypotheses by verdict.
        bad: Verdicts of the answers that were not accepted, in order.
        memorising: Number of hypotheses that memorise the shown observations.
        undefined: Number of undefined predictions on S of all hypotheses, by reason.
        undefined_consistent: Number of undefined predictions on S of consistent hypotheses, by
            reason.
        predictions: Number of predictions on S of all hypotheses.
        predictions_consistent: Number of predictions on S of consistent hypotheses.
        point: Gamma, beta and the number of consistent hypotheses, where undefined counts as one
            more output; None with fewer than two consistent hypotheses.
    """

    problem: str
    stop: str
    verdicts: Counter[str]
    bad: tuple[str, ...]
    memorising: int
    undefined: Counter[str]
    undefined_consistent: Counter[str]
    predictions: int
    predictions_consistent: int
    point: tuple[float, float, int] | None


@dataclass(frozen=True)
class ScoredProblem:
    """A problem with the steps that are scored, after `ScoringOptions` were applied.

    Args:
        left_out_pairs: Number of hidden pairs that were left out because no hypothesis can be
            judged by them.
    """

    problem: Problem
    steps: tuple[StepRecord, ...]
    space: InputSet
    detail: ProblemDetail
    left_out_pairs: int


class SpaceCache:
    """A cache of the sample spaces in a store, by digest. Sessions often share sample spaces."""

    def __init__(self, store: Store) -> None:
        self._of = lru_cache(maxsize=8)(store.input_set)
        self._inputs = lru_cache(maxsize=8)(lambda digest: Inputs(self._of(digest).inputs))

    def get_space(self, digest: Digest) -> InputSet:
        """Return the sample space with the digest `digest`."""
        return self._of(digest)

    def get_inputs(self, digest: Digest) -> Inputs:
        """Return the inputs of a sample space in the form that the test for memorisation needs."""
        return self._inputs(digest)


def read_problems(
    store: Store,
    session: str,
    rows: Sequence[ProblemRow],
    options: ScoringOptions,
    spaces: SpaceCache | None = None,
    *,
    all_predictions: bool = False,
) -> Iterator[ScoredProblem]:
    """Yield each problem in `rows` with the steps to score. Problems without steps are included.

    Args:
        store: The open store.
        session: Id of the session.
        rows: Problems of the session, in the session's order.
        options: Which answers and observations are left out.
        spaces: A cache of sample spaces.
        all_predictions: Also read the predictions of inconsistent hypotheses, whose codes are 0
            otherwise.
    """
    known = spaces or SpaceCache(store)
    ids = [row.problem.id for row in rows]
    records = store.steps(session, ids, spaces=True if all_predictions else "consistent")
    for row, steps in pair_with_steps(rows, records):
        yield apply_options(row, steps, options, known)


def pair_with_steps(
    rows: Iterable[ProblemRow], records: Iterable[StepRecord]
) -> Iterator[tuple[ProblemRow, list[StepRecord]]]:
    """Yield each problem with its steps; the list is empty for a problem without steps.

    Args:
        rows: Problems of a session, in order.
        records: Steps of these problems, in the same order.
    """
    groups = groupby(records, key=lambda record: record.problem)
    ahead = next(groups, None)
    for row in rows:
        steps: list[StepRecord] = []
        if ahead is not None and ahead[0] == row.problem.id:
            steps = list(ahead[1])
            ahead = next(groups, None)
        yield row, steps


def apply_options(
    row: ProblemRow, steps: list[StepRecord], options: ScoringOptions, spaces: SpaceCache
) -> ScoredProblem:
    """Return a problem with the steps to score, without what `options` leave out.

    Args:
        row: The problem.
        steps: All steps of the problem, in order.
        options: Which answers and observations are left out.
        spaces: A cache of sample spaces.
    """
    problem = row.problem
    written = load_family(problem.family).oracle == "execute"  # hypotheses are source code
    memorising = _memorising(row, steps, spaces) if written else set()
    if options.without_memorising and memorising:
        steps = [_drop_hypotheses(record, memorising) for record in steps]
    keep = [True] * len(problem.hidden) if options.all_pairs else list(judgeable_pairs(problem))
    if not all(keep):
        problem = replace(problem, hidden=tuple(_kept(problem.hidden, keep)))
        steps = [_on_pairs(record, keep) for record in steps]
    detail = _detail(row, list_judged(steps), len(memorising))
    return ScoredProblem(
        problem, tuple(steps), spaces.get_space(row.space), detail, keep.count(False)
    )


def _memorising(row: ProblemRow, steps: Sequence[StepRecord], spaces: SpaceCache) -> set[int]:
    """Return the `id` of each consistent hypothesis that memorises."""
    shown = row.problem.shown
    other = spaces.get_inputs(row.space).mask_unshown(shown)
    return {
        id(one)
        for one in list_judged(steps)
        if one.verdict.consistent and one.hypothesis is not None and one.space is not None
        and is_memorising(one.hypothesis.text, shown, one.space, other)
    }  # fmt: skip


def list_judged(steps: Iterable[StepRecord]) -> list[JudgedHypothesis]:
    """Return every hypothesis or malformed answer of one problem, in the order of its steps."""
    return [judged for record in steps for answer in record.answers for judged in answer.judged]


def _detail(row: ProblemRow, judged: Sequence[JudgedHypothesis], memorising: int) -> ProblemDetail:
    undefined: Counter[str] = Counter()
    of_consistent: Counter[str] = Counter()
    predictions = predictions_consistent = 0
    for one in judged:
        if one.space is None:
            continue
        counts = {} if one.space.defined.all() else one.space.count_undefined()
        undefined.update(counts)
        predictions += len(one.space.codes)
        if one.verdict.consistent:
            of_consistent.update(counts)
            predictions_consistent += len(one.space.codes)
    consistent = [one for one in judged if one.verdict.consistent]
    over_space = [one.space for one in consistent if one.space is not None]
    whole = len(over_space) == len(consistent) > 1
    return ProblemDetail(
        problem=row.problem.id,
        stop=row.cause,
        verdicts=Counter(one.verdict.value for one in judged),
        bad=tuple(one.verdict.value for one in judged if one.bad),
        memorising=memorising,
        undefined=undefined,
        undefined_consistent=of_consistent,
        predictions=predictions,
        predictions_consistent=predictions_consistent,
        point=scatter_point_of_classes(recall_classes(over_space)) if whole else None,
    )


def _drop_hypotheses(record: StepRecord, left_out: set[int]) -> StepRecord:
    answers = tuple(
        replace(answer, judged=tuple(one for one in answer.judged if id(one) not in left_out))
        for answer in record.answers
    )
    return replace(record, answers=answers)


def _on_pairs(record: StepRecord, keep: Sequence[bool]) -> StepRecord:
    """Return the step as if the other hidden pairs did not exist."""
    answers = tuple(
        replace(
            answer,
            judged=tuple(replace(one, hidden=_narrowed(one.hidden, keep)) for one in answer.judged),
        )
        for answer in record.answers
    )
    return replace(record, answers=answers)


def _narrowed(agreement: Agreement | None, keep: Sequence[bool]) -> Agreement | None:
    if agreement is None or len(agreement.marks) != len(keep):
        return agreement
    return replace(
        agreement,
        marks=tuple(_kept(agreement.marks, keep)),
        got=tuple(_kept(agreement.got, keep)),
    )


def _kept(items: Sequence[T], keep: Sequence[bool]) -> list[T]:
    return [item for item, kept in zip(items, keep, strict=True) if kept]
