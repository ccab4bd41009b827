"""Search engine for ACRE scenes: proposes rules that predict whether a scene is "on" or "off".

The first answer is the likeliest rule about blickets, which are objects that turn a scene on
(acre/search.py). Every later answer must be novel: its coverage, which is the share of the sample
space on which some earlier answer makes the same prediction, must be below 0.8 (GEAR, section 4.1).
Because there are only two outputs, the engine can propose at most five rules.

The second candidate is another rule about blickets. After these two, the engine searches rules of
all forms in the order of their cost (acre/search.py).

The engine recognises an earlier answer if it would have proposed the same text at the same
position. Other earlier answers, such as the answers of a language model, are never executed, and
their coverage counts as zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..engines import SearchEngine
from ..novelty import Answer
from ..programs.repair import repair_program
from .grammar import (
    EVERY,
    Kind,
    Literal,
    Mask,
    Rule,
    Scene,
    Table,
)
from .search import (
    MIN_NEW_SHARE,
    EarlierPredictions,
    Evidence,
    Scenes,
    Search,
)

_ENTITY = re.compile(r"[\w-]+ [\w-]+ [\w-]+")  # words that need no escaping in quotes


class ShownScenes(NamedTuple):
    """The scenes that are shown to the solver, and for each scene whether it is on."""

    scenes: list[Scene]
    on: list[bool]


def supports(shown: list[list[Any]]) -> bool:
    """Return whether `shown` holds pairs of a scene and "on" or "off".

    A scene is a list of objects, each written as "color material shape".
    """
    return bool(shown) and all(
        _is_scene(scene) and light in ("on", "off") for scene, light in shown
    )


def _is_scene(value: Any) -> bool:
    return type(value) is list and all(
        type(entity) is str and _ENTITY.fullmatch(entity) is not None for entity in value
    )


def prepare_space(inputs: list[Any]) -> Scenes:
    """Return the scenes in `inputs` as a table; inputs that are not scenes are left out."""
    return Scenes([list(scene) for scene in inputs if _is_scene(scene)])


class Problem:
    """The search for rules that explain the shown scenes of one problem.

    Args:
        shown: Pairs [scene, "on" or "off"].
        scenes: The sample space, on which the novelty of a rule is measured.
        expansions: Budget of each search for a rule, in expansions (budget.py).
        public: Ignored.
    """

    def __init__(
        self, shown: list[list[Any]], scenes: Scenes, expansions: float, public: object = None
    ) -> None:
        self.shown = shown
        self.given = ShownScenes([list(scene) for scene, _ in shown], [o == "on" for _, o in shown])
        self.scenes, self.expansions = scenes, expansions
        evidence = Evidence(*self.given)
        self.sets = evidence.suggest_kinds()
        self.likely = [rule for rule in evidence.suggest_rules() if self._agrees(rule)]
        self.search: Search | None = None
        self.answers: dict[tuple[tuple[Rule, ...], frozenset[str]], Rule | None] = {}

    def _agrees(self, rule: Rule) -> bool:
        return bool(Table(self.given.scenes).predict(rule).tolist() == self.given.on)

    def recognise_earlier(self, earlier: list[str]) -> tuple[Rule, ...]:
        """Return the rules of those answers in `earlier` that this engine would have proposed."""
        rules: tuple[Rule, ...] = ()
        for i, text in enumerate(earlier):
            rule = self._following(rules, frozenset(earlier[:i]))
            if rule is not None and generate_source(rule).strip() == text:
                rules = (*rules, rule)
        return rules

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next rule, or None if the budget ends before a novel rule is found.

        Args:
            earlier: Texts of all earlier answers, in their order.
            skip: Texts that must not be proposed again.
        """
        rule = self._following(self.recognise_earlier(earlier), skip)
        return Answer(generate_source(rule), describe_rule(rule)) if rule else None

    def repair(self, text: str, earlier: Sequence[str] = ()) -> Answer | None:
        """Return a program that is right on all pairs, made from one that is not (programs/repair.py).

        Args:
            text: The source of the program.
            earlier: Texts of all earlier answers.
        """
        return repair_program(text, self, self.shown, [], self.expansions, earlier)

    def _following(self, known: tuple[Rule, ...], skip: frozenset[str]) -> Rule | None:
        key = known, skip
        if key not in self.answers:
            self.answers[key] = self._next(known, skip)
        return self.answers[key]

    def _next(self, known: tuple[Rule, ...], skip: frozenset[str]) -> Rule | None:
        earlier = EarlierPredictions(self.scenes, [self._on(rule) for rule in known])
        for rule in self.likely:
            new = earlier.new_shares(self.scenes.pack(self._on(rule)[None, :]))[0]
            if (
                new > MIN_NEW_SHARE
                and generate_source(rule).strip() not in skip
                and self._right(rule)
            ):
                return rule
        if self.search is None:
            self.search = Search(*self.given, self.scenes, self.sets)
        skipped: set[Rule] = set()
        while True:
            found = self.search.choose(earlier, skipped, self.expansions)
            if found is None or (generate_source(found).strip() not in skip and self._right(found)):
                return found
            skipped.add(found)

    def _right(self, rule: Rule) -> bool:
        """Return whether the generated text gives the shown outputs.

        The text may differ from the rule, because one word may contain another.
        """
        names: dict[str, Any] = {}
        exec(compile(generate_source(rule), "<rule>", "exec"), names)
        said = [names["f"](list(scene)) == "on" for scene in self.given.scenes]
        return said == self.given.on

    def _on(self, rule: Rule) -> Mask:
        return self.scenes.table.predict(rule)


ENGINE = SearchEngine("acre", supports, prepare_space, Problem, "programs")


# --- A rule as Python and as a sentence.

WIDTH = 79
_MATERIALS = ("metal", "rubber")
_SHAPES = ("cube", "cylinder", "sphere")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def generate_source(rule: Rule) -> str:
    """Return the rule as Python source: a function `f(x)` that returns "on" or "off" for a scene.

    Lines have at most 79 characters where names allow it. Counts and sets of objects are assigned
    to variables first.
    """
    lines = _Lines()
    condition = _condition(rule, lines)
    answer = f'    return "on" if {" ".join(condition)} else "off"'
    if len(answer) <= WIDTH:
        return "\n".join(["def f(x):", *lines.lines, answer]) + "\n"
    lines.lines += ["    on = (", *(f"        {part}" for part in condition), "    )"]
    return "\n".join(["def f(x):", *lines.lines, '    return "on" if on else "off"']) + "\n"


def _condition(rule: Rule, lines: _Lines) -> list[str]:
    """Return the literals; each after the first is preceded by its `and` or `or`."""
    alone = rule.second is None
    parts = [lines.test(rule.first, alone)]
    if rule.second is not None:
        parts.append(f"{rule.join} {lines.test(rule.second, alone)}")
    if rule.third is not None:
        if rule.join != rule.outer:
            both = f"({parts[0]} {parts[1]})"
            parts = [both] if len(both) <= WIDTH - 8 else [f"({parts[0]}", f"    {parts[1]})"]
        parts.append(f"{rule.outer} {lines.test(rule.third, alone)}")
    return parts


class _Lines:
    """The assignments before the last line, and the names they define."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sets: dict[tuple[str, ...], str] = {}
        self.counts: dict[Kind, str] = {}

    def test(self, literal: Literal, alone: bool) -> str:
        """Return a literal as an expression; `alone` marks the only literal of a rule."""
        kind, holds = literal.kind, literal.holds
        if kind == EVERY:
            return _compared("len(x)", literal)
        if literal.test == "any":
            return self._any(kind, holds)
        if literal.test == "more":
            sign = ">" if holds else "<="
            return f"{self._count(kind)} {sign} {self._count(literal.than)}"
        if alone:
            return _compared(f"sum({self._holds(kind)} for e in x)", literal)
        return _compared(self._count(kind), literal)

    def _any(self, kind: Kind, holds: bool) -> str:
        if len(kind.entities) == 1 and not kind.others:
            return f'"{kind.entities[0]}" {"in" if holds else "not in"} x'
        if not holds and (kind.lacks or kind.others):
            return f"all({self._lacks(kind)} for e in x)"
        return f"{'' if holds else 'not '}any({self._holds(kind)} for e in x)"

    def _holds(self, kind: Kind) -> str:
        """Return a condition on an object `e`."""
        if kind.entities:
            if len(kind.entities) == 1:
                return f'e {"!=" if kind.others else "=="} "{kind.entities[0]}"'
            return f"e {'not in' if kind.others else 'in'} {self._set(kind)}"
        if kind.lacks:
            return f'"{kind.lacks}" not in e'
        if len(kind.words) == 2 and not any(word in _MATERIALS for word in kind.words):
            return f'"{kind.words[0]}" in e and "{kind.words[1]}" in e'
        return f'"{" ".join(kind.words)}" in e'

    def _lacks(self, kind: Kind) -> str:
        """Return the condition that an object is not of a kind that is itself stated with `not`."""
        if kind.lacks:
            return f'"{kind.lacks}" in e'
        return self._holds(kind).replace("e not in ", "e in ").replace("e != ", "e == ")

    def _count(self, kind: Kind) -> str:
        if kind not in self.counts:
            counted = self._holds(kind)
            self.counts[kind] = self._free(_name(kind))
            self.lines.append(f"    {self.counts[kind]} = sum({counted} for e in x)")
        return self.counts[kind]

    def _set(self, kind: Kind) -> str:
        if kind.entities not in self.sets:
            name = self._free("duds" if kind.others else "blickets")
            self.sets[kind.entities] = name
            members = [f'        "{entity}",' for entity in kind.entities]
            self.lines += [f"    {name} = {{", *members, "    }"]
        return self.sets[kind.entities]

    def _free(self, name: str) -> str:
        taken = {*self.sets.values(), *self.counts.values()}
        return name if name not in taken else f"more_{name}"


def _compared(count: str, literal: Literal) -> str:
    if literal.test == "odd":
        return f"{count} % 2 == {int(literal.holds)}"
    if literal.holds:
        return f"{count} >= {literal.k}"
    return f"{count} < {literal.k}"


def _name(kind: Kind) -> str:
    """Return a name for a variable that counts the objects of a kind."""
    if kind.entities:
        return "others" if kind.others else "known"
    if kind.lacks:
        return f"not_{kind.lacks}"
    return _plural(kind).replace(" ", "_")


# --- in words ---------------------------------------------------------------------


def describe_rule(rule: Rule) -> str:
    """Return an English sentence that states when a scene is on according to `rule`."""
    said = [_say(literal) for literal in rule.literals]
    if rule.third is None:
        return f"A scene is on iff {f' {rule.join} '.join(said)}."
    if rule.join == rule.outer:
        return f"A scene is on iff {said[0]}, {said[1]} {rule.join} {said[2]}."
    both = "both " if rule.join == "and" else "either "
    return f"A scene is on iff {both}{said[0]} {rule.join} {said[1]}, {rule.outer} {said[2]}."


def _say(literal: Literal) -> str:
    kind, holds = literal.kind, literal.holds
    if literal.test == "more":
        more = "more" if holds else "no more"
        return f"it holds {more} {_plural(kind)} than {_plural(literal.than)}"
    if literal.test == "odd":
        return f"its number of {_plural(kind)} is {'odd' if holds else 'even'}"
    if literal.test == "least" and literal.k > 1:
        least = "at least" if holds else "fewer than"
        return f"it holds {least} {_NUMBERS[literal.k]} {_plural(kind)}"
    if not holds and kind.lacks:
        return f"all that it holds is {_all(kind.lacks)}"
    return f"it holds {_one(kind) if holds else _none(kind)}"


def _one(kind: Kind) -> str:
    if kind == EVERY:
        return "an object"
    if kind.others:
        return f"an object other than {_listed(kind.entities, 'and')}"
    if kind.entities:
        return _listed([f"a {entity}" for entity in kind.entities], "or")
    if kind.lacks:
        return f"an object that is not {_all(kind.lacks)}"
    return f"a {_singular(kind)}"


def _none(kind: Kind) -> str:
    if kind == EVERY:
        return "nothing"
    if kind.others:
        return f"nothing but {_listed([f'a {entity}' for entity in kind.entities], 'or')}"
    if len(kind.entities) > 1:
        return f"neither {_listed([f'a {entity}' for entity in kind.entities], 'nor')}"
    return f"no {kind.entities[0] if kind.entities else _singular(kind)}"


def _plural(kind: Kind) -> str:
    if kind.others:
        return f"objects other than {_listed(kind.entities, 'and')}"
    if kind.entities:
        return f"objects that are {_listed([f'a {entity}' for entity in kind.entities], 'or')}"
    if kind.lacks:
        return f"objects that are not {_all(kind.lacks)}"
    return "objects" if kind == EVERY else f"{_singular(kind)}s"


def _singular(kind: Kind) -> str:
    words = " ".join(kind.words)
    return words if kind.words[-1] in _SHAPES else f"{words} object"


def _all(word: str) -> str:
    return f"a {word}" if word in _SHAPES else word


def _listed(words: tuple[str, ...] | list[str], join: str) -> str:
    *before, last = words
    return f"{', '.join(before)} {join} {last}" if before else last
