"""What each problem of a stored session came to, one problem in memory at a time.

`read` goes through a session once, in the order of its problems; `Options` says what is left out
before anything is counted. `Detail` is what tables need beside the metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from ...records import Agreement, Digest, InputSet, Judged, Problem, StepRecord
from ...tasks import family, judgeable
from ...tools.gear.memorising import Inputs, is_memorising
from ...tools.gear.scores import matrix, scatter_point

if TYPE_CHECKING:
    from ...store import ProblemRow, Store

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """all_pairs: hidden pairs by which no hypothesis can be judged count too (`tasks.judgeable`).
    without_memorising: memorising hypotheses (tools/gear/memorising.py) are left out of everything, as
    if they had not been proposed."""

    all_pairs: bool = False
    without_memorising: bool = False


DEFAULT = Options()


@dataclass(frozen=True)
class Detail:
    """Of one problem. stop: why it ended. bad: verdicts of its bad answers, in order. undefined,
    undefined_consistent: predictions over S by reason, of all hypotheses and of the consistent
    ones; predictions, predictions_consistent: all predictions over S there. point: gamma, beta and
    the number of consistent hypotheses with undefined as one extra output, from two on."""

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
class Read:
    """A problem as it is scored, after `Options`: its steps, those left out not among them.
    left_out_pairs: hidden pairs that cannot judge a hypothesis."""

    problem: Problem
    steps: tuple[StepRecord, ...]
    space: InputSet
    detail: Detail
    left_out_pairs: int


class Spaces:
    """Sample spaces of a store by digest, the last few kept: sessions share them."""

    def __init__(self, store: Store) -> None:
        self._of = lru_cache(maxsize=8)(store.space)
        self._inputs = lru_cache(maxsize=8)(lambda digest: Inputs(self._of(digest).inputs))

    def space(self, digest: Digest) -> InputSet:
        return self._of(digest)

    def inputs(self, digest: Digest) -> Inputs:
        return self._inputs(digest)


def read(
    store: Store,
    session: str,
    rows: Sequence[ProblemRow],
    options: Options,
    spaces: Spaces | None = None,
    *,
    every: bool = False,
) -> Iterator[Read]:
    """The problems of `rows`, which stand in the session's order, also those without a step. every:
    with the codes over S of inconsistent hypotheses too, which are 0 otherwise."""
    known = spaces or Spaces(store)
    ids = [row.problem.id for row in rows]
    records = store.steps(session, ids, spaces=True if every else "consistent")
    for row, steps in with_steps(rows, records):
        yield _read(row, steps, options, known)


def with_steps(
    rows: Iterable[ProblemRow], records: Iterable[StepRecord]
) -> Iterator[tuple[ProblemRow, list[StepRecord]]]:
    """Each row with its steps, which come in the order of the rows; also those that have none."""
    groups = groupby(records, key=lambda record: record.problem)
    ahead = next(groups, None)
    for row in rows:
        steps: list[StepRecord] = []
        if ahead is not None and ahead[0] == row.problem.id:
            steps = list(ahead[1])
            ahead = next(groups, None)
        yield row, steps


def _read(row: ProblemRow, steps: list[StepRecord], options: Options, spaces: Spaces) -> Read:
    problem = row.problem
    written = family(problem.family).oracle == "execute"  # as source code
    memorising = _memorising(row, steps, spaces) if written else set()
    if options.without_memorising and memorising:
        steps = [_without(record, memorising) for record in steps]
    keep = [True] * len(problem.hidden) if options.all_pairs else list(judgeable(problem))
    if not all(keep):
        problem = replace(problem, hidden=tuple(_kept(problem.hidden, keep)))
        steps = [_on_pairs(record, keep) for record in steps]
    detail = _detail(row, all_judged(steps), len(memorising))
    return Read(problem, tuple(steps), spaces.space(row.space), detail, keep.count(False))


def _memorising(row: ProblemRow, steps: Sequence[StepRecord], spaces: Spaces) -> set[int]:
    """The consistent hypotheses that are (by `id`)."""
    shown = row.problem.shown
    other = spaces.inputs(row.space).other_than(shown)
    return {
        id(one)
        for one in all_judged(steps)
        if one.verdict.consistent and one.hypothesis is not None and one.space is not None
        and is_memorising(one.hypothesis.text, shown, one.space, other)
    }  # fmt: skip


def all_judged(steps: Sequence[StepRecord]) -> list[Judged]:
    """Every hypothesis or malformed answer of one problem, in the order of its steps."""
    return [judged for record in steps for answer in record.answers for judged in answer.judged]


def _detail(row: ProblemRow, judged: Sequence[Judged], memorising: int) -> Detail:
    undefined: Counter[str] = Counter()
    of_consistent: Counter[str] = Counter()
    predictions = predictions_consistent = 0
    for one in judged:
        if one.space is None:
            continue
        counts = {} if one.space.defined.all() else one.space.undefined()
        undefined.update(counts)
        predictions += len(one.space.codes)
        if one.verdict.consistent:
            of_consistent.update(counts)
            predictions_consistent += len(one.space.codes)
    consistent = [one for one in judged if one.verdict.consistent]
    over_space = [one.space for one in consistent if one.space is not None]
    whole = len(over_space) == len(consistent) > 1
    return Detail(
        problem=row.problem.id,
        stop=row.cause,
        verdicts=Counter(one.verdict.value for one in judged),
        bad=tuple(one.verdict.value for one in judged if one.bad),
        memorising=memorising,
        undefined=undefined,
        undefined_consistent=of_consistent,
        predictions=predictions,
        predictions_consistent=predictions_consistent,
        point=scatter_point(*matrix(over_space)) if whole else None,
    )


def _without(record: StepRecord, left_out: set[int]) -> StepRecord:
    answers = tuple(
        replace(answer, judged=tuple(one for one in answer.judged if id(one) not in left_out))
        for answer in record.answers
    )
    return replace(record, answers=answers)


def _on_pairs(record: StepRecord, keep: Sequence[bool]) -> StepRecord:
    """The step as if the other hidden pairs were not there."""
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
