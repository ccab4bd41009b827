"""Estimate how likely a rule is to be valid in further worlds like those that a problem shows.

The estimate uses random worlds that resemble the prompt worlds, which are the worlds that a problem
shows. The worlds of a problem are not arbitrary: in each world, some unknown rule repairs the
theory at a cost near the lower bound (ABD, section 5 and appendix D.2). The estimate assumes in
turn that each candidate is this unknown rule. A cheap and small candidate that admits few of the
drawn worlds has a high weight. A candidate admits a world if the candidate repairs the world at a
cost near the minimum. The estimated validity of a rule is the weighted mean of its validity in the
worlds that each candidate admits. A part of the weight goes to all drawn worlds, because the
unknown rule may not be among the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.logic.evaluation import Bools
from ...tools.logic.fast_path import PreparedWorlds, Regime
from ...tools.logic.packed_tables import Packed, any_packed, pack_elements
from ...tools.logic.sampling import RandomStream
from .features import Features
from .lanes import (
    Lanes,
    batch_size,
    count_packed,
    draw_hidden,
    draw_similar,
    max_violations,
)
from .rules import PricedRule, Shape

HOLDOUTS = 5  # number of further worlds in which a rule must be valid (ABD, section 5)
WORLDS = 1_500
DRAWN = 6_000  # number of worlds drawn at once, fewer if they are large
ROUNDS = 20
# A rule admits a world with at most `SLACK` exceptions above the minimum, and in total at most one
# more than the elements that may break the theory.
SLACK = 2
SKEPTICAL_COMPLETIONS = 5  # completions of a world in the skeptical regime
# A rule's weight is e to the minus (cost + NODE * size) / WARMTH, divided by the share of worlds
# that it admits to the power NARROW * prompt worlds.
WARMTH, NODE, NARROW = 6.0, 0.3, 0.15
UNLIKELY = 1e-3  # rules below this part of the largest weight are left out
FEWEST = 5  # minimum number of worlds that a rule must admit to count
SMOOTHED = 0.5  # weight, in worlds, of the validity in all drawn worlds
# Weight of the drawn worlds without a condition. The fewer worlds are independent and the more is
# unknown, the less they say about the rule behind them.
ANY_WORLD: Mapping[Regime, float] = {"full": 0.05, "partial": 0.1, "skeptical": 0.5}


class DrawnWorlds(NamedTuple):
    """Random worlds that resemble the prompt worlds of a problem.

    Args:
        worlds: The worlds, in which each atom is either true or false.
        read: The worlds as the published evaluator reads them: unknown atoms count as false. In the
            full and skeptical regimes, `read` is the same object as `worlds`.
        completed: Completions of the first third of the worlds, for the skeptical regime. In this
            regime, a rule must be valid in all completions of a world. Empty in other regimes.
    """

    worlds: Lanes
    read: Lanes
    completed: tuple[Lanes, ...]


def draw_worlds(prepared: PreparedWorlds, stream: RandomStream) -> DrawnWorlds | None:
    """Return random worlds that resemble the prompt worlds, or None if too few suitable worlds are
    drawn.

    A world is suitable if at least one element violates the theory, but at most `lanes.max_violations`
    elements do.
    """
    found: Lanes | None = None
    most = max_violations(prepared)
    for _ in range(ROUNDS):
        lanes = draw_similar(prepared, batch_size(prepared, DRAWN), stream)
        broken = lanes.find_violations(prepared).sum(axis=1)
        lanes = lanes.select((broken >= 1) & (broken <= most))
        found = lanes if found is None else found.concatenate(lanes)
        if found.worlds >= WORLDS:
            break
    if found is None or found.worlds < WORLDS // 10:
        return None
    worlds = found.select(np.arange(min(WORLDS, found.worlds)))
    if prepared.regime == "full":
        return DrawnWorlds(worlds, worlds, ())
    hidden = draw_hidden(prepared, worlds, stream)
    read = Lanes(worlds.inside, {name: t & ~hidden[name] for name, t in worlds.true.items()})
    if prepared.regime == "partial":
        return DrawnWorlds(worlds, read, ())
    part = np.arange(worlds.worlds // 3)
    completed = [read.select(part)]
    for number in range(SKEPTICAL_COMPLETIONS):
        true = {}
        for name, table in read.select(part).true.items():
            open_ = hidden[name][part]
            chosen = open_ if number == 0 else open_ & (stream.uniform(*open_.shape) < 0.5)
            true[name] = table | chosen
        completed.append(Lanes(worlds.inside[part], true))
    return DrawnWorlds(worlds, worlds, tuple(completed))


class ValidityOdds(NamedTuple):
    """The probability, for each candidate rule, of being valid in all `HOLDOUTS` further worlds.

    Both arrays have the shape (candidates,).

    Args:
        released: The probability if unknown atoms count as false, as in the published evaluator.
        exact: The probability if unknown atoms count as the regime of the problem requires.
    """

    released: NDArray[np.float64]
    exact: NDArray[np.float64]


def estimate_validity(
    prepared: PreparedWorlds, features: Features, rules: Sequence[PricedRule], stream: RandomStream
) -> ValidityOdds:
    """Return the probability that each rule is valid in all `HOLDOUTS` further worlds.

    The probabilities are 0 if too few suitable worlds can be drawn (see `draw_worlds`).

    Args:
        prepared: The theory and the prompt worlds of the problem.
        features: The features from which the rules are built.
        rules: The candidate rules.
        stream: Source of random numbers.
    """
    drawn = draw_worlds(prepared, stream) if rules else None
    if drawn is None:
        none = np.zeros(len(rules))
        return ValidityOdds(none, none)
    places = sorted({place for rule in rules for place in rule.shape.list_features()})
    shapes = [rule.shape for rule in rules]
    broken = drawn.worlds.find_violations(prepared)
    covered = _covered(features, drawn.worlds, shapes, places)
    valid = ~any_packed(pack_elements(broken)[None] & ~covered)
    marked, least = count_packed(covered), broken.sum(axis=1)
    lets_in = valid & (marked <= least + SLACK) & (marked <= max_violations(prepared) + 1)
    unsure = ANY_WORLD[prepared.regime]
    weights = _weights(rules, lets_in, len(prepared.worlds))
    read = valid
    if prepared.regime == "partial":
        read = _valid(prepared, features, drawn.read, shapes, places)
    released = _in_all(read, lets_in, weights, unsure)
    if prepared.regime != "skeptical":
        exact = released if prepared.regime == "full" else _in_all(valid, lets_in, weights, unsure)
        return ValidityOdds(released, exact)
    every = np.logical_and.reduce(
        [_valid(prepared, features, lanes, shapes, places) for lanes in drawn.completed]
    )
    return ValidityOdds(released, _in_all(every, lets_in[:, : every.shape[1]], weights, unsure))


def _covered(
    features: Features, lanes: Lanes, shapes: Sequence[Shape], places: Sequence[int]
) -> Packed:
    """Return the elements that each rule covers, packed, (rules, worlds, words)."""
    found = features.evaluate_over(lanes, places)
    values = {place: pack_elements(value) for place, value in found.items()}
    return np.array([shape.evaluate(values) for shape in shapes])


def _valid(
    prepared: PreparedWorlds,
    features: Features,
    lanes: Lanes,
    shapes: Sequence[Shape],
    places: Sequence[int],
) -> Bools:
    """Return the worlds in which each rule is valid, (rules, worlds)."""
    broken = pack_elements(lanes.find_violations(prepared))
    found: Bools = ~any_packed(broken[None] & ~_covered(features, lanes, shapes, places))
    return found


def _weights(rules: Sequence[PricedRule], lets_in: Bools, worlds: int) -> NDArray[np.float64]:
    """Return how likely each rule is the one behind the worlds, (rules,); the sum is 1 or 0."""
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
    """Return the probability that each rule is valid in all of `HOLDOUTS` worlds, (rules,)."""
    used = np.flatnonzero(weights)
    base = valid.mean(axis=1)
    if not len(used):
        alone: NDArray[np.float64] = base**HOLDOUTS
        return alone
    inside = lets_in[used]
    held = _count_common(valid, inside)
    share = (held + SMOOTHED * base[:, None]) / (inside.sum(axis=1) + SMOOTHED)[None]
    known: NDArray[np.float64] = (share**HOLDOUTS * weights[used]).sum(axis=1)
    found: NDArray[np.float64] = (1 - unsure) * known + unsure * base**HOLDOUTS
    return found


def _count_common(ones: Bools, others: Bools) -> NDArray[np.float32]:
    """Return in how many worlds both of two rows are true, (rows, other rows)."""
    found: NDArray[np.float32] = ones.astype(np.float32) @ others.astype(np.float32).T
    return found
