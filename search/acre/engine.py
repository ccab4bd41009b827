"""Scenes in a worker (ACRE): problems as JSON text in, the next rule as JSON text out.

The first answer is the likeliest rule of blickets (acre/search.py). What follows must be novel:
less than 0.8 of the sample space predicted alike by earlier answers (GEAR 4.1). Two outputs leave
room for at most five such rules. Another rule of blickets comes first, then rules of all kinds by
cost (search.py). Earlier answers are known where this engine would have given them in this
order; those of others (a model's) are never run here, and count as covering nothing.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..engines import SearchEngine
from ..following import Answer
from .grammar import Mask, Rule, Scene, Table
from .search import NEW, Earlier, Evidence, Scenes, Search
from .source import sentence, source

_ENTITY = re.compile(r"[\w-]+ [\w-]+ [\w-]+")  # words that a text can hold between quotes


class Given(NamedTuple):
    """The scenes that are shown."""

    scenes: list[Scene]
    on: list[bool]


def serves(shown: list[list[Any]]) -> bool:
    """Whether these are scenes, lists of "color material shape", that are "on" or "off"."""
    return bool(shown) and all(
        _is_scene(scene) and light in ("on", "off") for scene, light in shown
    )


def _is_scene(value: Any) -> bool:
    return type(value) is list and all(
        type(entity) is str and _ENTITY.fullmatch(entity) is not None for entity in value
    )


def prepared(inputs: list[Any]) -> Scenes:
    return Scenes([list(scene) for scene in inputs if _is_scene(scene)])


class Problem:
    """The memo of one problem on one sample space."""

    def __init__(
        self, shown: list[list[Any]], scenes: Scenes, expansions: float, told: object = None
    ) -> None:
        self.given = Given([list(scene) for scene, _ in shown], [o == "on" for _, o in shown])
        self.scenes, self.expansions = scenes, expansions
        evidence = Evidence(*self.given)
        self.sets = evidence.sets()
        self.likely = [rule for rule in evidence.rules() if self._agrees(rule)]
        self.search: Search | None = None
        self.answers: dict[tuple[tuple[Rule, ...], frozenset[str]], Rule | None] = {}

    def _agrees(self, rule: Rule) -> bool:
        return bool(Table(self.given.scenes).on(rule).tolist() == self.given.on)

    def known(self, earlier: list[str]) -> tuple[Rule, ...]:
        """The rules of those earlier answers that would have been given here in this order."""
        rules: tuple[Rule, ...] = ()
        for i, text in enumerate(earlier):
            rule = self._following(rules, frozenset(earlier[:i]))
            if rule is not None and source(rule).strip() == text:
                rules = (*rules, rule)
        return rules

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        rule = self._following(self.known(earlier), skip)
        return Answer(source(rule), sentence(rule)) if rule else None

    def _following(self, known: tuple[Rule, ...], skip: frozenset[str]) -> Rule | None:
        key = known, skip
        if key not in self.answers:
            self.answers[key] = self._next(known, skip)
        return self.answers[key]

    def _next(self, known: tuple[Rule, ...], skip: frozenset[str]) -> Rule | None:
        earlier = Earlier(self.scenes, [self._on(rule) for rule in known])
        for rule in self.likely:
            new = earlier.new(self.scenes.bits(self._on(rule)[None, :]))[0]
            if new > NEW and source(rule).strip() not in skip and self._right(rule):
                return rule
        if self.search is None:
            self.search = Search(*self.given, self.scenes, self.sets)
        skipped: set[Rule] = set()
        while True:
            found = self.search.next(earlier, skipped, self.expansions)
            if found is None or (source(found).strip() not in skip and self._right(found)):
                return found
            skipped.add(found)

    def _right(self, rule: Rule) -> bool:
        """Whether the text says of the shown scenes what the rule does: a word may hold another."""
        names: dict[str, Any] = {}
        exec(compile(source(rule), "<rule>", "exec"), names)
        said = [names["f"](list(scene)) == "on" for scene in self.given.scenes]
        return said == self.given.on

    def _on(self, rule: Rule) -> Mask:
        return self.scenes.table.on(rule)


ENGINE = SearchEngine("acre", serves, prepared, Problem)
