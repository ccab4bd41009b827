"""Worlds with exceptions in a worker (ABD): a problem in, the next rule as an S-expression out.

The first answer is the best rule of the trade-off (choice.py), those that follow have to be novel
(search/following.py). Earlier answers, a model's too, are rules that can be evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...records import DataError, canonical_json
from ...tools.logic.formula import Formula
from ...tools.logic.judging import Beyond, Prepared
from ...tools.logic.rules import NoRule, read_rule
from ...tools.logic.theories import Theory, theory_from
from ...tools.logic.worlds import World, world_of
from ...tools.logic.writing import usual, written
from ..engines import SearchEngine
from ..following import Answer, Following, NotSearched, Predictions
from .choice import DEFAULT, TRADE_OFFS, Found, Ranking, Scored
from .mending import mended

FOR_MENDING = "tight"  # who asks for repairs wants a small gap; size comes after cost
POINTS = 4.0  # of a candidate's price in `following`, for a score of 1
NEVER = float("inf")
FAST = "search looks for rules where worlds are judged without a solver"


def serves(shown: list[list[Any]]) -> bool:
    """Whether these are finite worlds, in each of which a rule has to be valid."""
    return bool(shown) and all(
        isinstance(world, dict) and "domain" in world and valid is True for world, valid in shown
    )


class Space:
    """The sample space: worlds, and where each of its elements stands in them."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        places: dict[str, int] = {}
        self.worlds: list[Any] = []
        self.rows: list[tuple[int, Any]] = []
        for pair in inputs:
            if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict)):
                continue  # of a file that was made for other problems
            world, element = pair
            place = places.setdefault(canonical_json(world), len(self.worlds))
            if place == len(self.worlds):
                self.worlds.append(world)
            self.rows.append((place, element))

    def known_to(self, theory: Theory) -> tuple[tuple[World, ...], list[tuple[int, int]]]:
        """The worlds of the theory's predicates, and each row in them as (world, element)."""
        read = {}
        for place, world in enumerate(self.worlds):
            with suppress(DataError):  # of another theory's predicates
                read[place] = world_of(world, theory.signature, "")
        places = {place: number for number, place in enumerate(read)}
        rows = [
            (places[place], read[place].names.index(element))
            for place, element in self.rows
            if place in read and element in read[place].names
        ]
        return tuple(read.values()), rows


def prepared(inputs: list[Any]) -> Space:
    return Space(inputs)


class _Rule:
    """A candidate of `following`."""

    def __init__(self, formula: Formula, cost: float, problem: Problem) -> None:
        self.formula, self.cost = formula, cost
        self.text = written(formula)
        self._problem = problem

    @property
    def sentence(self) -> str:
        return sentence(self.formula)

    def predictions(self, inputs: Sequence[Any]) -> Predictions:
        return self._problem.extension(self.formula)


class Problem:
    """The memo of one problem on one sample space."""

    def __init__(
        self, shown: list[list[Any]], space: Space, expansions: float, told: Mapping[str, Any]
    ) -> None:
        """told: "theory", with its regime, and the name of a "trade_off", if any."""
        said = told["theory"]
        self.theory: Theory = theory_from(said)
        signature = self.theory.signature
        self.worlds = tuple(world_of(world, signature, "") for world, _ in shown)
        self.prepared = Prepared(self.theory, self.worlds, said["regime"])
        worlds, self.rows = space.known_to(self.theory)
        self.space = Prepared(self.theory, worlds, said["regime"])
        self.expansions = expansions
        self.trade_off = TRADE_OFFS[told.get("trade_off") or DEFAULT]
        self.name = canonical_json([said, [world for world, _ in shown]])
        self.following = Following(range(len(self.rows)), max(1, len(self.rows)))
        self._ranking: Ranking | None = None
        self._rules: dict[str, _Rule] = {}

    @property
    def ranking(self) -> Ranking:
        """Raises `NotSearched` for a theory or worlds that the fast path does not reach."""
        if self._ranking is None:
            try:
                found = Found(self.prepared, self.name, self.expansions)
            except Beyond as error:
                raise NotSearched(f"{FAST} ({error})") from error
            self._ranking = Ranking(found, self.trade_off)
        return self._ranking

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """None where nothing is left."""
        known = [rule for text in earlier if (rule := self._known(text)) is not None]
        found = self.following.next(self._candidates(), known, skip)
        return Answer(found.text, found.sentence) if found else None

    def mend(self, text: str) -> Answer | None:
        """A better rule made of this one; None where there is none."""
        ranking = Ranking(self.ranking.found, TRADE_OFFS[FOR_MENDING])
        found = mended(ranking, self._formula(text))
        return Answer(written(found), sentence(found)) if found else None

    def _formula(self, text: str) -> Formula | None:
        found = read_rule(text, self.theory)
        return None if isinstance(found, NoRule) else found.formula

    def _known(self, text: str) -> _Rule | None:
        if text not in self._rules:
            formula = self._formula(text)
            if formula is None:
                return None
            self._rules[text] = _Rule(formula, NEVER, self)
        return self._rules[text]

    def _candidates(self) -> Iterator[_Rule]:
        for one in self.ranking:
            yield self._of(one)

    def _of(self, one: Scored) -> _Rule:
        text = written(one.formula)
        rule = self._rules.get(text)
        if rule is None or rule.cost == NEVER:
            rule = self._rules[text] = _Rule(one.formula, POINTS * one.score, self)
        return rule

    def extension(self, formula: Formula) -> Predictions:
        count = len(self.rows)
        try:
            marks = self.space.extension(formula)
        except Beyond:
            return np.zeros(count, np.int64), np.zeros(count, bool)
        codes = np.array([marks[at] for at in self.rows], np.int64)
        return codes, np.ones(count, bool)


def sentence(formula: Formula) -> str:
    return f"x is abnormal where {usual(formula)}."


ENGINE = SearchEngine("logic", serves, prepared, Problem)
