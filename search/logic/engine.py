"""Search engine for worlds with exceptions (the ABD task), which proposes rules as S-expressions.

A rule is a formula that says which elements of a world are abnormal: exceptions to the theory. The
first answer is the best rule by the chosen trade-off (ranking.py). Later answers must be novel
(search/novelty.py). The engine evaluates every earlier answer, even a language model's, because
formulas are safe to evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from typing import Literal as OneOf

import numpy as np

from ...records import DataError, canonical_json
from ...tools.logic.evaluation import (
    Bools,
    Structures,
    TableTooLarge,
    TruthAlgebra,
    broadcast_to_elements,
    evaluate,
)
from ...tools.logic.fast_path import BeyondFastPath, PreparedWorlds
from ...tools.logic.formula import FREE, Formula, FormulaBuilder, Node, format_infix, format_sexpr
from ...tools.logic.rules import InvalidRule, read_rule
from ...tools.logic.sampling import Integers
from ...tools.logic.theories import Theory, theory_from_json
from ...tools.logic.worlds import World, parse_world
from ..engines import SearchEngine
from ..novelty import Answer, NoveltyRanker, Predictions, UnsupportedProblem
from .lanes import any_of
from .ranking import DEFAULT, TRADE_OFFS, CandidateRules, Ranking, ScoredRule, exact_cost
from .rules import Shape

REPAIR_TRADE_OFF = "tight"  # repairs are meant to have a small gap; size comes after cost
COST_PER_SCORE = 4.0  # cost of a candidate in `following` for a score of 1
INFINITE_COST = float("inf")
UNSUPPORTED_REASON = "search looks for rules where worlds are judged without a solver"


def supports(shown: list[list[Any]]) -> bool:
    """Return whether this engine supports the example pairs [world, valid].

    Each input must be a finite world as a JSON object, and each output must be True.
    """
    return bool(shown) and all(
        isinstance(world, dict) and "domain" in world and valid is True for world, valid in shown
    )


class Space:
    """The sample space of an ABD problem: pairs of a world and one of its elements.

    Args:
        inputs: Pairs [world, element]. Inputs of any other form are ignored.

    Attributes:
        worlds: The distinct worlds, as JSON objects.
        rows: For each input, the index of its world in `worlds`, and the name of its element.
    """

    def __init__(self, inputs: Sequence[Any]) -> None:
        places: dict[str, int] = {}
        self.worlds: list[Any] = []
        self.rows: list[tuple[int, Any]] = []
        for pair in inputs:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict)):
                continue  # the file was made for other problems
            world, element = pair
            place = places.setdefault(canonical_json(world), len(self.worlds))
            if place == len(self.worlds):
                self.worlds.append(world)
            self.rows.append((place, element))

    def restrict_to(self, theory: Theory) -> tuple[tuple[World, ...], list[tuple[int, int]]]:
        """Return the worlds that use the predicates of `theory`, and the inputs about these worlds.

        Returns:
            The worlds, and for each input the index of its world and the index of its element in
            this world.
        """
        read = {}
        for place, world in enumerate(self.worlds):
            with suppress(DataError):  # the world uses another theory's predicates
                read[place] = parse_world(world, theory.signature, "")
        places = {place: number for number, place in enumerate(read)}
        rows = [
            (places[place], read[place].names.index(element))
            for place, element in self.rows
            if place in read and element in read[place].names
        ]
        return tuple(read.values()), rows


def prepare_space(inputs: list[Any]) -> Space:
    """Return the sample space as a `Space`, which stores each distinct world once.

    Args:
        inputs: Pairs [world, element].
    """
    return Space(inputs)


class _Rule:
    """A candidate for the ranker of search/novelty.py."""

    def __init__(self, formula: Formula, cost: float, problem: Problem) -> None:
        self.formula, self.cost = formula, cost
        self.text = format_sexpr(formula)
        self._problem = problem

    @property
    def sentence(self) -> str:
        """Return one sentence that describes the rule."""
        return describe_formula(self.formula)

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        """Return which elements of the sample space the rule marks; `inputs` is ignored."""
        return self._problem.predict_formula(self.formula)


class Problem:
    """A search for exception rules about the worlds of one problem."""

    def __init__(
        self, shown: list[list[Any]], space: Space, expansions: float, public: Mapping[str, Any]
    ) -> None:
        """Create the search for one problem.

        Args:
            shown: Example pairs of a world and True.
            space: The sample space.
            expansions: Budget of the search, in expansions.
            public: A mapping in which "theory" is the theory as JSON, with the "regime" that says
                how unknown atoms count. The key "trade_off" may name a trade-off of `TRADE_OFFS`.
        """
        said = public["theory"]
        self.theory: Theory = theory_from_json(said)
        signature = self.theory.signature
        self.worlds = tuple(parse_world(world, signature, "") for world, _ in shown)
        self.prepared = PreparedWorlds(self.theory, self.worlds, said["regime"])
        worlds, self.rows = space.restrict_to(self.theory)
        self.space = PreparedWorlds(self.theory, worlds, said["regime"])
        self.expansions = expansions
        self.trade_off = TRADE_OFFS[public.get("trade_off") or DEFAULT]
        self.name = canonical_json([said, [world for world, _ in shown]])
        self.following = NoveltyRanker(
            range(len(self.rows)), max(1, len(self.rows)), block=len(self.rows)
        )
        self._ranking: Ranking | None = None
        self._rules: dict[str, _Rule] = {}

    @property
    def ranking(self) -> Ranking:
        """Return the valid rules, best first. The ranking is built on first use.

        Raises:
            UnsupportedProblem: If the fast path, which judges rules without a solver, does not
                support the theory or the worlds.
        """
        if self._ranking is None:
            try:
                found = CandidateRules(self.prepared, self.name, self.expansions)
            except BeyondFastPath as error:
                raise UnsupportedProblem(f"{UNSUPPORTED_REASON} ({error})") from error
            self._ranking = Ranking(found, self.trade_off)
        return self._ranking

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next novel rule, or None if no novel rule is left.

        Args:
            earlier: Texts of all earlier answers.
            skip: Texts that must not be proposed.
        """
        known = [rule for text in earlier if (rule := self._known(text)) is not None]
        found = self.following.choose(self._candidates(), known, skip)
        return Answer(found.text, found.sentence) if found else None

    def repair(self, text: str, earlier: Sequence[str] = ()) -> Answer | None:
        """Return a better rule than the rule `text`, or None if no better rule is found.

        The result is a variant of the rule, or the best rule of the search. Rules are compared by
        the trade-off `REPAIR_TRADE_OFF`; `earlier` is ignored.
        """
        ranking = Ranking(self.ranking.found, TRADE_OFFS[REPAIR_TRADE_OFF])
        found = repair_rule(ranking, self._formula(text))
        return Answer(format_sexpr(found), describe_formula(found)) if found else None

    def _formula(self, text: str) -> Formula | None:
        found = read_rule(text, self.theory)
        return None if isinstance(found, InvalidRule) else found.formula

    def _known(self, text: str) -> _Rule | None:
        if text not in self._rules:
            formula = self._formula(text)
            if formula is None:
                return None
            self._rules[text] = _Rule(formula, INFINITE_COST, self)
        return self._rules[text]

    def _candidates(self) -> Iterator[_Rule]:
        for one in self.ranking:
            yield self._to_rule(one)

    def _to_rule(self, one: ScoredRule) -> _Rule:
        text = format_sexpr(one.formula)
        rule = self._rules.get(text)
        if rule is None or rule.cost == INFINITE_COST:
            rule = self._rules[text] = _Rule(one.formula, COST_PER_SCORE * one.score, self)
        return rule

    def predict_formula(self, formula: Formula) -> Predictions:
        """Return which elements of the sample space a formula marks as exceptions.

        Returns:
            Two arrays of shape (inputs,): 1 for a marked element and 0 otherwise, and whether the
            prediction is defined.
        """
        count = len(self.rows)
        try:
            marks = self.space.extension(formula)
        except BeyondFastPath:
            return np.zeros(count, np.int64), np.zeros(count, bool)
        codes = np.array([marks[at] for at in self.rows], np.int64)
        return codes, np.ones(count, bool)


def describe_formula(formula: Formula) -> str:
    """Return one English sentence that says which elements `formula` marks as abnormal."""
    return f"x is abnormal where {format_infix(formula)}."


ENGINE = SearchEngine("logic", supports, prepare_space, Problem, "logic")


# --- Repair: make a rule valid, cheaper and smaller.
#
# Variants of the rule are tried (a part in place of the whole, dropped, or negated), each alone and
# joined with a feature. They compete with features alone and with the search's own best rule. The
# valid rule with the best score of the trade-off replaces the original if it is better.

VARIANTS = 300
MAX_JUDGED = 60
LARGEST = 200  # maximum number of nodes of a rule that is varied
UNKNOWN = 1 << 40  # cost of a rule that is not valid, or that the fast path does not support
MOST_CELLS = 1 << 22  # limit on a variant's tables, since there are hundreds of variants


class _Found(NamedTuple):
    """A variant, alone or joined with a feature, and its score on the completions at hand."""

    score: float
    variant: int
    kind: OneOf["alone", "instead", "and", "or"]
    feature: int
    cost: int


def repair_rule(ranking: Ranking, formula: Formula | None) -> Formula | None:
    """Return the best rule similar to `formula`, or the best rule of the search if that rule is
    better.

    Args:
        ranking: The valid rules of the problem.
        formula: The rule to improve. None stands for an unreadable rule, which any rule improves.

    Returns:
        The better rule, or None if no rule is better than `formula`.
    """
    first = next(iter(ranking), None)
    choices = (
        []
        if first is None
        else [(ranking.plain_score(first.cost, first.formula.size), first.formula)]
    )
    given = float(UNKNOWN)
    if formula is not None:
        choices = [*_nearby(ranking, formula), *choices]
        cost = exact_cost(ranking.found.prepared, formula, UNKNOWN)
        given = UNKNOWN if cost is None else ranking.plain_score(cost, formula.size)
    best = min(choices, key=lambda choice: choice[0], default=None)
    return best[1] if best is not None and best[0] < given else None


def _nearby(ranking: Ranking, formula: Formula) -> list[tuple[float, Formula]]:
    """Return valid rules made from a formula, judged exactly, each with its score."""
    rows, kept = [], []
    lanes = ranking.found.prompt.lanes
    structures = Structures.from_tables(lanes.inside, lanes.true)
    for variant in _variants(formula):
        try:
            value = evaluate(variant, TruthAlgebra(structures), MOST_CELLS)
        except TableTooLarge:
            continue
        rows.append(broadcast_to_elements(value, variant, lanes.size) & lanes.inside)
        kept.append(variant)
    if not rows:
        return []
    found = _joined(ranking, np.array(rows), np.array([one.size for one in kept], np.int64))
    judged = []
    for one in sorted(found)[:MAX_JUDGED]:
        rule = _formula(ranking, kept, one)
        cost = exact_cost(ranking.found.prepared, rule, one.cost)
        if cost is not None:
            judged.append((ranking.plain_score(cost, rule.size), rule))
    return judged


def _joined(ranking: Ranking, rows: Bools, sizes: Integers) -> list[_Found]:
    """Return the valid variants, alone and joined with each of the smallest features."""
    evidence, features = ranking.found.evidence, ranking.found.features
    places, table = ranking.found.plainest, ranking.found.plainest_rows
    found: list[_Found] = []
    broken = evidence.broken

    def note(
        kind: OneOf["alone", "instead", "and", "or"],
        variant: int,
        covered: Bools,
        own: Integers,
        which: Integers,
    ) -> None:
        valid = ~any_of(broken[None] & ~covered)
        right, costs = evidence.judge(valid, covered.sum(axis=2))
        for at in np.flatnonzero(right):
            cost, size = int(costs[at]), int(own[at])
            score = ranking.plain_score(cost, size)
            found.append(_Found(score, variant, kind, int(which[at]), cost))

    note("instead", -1, table, features.sizes[places], places)
    none = np.full(1, -1)
    for variant, row in enumerate(rows):
        note("alone", variant, row[None], sizes[variant : variant + 1], none)
        own = sizes[variant] + features.sizes[places] + 1
        note("and", variant, table & row[None], own, places)
        note("or", variant, table | row[None], own, places)
    return found


def _formula(ranking: Ranking, variants: Sequence[Formula], one: _Found) -> Formula:
    if one.kind == "alone":
        return variants[one.variant]
    feature = Shape("feature", one.feature).to_formula(ranking.found.features)
    if one.kind == "instead":
        return feature
    builder = FormulaBuilder()
    parts = [builder.include(variants[one.variant]), builder.include(feature)]
    return builder.formula(builder.connect(one.kind, parts))


def _variants(formula: Formula) -> Iterator[Formula]:
    """Yield the rule itself, then its distinct variants, at most one node larger.

    A variant drops or negates a part, or puts a part in place of the node it belongs to. Its free
    variables are those of the rule.
    """
    seen = set()
    for one in _changed(formula):
        if one.free <= {FREE} and one not in seen:
            seen.add(one)
            yield one
            if len(seen) == VARIANTS:
                return


def _changed(formula: Formula) -> Iterator[Formula]:
    yield formula
    if len(formula.nodes) > LARGEST:
        return
    for place in range(len(formula.nodes) - 1, -1, -1):
        node = formula.nodes[place]
        for part in node.parts:
            yield _with(formula, place, part)
        if node.kind == "not":
            continue
        yield _with(formula, place, None)
        if node.kind in ("and", "or"):
            kind: OneOf["and", "or"] = "or" if node.kind == "and" else "and"
            yield _with(formula, place, node._replace(kind=kind))
        if node.kind in ("exists", "forall"):
            other: OneOf["exists", "forall"] = "forall" if node.kind == "exists" else "exists"
            yield _with(formula, place, node._replace(kind=other))


def _with(formula: Formula, place: int, instead: int | Node | None) -> Formula:
    """Return the formula with the node at `place` replaced.

    `instead` is the place of one of its parts, another node with the same parts, or None for its
    negation.
    """
    builder = FormulaBuilder()
    places: list[int] = []
    for number, node in enumerate(formula.nodes):
        parts = tuple(places[part] for part in node.parts)
        if number != place:
            places.append(builder.add(node._replace(parts=parts)))
        elif isinstance(instead, int):
            places.append(places[instead])
        elif instead is None:
            places.append(builder.connect("not", [builder.add(node._replace(parts=parts))]))
        else:
            places.append(builder.add(instead._replace(parts=parts)))
    return builder.formula(places[-1])
