"""Ranking of valid rules by a trade-off between cost, size and validity in further worlds.

The score of a rule is gap + node * size - holds * P, and the rule with the lowest score is best.
The gap is the cost above the lower bound, per world (ABD, section 4), where the cost is the number
of elements that the rule marks. The size is the number of syntax nodes (AST size). P is the
probability that the rule is valid in five further worlds. The trade-off sets the weights `node` and
`holds`, in marked elements per world.

A rule is exact if its cost equals the lower bound. Of the exact rules, the smallest comes first.
The settings were chosen on one half of the development instances; docs/results/exception-rules.md
says when results on the other half were first seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...tools.logic.fast_path import BeyondFastPath, PreparedWorlds
from ...tools.logic.formula import Formula
from ...tools.logic.sampling import Integers, RandomStream
from .evidence import Evidence
from .features import CONNECTED, JUST_TWO, Features, Kind, concatenate_places
from .lanes import (
    EQUALITY,
    Guard,
    Lanes,
    Literal,
    complete_worlds,
    draw_broken,
)
from .rules import find_candidates, narrow
from .validity import estimate_validity

COMPLETIONS = {"full": 1, "partial": 12, "skeptical": 20}  # completions of each prompt world
DISTINGUISHING_WORLDS = 48  # number of drawn worlds that distinguish rules
MAX_WEIGHED = 400  # number of candidates whose P is estimated
JUDGED_AT_ONCE = 80  # number of candidates judged exactly at once
PLAINEST = 200  # number of features that other proposers' rules are joined with (engine.py)
FEATURE_SHARE = 0.15  # share of the expansions for features; the others go to pairs of features


class TradeOff(NamedTuple):
    """Weights that rank exception rules by cost, size and validity in further worlds.

    Args:
        node: Price of one syntax node of the formula, in marked elements per world.
        holds: Value of certainty that the rule is valid in further worlds, in marked elements per
            world.
        exact: Whether further worlds treat unknown atoms as the problem's regime requires. If
            False, unknown atoms count as false, as in the published evaluator.
    """

    node: float
    holds: float
    exact: bool = False


TRADE_OFFS: Mapping[str, TradeOff] = {
    "balanced": TradeOff(0.05, 2.0),
    "tight": TradeOff(0.02, 0.5),
    "safe": TradeOff(0.01, 5.0, exact=True),
}
DEFAULT = "balanced"


class ScoredRule(NamedTuple):
    """A rule that is valid in all prompt worlds, with its score.

    Args:
        formula: The rule.
        cost: Number of elements that the rule marks, summed over all prompt worlds.
        score: Score of the rule by the trade-off; lower is better.
        holds: Probability that the rule is valid in further worlds.
    """

    formula: Formula
    cost: int
    score: float
    holds: float


class ExactRule(NamedTuple):
    """The smallest rule whose cost equals the lower bound.

    Args:
        size: Number of syntax nodes (AST size) of the rule, or -1 if there is no such rule.
        score: Score of the rule, which is the best score of all rules at the lower bound.
    """

    size: int
    score: float


NO_RULE = ExactRule(-1, 0.0)


class CandidateRules:
    """The candidate rules of a problem, which are ranked once for each trade-off.

    The candidates depend only on the problem and the budget.

    Attributes:
        weighed_rules: At most `MAX_WEIGHED` candidate rules that are best for some weights of cost,
            size and validity.
        validity_odds: How likely each of the `weighed_rules` is to be valid in further worlds.
        plainest: Indices of the `PLAINEST` smallest features.
        plainest_rows: Whether each element has each of the `plainest` features, bool of shape
            (features, completed worlds, elements).
    """

    def __init__(self, prepared: PreparedWorlds, name: str, expansions: float) -> None:
        """Build the candidate rules.

        Args:
            prepared: The theory and the prompt worlds of the problem.
            name: Text that identifies the problem and seeds the random worlds.
            expansions: Budget of the search, in expansions.

        Raises:
            BeyondFastPath: If the fast path, which judges rules without a solver, does not support
                the theory.
        """
        self.prepared = prepared
        self.bound = sum(prepared.bounds)
        stream = RandomStream(f"{name}: search")
        self.prompt = complete_worlds(prepared, COMPLETIONS[prepared.regime], stream)
        drawn = draw_broken(prepared, DISTINGUISHING_WORLDS, stream)
        lanes = self.prompt.lanes.concatenate(drawn)
        self.features = grow_features(
            lanes, sorted(_allowed(prepared)), round(expansions * FEATURE_SHARE)
        )
        broken = [one.find_violations(prepared) for one in (self.prompt.lanes, drawn)]
        self.evidence = Evidence(self.prompt, broken[0], prepared.regime, broken[1])
        found = find_candidates(
            self.features, self.evidence, round(expansions * (1 - FEATURE_SHARE))
        )
        self.plainest = self.features.smallest(np.arange(len(self.features)), PLAINEST)
        rows = self.features.values[self.plainest].reshape(-1, lanes.worlds, lanes.size)
        self.plainest_rows = rows[:, : self.prompt.lanes.worlds].copy()
        self.features.release()
        self.weighed_rules = list(narrow(found, self.evidence, MAX_WEIGHED))
        self.validity_odds = estimate_validity(
            prepared, self.features, self.weighed_rules, RandomStream(f"{name}: holdouts")
        )
        self._judged: dict[int, tuple[Formula, int] | None] = {}

    def judge(self, place: int) -> tuple[Formula, int] | None:
        """Return the rule at index `place` of `weighed_rules` as a formula, with its exact cost.

        The result is None if the rule is not valid in all prompt worlds.
        """
        if place not in self._judged:
            rule = self.weighed_rules[place]
            formula = rule.shape.to_formula(self.features)
            cost = exact_cost(self.prepared, formula, rule.cost)
            self._judged[place] = None if cost is None else (formula, cost)
        return self._judged[place]


class Ranking:
    """The valid rules of a problem, ranked by one trade-off. Iteration yields the best rule first.

    Args:
        found: The candidate rules of the problem.
        trade_off: Weights of cost, size and validity.
    """

    def __init__(self, found: CandidateRules, trade_off: TradeOff) -> None:
        self.found, self.trade_off = found, trade_off
        odds = found.validity_odds
        self.holds = (odds.exact if trade_off.exact else odds.released).tolist()
        self.ranked: list[ScoredRule] = []
        self._exact = self._find_smallest_exact()
        self._left = self._batches()

    def __iter__(self) -> Iterator[ScoredRule]:
        place = 0
        while place < len(self.ranked) or self._judge_further():
            yield self.ranked[place]
            place += 1

    def _judge_further(self) -> bool:
        """Judge further candidates until some are valid; return whether there were any."""
        for batch in self._left:
            self.ranked += batch
            if batch:
                return True
        return False

    def _batches(self) -> Iterator[list[ScoredRule]]:
        """Yield judged candidates in batches, in the order of their preliminary scores."""
        rules = self.found.weighed_rules
        scores = [self._score(r.cost, r.size, p) for r, p in zip(rules, self.holds, strict=True)]
        sizes = [rule.size for rule in rules]
        order = np.lexsort((np.negative(self.holds), sizes, scores)).tolist()
        for start in range(0, len(order), JUDGED_AT_ONCE):
            batch = [self._scored(place) for place in order[start : start + JUDGED_AT_ONCE]]
            yield sorted(
                (one for one in batch if one is not None),
                key=lambda one: (one.score, one.formula.size, -one.holds),
            )

    def _scored(self, place: int) -> ScoredRule | None:
        judged = self.found.judge(place)
        if judged is None:
            return None
        formula, cost = judged
        holds = self.holds[place]
        return ScoredRule(formula, cost, self._score(cost, formula.size, holds), holds)

    def _find_smallest_exact(self) -> ExactRule:
        """Return the smallest rule whose cost is the lower bound, and the score it gets."""
        rules, bound = self.found.weighed_rules, self.found.bound
        own = [self._own_score(r.cost, r.size, p) for r, p in zip(rules, self.holds, strict=True)]
        exact = [place for place, rule in enumerate(rules) if rule.cost == bound]
        smallest = self._first_exact(sorted(exact, key=lambda place: rules[place].size))
        best = self._first_exact(sorted(exact, key=lambda place: own[place]))
        if smallest is None or best is None:
            return NO_RULE
        return ExactRule(rules[smallest].size, own[best])

    def _first_exact(self, places: Sequence[int]) -> int | None:
        """Return the first of some candidates whose exact cost is the lower bound."""
        for place in places:
            judged = self.found.judge(place)
            if judged is not None and judged[1] == self.found.bound:
                return place
        return None

    def _score(self, cost: int, size: int, holds: float) -> float:
        """Return the score, for the smallest exact rules that which they get in place of their own.

        A larger exact rule says the same of the prompt worlds, so what its further parts seem to be
        worth in drawn worlds is no evidence: the smallest one gets the best score of them all.
        """
        if cost == self.found.bound and size == self._exact.size:
            return self._exact.score
        return self._own_score(cost, size, holds)

    def _own_score(self, cost: int, size: int, holds: float) -> float:
        return self.plain_score(cost, size) - self.trade_off.holds * holds

    def plain_score(self, cost: int, size: int) -> float:
        """Return the score of a rule without its term for validity in further worlds.

        Args:
            cost: Number of elements that the rule marks, summed over all prompt worlds.
            size: Number of syntax nodes of the rule.
        """
        gap = (cost - self.found.bound) / len(self.found.prepared.worlds)
        return gap + self.trade_off.node * size


def exact_cost(prepared: PreparedWorlds, formula: Formula, found: int) -> int | None:
    """Return the exact cost of a rule, or None if the rule is not valid in all prompt worlds.

    If the fast path does not support the rule, the result is `found` in the partial regime, where
    one repaired completion of each world proves validity. In the full and skeptical regimes, the
    result for such a rule is None.

    Args:
        prepared: The theory and the prompt worlds of the problem.
        formula: The rule.
        found: Cost of the rule over the completions that the search used.
    """
    try:
        worths = prepared.judge(formula)
    except BeyondFastPath:
        return found if prepared.regime == "partial" else None
    costs = [worth.cost for worth in worths]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _allowed(prepared: PreparedWorlds) -> Sequence[str]:
    signature = prepared.theory.signature
    return [name for name in prepared.theory.allowed if signature[name] in (1, 2)]


# --- The order in which features are built from others, within a budget.

# Limits on the properties of neighbours, and on guards of two literals. More than six predicates,
# or three with two arguments, reach them.
MOST_PROPERTIES, MOST_GUARDS = 240, 60


def build_guards(predicates: Collection[str]) -> tuple[list[Guard], list[Guard]]:
    """Return guards of one literal and guards of two literals over two-argument predicates.

    A guard says which elements are neighbours. In a guard of two literals, the second literal may
    be negated, or may say that the two elements differ.
    """
    ways = [Literal(name, swapped) for name in sorted(predicates) for swapped in (False, True)]
    alone = [Guard((way,)) for way in ways]
    differ = Literal(EQUALITY, positive=False)
    together = []
    for place, way in enumerate(ways):
        together += [Guard((way, other)) for other in ways[place + 1 :]]
        together.append(Guard((way, differ)))
        together += [Guard((way, other._replace(positive=False))) for other in ways if other != way]
    return alone, together


def grow_features(lanes: Lanes, allowed: Collection[str], most: int) -> Features:
    """Return features about up to three nested neighbourhoods, built from the allowed predicates.

    At every depth, smaller properties are used first. The numbers of features at each depth are
    tuned for `most` = 30,000 and for theories like the published theories. With more predicates,
    each predicate gets fewer features.

    Args:
        lanes: The worlds in which the features are evaluated.
        allowed: Names of the predicates of one and two arguments that features may use.
        most: Approximate limit on evaluated features. Features about direct neighbours are always
            evaluated.
    """
    found = Features(lanes, most)
    related = [name for name in allowed if lanes.true[name].ndim == 3]
    alone, together = build_guards(related)
    together = together[:: -(-len(together) // MOST_GUARDS) or 1]
    everything = found.add_universal()
    atoms = found.add_atoms(allowed)
    literals = np.concatenate([atoms, found.add_negations(atoms)])
    width = most / 30_000 / max(1.0, len(alone) / 4, len(literals) / 8)

    def few(some: Integers, count: int) -> Integers:
        return found.smallest(some, max(4, round(count * width)))

    plain = np.concatenate([everything, literals])
    grades: tuple[Kind, ...] = ("some", "every", "two")
    properties = concatenate_places(
        [plain, *(found.add_connected(kind, literals, literals) for kind in CONNECTED)]
    )
    properties = np.sort(found.smallest(properties, MOST_PROPERTIES))
    first = concatenate_places(
        [
            found.add_neighbour_grades((*grades, "one"), [*alone, Guard()], properties),
            found.add_neighbour_grades((JUST_TWO,), alone, plain),
            found.add_neighbour_grades(grades, together, plain),
            found.add_neighbour_pairs(alone, plain, few(properties, 12)),
        ]
    )
    simple = few(first, 40)
    bodies = concatenate_places(
        [
            first,
            found.add_negations(few(first, 300)),
            found.add_connected("and", literals, few(first, 400)),
            *(found.add_connected(k, literals, few(first, 200)) for k in ("or", "iff", "implies")),
            *(found.add_connected(k, simple, simple) for k in ("and", "iff")),
        ]
    )
    second = concatenate_places(
        [
            found.add_neighbour_grades(grades[:2], alone, few(bodies, 1500)),
            found.add_neighbour_grades(grades[:2], together, few(first, 60)),
            found.add_neighbour_pairs(alone, plain, few(first, 40)),
        ]
    )
    deeper = concatenate_places([second, found.add_connected("and", literals, few(second, 500))])
    found.add_neighbour_grades(grades[:2], alone, few(deeper, 750))
    return found
