"""List functions in a worker. A hypothesis is proposed where its own Python text gives all shown
outputs, in the order that following.py says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engines import SearchEngine
from ..following import Answer, Codes, Defined, Predictions
from ..patches import patched
from .bank import Lists
from .behaviour import INPUTS, LOOKED_AT, RAISED, surcharge
from .grammar import LARGEST_INTEGER, Node, modest
from .labour import laborious
from .search import Search
from .sentence import sentence
from .sharing import Sharing
from .source import TooLong, source

LARGE = 10_000  # an integer of the space: larger ones may be made ranges of, and are not tried
SAMPLE = 600  # inputs of the space a candidate meets first
PATCH = 5.0  # what a branch for a single shown pair is dearer, in a first answer
LABORIOUS = 1.0  # what a program is dearer that would take long on the space (labour.py)
LONG = (
    240  # elements of all pairs together; where there are more, an expansion is as much work more
)
RANKED = 600  # programs, cheapest first, that are written out


class Candidate:
    """A written program: its text, its sentence, its price; predictions when they are asked for."""

    def __init__(self, program: Node, kind: str) -> None:
        self.program = program
        self.text = source(program, kind)
        self.sentence = sentence(program, kind)
        self.cost = program.cost
        self.laborious = laborious(program)
        self.extra: float | None = None
        self.remembered: bool | None = None
        self.test: Callable[[list[int]], Any] | None = None
        if program.op == "if":
            self.test = _function(source(program.args[0], "bool"))
        self.function = _function(self.text)

    def right(self, shown: list[list[Any]]) -> bool:
        try:
            return all(_same(self.function(list(i)), o) for i, o in shown)
        except RAISED:
            return False

    def patched(self, shown: list[list[Any]]) -> bool:
        """Whether one branch serves a single shown pair: a memorised patch, not a rule."""
        if self.test is None:
            return False
        holds = sum(bool(self.test(list(i))) for i, _ in shown)
        return min(holds, len(shown) - holds) < 2

    def remembers(self, shown: list[list[Any]]) -> bool:
        """Whether any branch serves a single case of all that is shown."""
        if self.remembered is None:
            inputs = [list(i) for i, _ in shown]
            self.remembered = self.patched(shown) or patched(self.text, inputs)
        return self.remembered

    def predictions(self, inputs: Sequence[list[int]]) -> Predictions:
        codes: Codes = np.zeros(len(inputs), dtype=np.int64)
        defined: Defined = np.zeros(len(inputs), dtype=bool)
        function = self.function
        for k, values in enumerate(inputs):
            try:
                out = function(list(values))
            except RAISED:
                continue
            codes[k] = _code(out)
            defined[k] = True
        return codes, defined


def _function(text: str) -> Callable[[list[int]], Any]:
    """The function of a text that this engine wrote; no other text comes here."""
    names: dict[str, Any] = {}
    exec(compile(text, "<candidate>", "exec"), names)
    made: Callable[[list[int]], Any] = names["f"]
    return made


def _code(out: Any) -> int:
    """Python's hash of the integers (the same in every process), with -1 told from -2."""
    values = tuple(out) if type(out) is list else (out,)
    if -1 in values:
        values = tuple(-(1 << 40) if v == -1 else v for v in values)
    return hash(values)


def _same(got: Any, wanted: Any) -> bool:
    return type(got) in (int, bool, list) and bool(got == wanted)


class Problem:
    """The memo of one problem: its search, its candidates by rank, their texts."""

    def __init__(
        self, shown: list[list[Any]], space: list[list[int]], expansions: float, told: object = None
    ) -> None:
        self.shown = shown
        self.kind = _kind(shown)
        self.search: Search | None = None
        if self.kind:
            inputs: Lists = tuple(tuple(i) for i, _ in shown)
            goal: Lists = tuple(tuple(o) if self.kind == "list" else (int(o),) for _, o in shown)
            size = sum(map(len, (*inputs, *goal)))
            self.search = Search(inputs, goal, self.kind, expansions / max(1.0, size / LONG))
        self.by_text: dict[str, Candidate] = {}
        self.written: dict[Node, Candidate | None] = {}
        self.following = Sharing(space, SAMPLE)
        small = [i for i in space if all(abs(v) <= LARGE for v in i)]
        self.some = small[:: max(1, len(small) // INPUTS)]
        self.first: list[Candidate] | None = None

    def next(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        if self.first is None:  # before the search goes on: what else was asked must not matter
            self.first = self.rank(confident=True)
        ranked = self.rank(confident=False) if skip else self.first
        known = [self.by_text[text] for text in earlier if text in self.by_text]
        chosen = self.following.next(ranked, known, skip)
        return Answer(chosen.text, chosen.sentence) if chosen else None

    def rank(self, confident: bool) -> list[Candidate]:
        if self.search is None:
            return []
        by_text: dict[str, Candidate] = {}
        for program in self.search.run(confident)[:RANKED]:
            if program not in self.written:
                self.written[program] = self._write(program)
            candidate = self.written[program]
            if candidate is not None:
                by_text.setdefault(candidate.text, candidate)
        self.by_text = by_text
        ranked = self._behaved(list(by_text.values()))
        if not confident:
            return [c for c in ranked if not (c.laborious or c.remembers(self.shown))] or ranked[:1]
        return sorted(ranked, key=lambda c: c.cost + PATCH * c.patched(self.shown))

    def _behaved(self, ranked: list[Candidate]) -> list[Candidate]:
        """By price, the first of them with what the space says of them (behaviour.py)."""
        inputs = [i for i, _ in self.shown]
        for k, candidate in enumerate(ranked):
            candidate.cost = candidate.program.cost
            if k < LOOKED_AT:
                if candidate.laborious:
                    candidate.extra = LABORIOUS
                if candidate.extra is None:
                    function, test = candidate.function, candidate.test
                    candidate.extra = surcharge(function, test, inputs, self.some)
                candidate.cost += candidate.extra
        return sorted(ranked, key=lambda c: c.cost)

    def _write(self, program: Node) -> Candidate | None:
        if not modest(program):
            return None
        try:
            candidate = Candidate(program, self.kind)
        except TooLong:
            return None
        return candidate if candidate.right(self.shown) else None


def _kind(shown: list[list[Any]]) -> str:
    """The type of the outputs; empty where this engine does not serve the problem."""
    if not shown:
        return ""
    for given, out in shown:
        if not _integers(given) or not (type(out) in (int, bool) or _integers(out)):
            return ""
    kinds = {type(out) for _, out in shown}
    if len(kinds) > 1:
        return ""
    return {list: "list", int: "int", bool: "bool"}[kinds.pop()]


def prepared(inputs: list[list[int]]) -> list[list[int]]:
    return inputs


def serves(shown: list[list[Any]]) -> bool:
    """Whether this engine knows functions with such inputs and outputs."""
    return bool(_kind(shown))


def _integers(value: Any) -> bool:
    return type(value) is list and all(type(v) is int and abs(v) <= LARGEST_INTEGER for v in value)


ENGINE = SearchEngine("lists", serves, prepared, Problem)
