"""How likely a rule holds in further worlds of the same kind: on worlds that are drawn as the prompt
worlds are, and that a rule like the candidates would have let in.

Worlds of a problem are not any worlds: in each some rule, which is not known, repairs the theory at a
cost near the lower bound (ABD, section 5 and appendix D.2). Each candidate stands for that rule in
turn, the likelier the cheaper and smaller it is and the fewer drawn worlds it would have let in; a
candidate's validity is judged in the worlds that it lets in. A part of the drawn worlds is taken as
nothing but drawn, for the rule behind them may be none of the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.judging import Prepared, Regime
from ...tools.logic.sampling import Stream
from ...tools.logic.tables import Bools
from .features import Features
from .lanes import MOST_BROKEN, Lanes, any_of, at_once, drawn_like, hidden_like
from .rules import Priced, Shape

HOLDOUTS = 5  # worlds in which a rule has to be valid (ABD, section 5)
WORLDS = 1_500
DRAWN = 6_000  # at once, fewer of large ones
ROUNDS = 20
SLACK, MOST_MARKED = 2, 4  # exceptions beyond those, and all, where a rule lets a world in
COMPLETIONS = 5  # of a world of the skeptical regime
# A rule's weight: e to the minus (cost + NODE * size) / WARMTH, divided by the share of worlds that
# it lets in to the power NARROW * prompt worlds.
WARMTH, NODE, NARROW = 6.0, 0.3, 0.15
UNLIKELY = 1e-3  # of the largest weight: left out
FEWEST = 5  # worlds let in by a rule that counts
SMOOTHED = 0.5  # worlds' worth of what is valid in all that were drawn
# Of the drawn worlds: taken as nothing but drawn. The fewer worlds are independent and the more is
# unknown, the less do they say of the rule behind them.
ANY_WORLD: Mapping[Regime, float] = {"full": 0.05, "partial": 0.1, "skeptical": 0.5}


class Drawn(NamedTuple):
    """worlds: complete. read: the same with unknown atoms false, as the published evaluator reads
    holdouts; the same where all are known. completed: of a part of them, the first in number,
    completions in all of which a rule of the skeptical regime has to be valid."""

    worlds: Lanes
    read: Lanes
    completed: tuple[Lanes, ...]


def drawn_worlds(prepared: Prepared, stream: Stream) -> Drawn | None:
    """None where hardly any world breaks the theory in some elements, and not in many."""
    found: Lanes | None = None
    for _ in range(ROUNDS):
        lanes = drawn_like(prepared, at_once(prepared, DRAWN), stream)
        broken = lanes.violated(prepared).sum(axis=1)
        lanes = lanes.some((broken >= 1) & (broken <= MOST_BROKEN))
        found = lanes if found is None else found.and_also(lanes)
        if found.worlds >= WORLDS:
            break
    if found is None or found.worlds < WORLDS // 10:
        return None
    worlds = found.some(np.arange(min(WORLDS, found.worlds)))
    if prepared.regime == "full":
        return Drawn(worlds, worlds, ())
    hidden = hidden_like(prepared, worlds, stream)
    read = Lanes(worlds.inside, {name: t & ~hidden[name] for name, t in worlds.true.items()})
    if prepared.regime == "partial":
        return Drawn(worlds, read, ())
    part = np.arange(worlds.worlds // 3)
    completed = [read.some(part)]
    for number in range(COMPLETIONS):
        true = {}
        for name, table in read.some(part).true.items():
            open_ = hidden[name][part]
            chosen = open_ if number == 0 else open_ & (stream.uniform(*open_.shape) < 0.5)
            true[name] = table | chosen
        completed.append(Lanes(worlds.inside[part], true))
    return Drawn(worlds, worlds, tuple(completed))


class Likely(NamedTuple):
    """(candidates,) each: how likely a rule is valid in all holdouts, as the published evaluator
    reads them, and by the regime's own semantics."""

    released: NDArray[np.float64]
    exact: NDArray[np.float64]


def likely(
    prepared: Prepared, features: Features, rules: Sequence[Priced], stream: Stream
) -> Likely:
    """Zeros where no worlds can be drawn."""
    drawn = drawn_worlds(prepared, stream) if rules else None
    if drawn is None:
        none = np.zeros(len(rules))
        return Likely(none, none)
    places = sorted({place for rule in rules for place in rule.shape.features()})
    shapes = [rule.shape for rule in rules]
    broken = drawn.worlds.violated(prepared)
    covered = _covered(features, drawn.worlds, shapes, places)
    valid = ~any_of(broken[None] & ~covered)
    marked, least = covered.sum(axis=2), broken.sum(axis=1)
    lets_in = valid & (marked <= least + SLACK) & (marked <= MOST_MARKED)
    unsure = ANY_WORLD[prepared.regime]
    weights = _weights(rules, lets_in, len(prepared.worlds))
    read = valid
    if prepared.regime == "partial":
        read = _valid(prepared, features, drawn.read, shapes, places)
    released = _in_all(read, lets_in, weights, unsure)
    if prepared.regime != "skeptical":
        exact = released if prepared.regime == "full" else _in_all(valid, lets_in, weights, unsure)
        return Likely(released, exact)
    every = np.logical_and.reduce(
        [_valid(prepared, features, lanes, shapes, places) for lanes in drawn.completed]
    )
    return Likely(released, _in_all(every, lets_in[:, : every.shape[1]], weights, unsure))


def _covered(
    features: Features, lanes: Lanes, shapes: Sequence[Shape], places: Sequence[int]
) -> Bools:
    """(rules, worlds, size)"""
    values = features.over(lanes, places)
    return np.array([shape.over(values) for shape in shapes])


def _valid(
    prepared: Prepared,
    features: Features,
    lanes: Lanes,
    shapes: Sequence[Shape],
    places: Sequence[int],
) -> Bools:
    """(rules, worlds)"""
    broken = lanes.violated(prepared)
    found: Bools = ~any_of(broken[None] & ~_covered(features, lanes, shapes, places))
    return found


def _weights(rules: Sequence[Priced], lets_in: Bools, worlds: int) -> NDArray[np.float64]:
    """(rules,): how likely each is the rule behind the worlds; they sum to 1, or are all 0."""
    costs = np.array([rule.cost for rule in rules])
    sizes = np.array([rule.size for rule in rules])
    share = np.maximum(lets_in.mean(axis=1), 1e-4)
    logs = -(costs + NODE * sizes) / WARMTH - NARROW * worlds * np.log(share)
    logs[lets_in.sum(axis=1) < FEWEST] = -np.inf
    if not np.isfinite(logs).any():
        return np.zeros(len(rules))
    weights = np.exp(logs - logs.max())
    weights[weights < UNLIKELY] = 0
    found: NDArray[np.float64] = weights / weights.sum()
    return found


def _in_all(
    valid: Bools, lets_in: Bools, weights: NDArray[np.float64], unsure: float
) -> NDArray[np.float64]:
    """(rules,): in all of `HOLDOUTS` worlds."""
    used = np.flatnonzero(weights)
    base = valid.mean(axis=1)
    if not len(used):
        alone: NDArray[np.float64] = base**HOLDOUTS
        return alone
    inside = lets_in[used].astype(np.float32)
    held = valid.astype(np.float32) @ inside.T
    share = (held + SMOOTHED * base[:, None]) / (inside.sum(axis=1) + SMOOTHED)[None]
    known: NDArray[np.float64] = (share**HOLDOUTS * weights[used]).sum(axis=1)
    found: NDArray[np.float64] = (1 - unsure) * known + unsure * base**HOLDOUTS
    return found
