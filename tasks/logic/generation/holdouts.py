"""Five worlds that no proposer sees, from the same sampler and masking (ABD, appendix F).

Nothing is hardened here: a candidate is taken where the reference's cost and gap lie within the
range of the prompt worlds and it equals no other world. Then some are exchanged until their mean
cost is that of the prompt worlds, as near as five whole numbers come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ....tools.logic.worlds import World
from .candidates import Candidate, Source
from .filters import holdout_fault, seen
from .recipes import ATTEMPTS_A_HOLDOUT, HOLDOUTS

DRY = 12  # batches without a candidate, after which there will be none


@dataclass(frozen=True)
class Holdout:
    """attempts: candidates that were looked at for it. duplicates: of these, equal to another
    world."""

    candidate: Candidate
    attempts: int
    duplicates: int


def same(one: World, other: World) -> bool:
    """Of one size, with the same true and unknown atoms."""
    return (len(one.names), one.true, one.unknown) == (len(other.names), other.true, other.unknown)


def holdouts(source: Source, prompts: Sequence[Candidate]) -> list[Holdout] | None:
    """None where the attempts do not suffice."""
    limits = seen([one.judged for one in prompts])
    target = limits.mean_cost * HOLDOUTS
    found: list[Holdout] = []
    attempts = duplicates = 0
    for candidate in _stream(source):
        attempts += 1
        others = [*(one.world for one in prompts), *(one.candidate.world for one in found)]
        if any(same(candidate.world, other) for other in others):
            duplicates += 1
        elif not holdout_fault(candidate.judged, limits):
            one = Holdout(candidate, attempts, duplicates)
            if len(found) < HOLDOUTS:
                found.append(one)
                attempts = duplicates = 0
            else:
                _exchange(found, one, target)
        matched = len(found) == HOLDOUTS and abs(_cost(found) - target) <= 0.5
        if matched or attempts == ATTEMPTS_A_HOLDOUT:
            break
    if len(found) < HOLDOUTS:
        return None
    return [
        replace(one, candidate=one.candidate._replace(world=_named(one, place)))
        for place, one in enumerate(found)
    ]


def _stream(source: Source) -> Iterator[Candidate]:
    dry = 0
    while dry < DRY:
        some = source.more()
        dry = 0 if some else dry + 1
        yield from some


def _cost(some: Sequence[Holdout]) -> int:
    return sum(one.candidate.judged.cost or 0 for one in some)


def _exchange(found: list[Holdout], new: Holdout, target: float) -> None:
    """The new one takes the place of one where the mean comes nearer by that."""
    now = _cost(found)
    away = [
        abs(now - (one.candidate.judged.cost or 0) + (new.candidate.judged.cost or 0) - target)
        for one in found
    ]
    best = min(range(len(found)), key=lambda place: (away[place], place))
    if away[best] < abs(now - target):
        found[best] = new


def _named(one: Holdout, place: int) -> World:
    return replace(one.candidate.world, id=f"H{place}")
