"""Choose five holdout worlds per instance, which no proposer sees (ABD, appendix F).

Holdouts are drawn in the same way as the candidates for prompt worlds, but no competitor is
considered. A candidate is accepted if the cost and gap of the reference rule are within the ranges
of the prompt worlds and the candidate differs from all other worlds. Then some holdouts are
exchanged until their mean cost is as close to that of the prompt worlds as five integers allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ....tools.logic.worlds import World
from .candidates import Candidate, CandidateSource
from .filters import holdout_fault, prompt_ranges
from .recipes import HOLDOUTS, MAX_HOLDOUT_ATTEMPTS

MAX_EMPTY_BATCHES = 12  # consecutive batches without a candidate, after which the search ends


@dataclass(frozen=True)
class Holdout:
    """An accepted holdout world, with the number of candidates that were examined to find it.

    Args:
        candidate: the world and the results of the reference rule in it.
        attempts: the number of candidates that were examined.
        duplicates: the number of examined candidates that equalled another world.
    """

    candidate: Candidate
    attempts: int
    duplicates: int


def are_equal_worlds(one: World, other: World) -> bool:
    """Return whether two worlds have equal numbers of elements and equal true and unknown atoms."""
    return (len(one.names), one.true, one.unknown) == (len(other.names), other.true, other.unknown)


def choose_holdouts(source: CandidateSource, prompts: Sequence[Candidate]) -> list[Holdout] | None:
    """Return the holdouts of an instance, or None if not enough were found within the allowed
    attempts.

    Args:
        source: the source of candidate worlds.
        prompts: the prompt worlds of the instance.
    """
    limits = prompt_ranges([one.judgement for one in prompts])
    target = limits.mean_cost * HOLDOUTS
    found: list[Holdout] = []
    attempts = duplicates = 0
    for candidate in _stream(source):
        attempts += 1
        others = [*(one.world for one in prompts), *(one.candidate.world for one in found)]
        if any(are_equal_worlds(candidate.world, other) for other in others):
            duplicates += 1
        elif not holdout_fault(candidate.judgement, limits):
            one = Holdout(candidate, attempts, duplicates)
            if len(found) < HOLDOUTS:
                found.append(one)
                attempts = duplicates = 0
            else:
                _exchange(found, one, target)
        matched = len(found) == HOLDOUTS and abs(_cost(found) - target) <= 0.5
        if matched or attempts == MAX_HOLDOUT_ATTEMPTS:
            break
    if len(found) < HOLDOUTS:
        return None
    return [
        replace(one, candidate=one.candidate._replace(world=_named(one, place)))
        for place, one in enumerate(found)
    ]


def _stream(source: CandidateSource) -> Iterator[Candidate]:
    dry = 0
    while dry < MAX_EMPTY_BATCHES:
        some = source.next_batch()
        dry = 0 if some else dry + 1
        yield from some


def _cost(some: Sequence[Holdout]) -> int:
    return sum(one.candidate.judgement.cost or 0 for one in some)


def _exchange(found: list[Holdout], new: Holdout, target: float) -> None:
    """Replace the holdout by which the mean comes nearest to the target, if it comes nearer."""
    now = _cost(found)
    away = [
        abs(
            now - (one.candidate.judgement.cost or 0) + (new.candidate.judgement.cost or 0) - target
        )
        for one in found
    ]
    best = min(range(len(found)), key=lambda place: (away[place], place))
    if away[best] < abs(now - target):
        found[best] = new


def _named(one: Holdout, place: int) -> World:
    return replace(one.candidate.world, id=f"H{place}")
