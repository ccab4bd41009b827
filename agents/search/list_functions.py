"""List functions in a worker: problems as JSON text in, the next hypothesis as JSON text out.

A hypothesis is proposed where its own Python text gives all shown outputs, and where less than
`COVERED` of the sample space is predicted alike by earlier answers (GEAR 4.1; an undefined
prediction is never covered). Earlier answers of this engine are known by their text and are run
here; those of others (a model's) are never run in this process: their predictions are unknown and
count as covering nothing, so such an answer may be proposed again and be judged redundant.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .list_bank import Lists
from .list_grammar import LARGEST_INTEGER, Node, modest
from .list_search import Search
from .list_source import TooLong, sentence, source

COVERED = 0.8
SAMPLE = 600  # inputs of the space a candidate meets first
_KEPT_PROBLEMS = 24
# What a written program can raise: with a predicted list of types no other end is hidden.
_UNDEFINED = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, AttributeError)

Codes = NDArray[np.int64]


class Candidate:
    """A written program: its text, its sentence, its price; predictions when they are asked for."""

    def __init__(self, program: Node, kind: str) -> None:
        self.program = program
        self.text = source(program, kind)
        self.sentence = sentence(program, kind)
        self.cost = program.cost
        self.test: Callable[[list[int]], Any] | None = None
        if program.op == "if":
            self.test = _function(source(program.args[0], "bool"))
        self.function = _function(self.text)
        self.sampled: tuple[Codes, NDArray[np.bool_]] | None = None
        self.all: tuple[Codes, NDArray[np.bool_]] | None = None

    def right(self, shown: list[list[Any]]) -> bool:
        try:
            return all(_same(self.function(list(i)), o) for i, o in shown)
        except _UNDEFINED:
            return False

    def patched(self, shown: list[list[Any]]) -> bool:
        """Whether one branch serves a single shown pair: a memorised patch, not a rule."""
        if self.test is None:
            return False
        holds = sum(bool(self.test(list(i))) for i, _ in shown)
        return min(holds, len(shown) - holds) < 2

    def predictions(self, inputs: list[list[int]]) -> tuple[Codes, NDArray[np.bool_]]:
        codes = np.zeros(len(inputs), dtype=np.int64)
        defined = np.zeros(len(inputs), dtype=bool)
        function = self.function
        for k, values in enumerate(inputs):
            try:
                out = function(list(values))
            except _UNDEFINED:
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

    def __init__(self, shown: list[list[Any]], expansions: float) -> None:
        self.shown = shown
        self.kind = _kind(shown)
        self.search: Search | None = None
        if self.kind:
            inputs: Lists = tuple(tuple(i) for i, _ in shown)
            goal: Lists = tuple(tuple(o) if self.kind == "list" else (int(o),) for _, o in shown)
            self.search = Search(inputs, goal, self.kind, expansions)
        self.candidates: list[Candidate] = []
        self.by_text: dict[str, Candidate] = {}
        self.written: dict[Node, Candidate | None] = {}

    def rank(self, confident: bool) -> list[Candidate]:
        if self.search is None:
            return []
        ranked = []
        for program in self.search.run(confident)[:600]:
            if program not in self.written:
                self.written[program] = self._write(program)
            candidate = self.written[program]
            if candidate is not None:
                ranked.append(candidate)
        if not confident:
            ranked = [c for c in ranked if not c.patched(self.shown)] or ranked[:1]
        self.candidates = ranked
        return ranked

    def _write(self, program: Node) -> Candidate | None:
        if not modest(program):
            return None
        try:
            candidate = Candidate(program, self.kind)
        except TooLong:
            return None
        if candidate.text in self.by_text or not candidate.right(self.shown):
            return None
        self.by_text[candidate.text] = candidate
        return candidate


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


def serves(shown: list[list[Any]]) -> bool:
    """Whether this engine knows functions with such inputs and outputs."""
    return bool(_kind(shown))


def _integers(value: Any) -> bool:
    return type(value) is list and all(type(v) is int and abs(v) <= LARGEST_INTEGER for v in value)


class Engine:
    """State of one worker process."""

    def __init__(self) -> None:
        self.problems: OrderedDict[str, Problem] = OrderedDict()
        self.spaces: dict[str, list[list[int]]] = {}

    def propose(self, request: dict[str, Any]) -> dict[str, Any]:
        digest = request["space"]
        if request.get("inputs") is not None:
            self.spaces[digest] = list(request["inputs"])
        if digest not in self.spaces:
            return {"need": "inputs"}
        problem = self._problem(request["shown"], request["expansions"])
        if problem.search is None:
            return {"reason": "search knows only functions of a list of integers so far"}
        space = self.spaces[digest]
        skip = set(request["skip"])
        earlier = [text.strip() for text in request["earlier"]]
        first = not earlier and not skip
        if first:
            for candidate in problem.rank(confident=True):
                return _answer(candidate)
            return {"exhausted": True}
        ranked = problem.rank(confident=False)
        known = [problem.by_text[t] for t in earlier if t in problem.by_text]
        chosen = _novel(ranked, known, skip | set(earlier), space)
        return _answer(chosen) if chosen else {"exhausted": True}

    def _problem(self, shown: list[list[Any]], expansions: float) -> Problem:
        key = json.dumps([shown, expansions])
        if key not in self.problems:
            self.problems[key] = Problem(shown, expansions)
            if len(self.problems) > _KEPT_PROBLEMS:
                self.problems.popitem(last=False)
        self.problems.move_to_end(key)
        return self.problems[key]


def _answer(candidate: Candidate) -> dict[str, Any]:
    return {"source": candidate.text, "description": candidate.sentence}


def _novel(
    ranked: list[Candidate], known: list[Candidate], skip: set[str], space: list[list[int]]
) -> Candidate | None:
    step = max(1, len(space) // SAMPLE)
    sample = space[::step]
    for candidate in known:
        if candidate.all is None:
            candidate.all = candidate.predictions(space)
    for candidate in ranked:
        if candidate.text in skip:
            continue
        if not known:
            return candidate
        if candidate.sampled is None:
            candidate.sampled = candidate.predictions(sample)
        codes, defined = candidate.sampled
        few = [(k.all[0][::step], k.all[1][::step]) for k in known if k.all is not None]
        if coverage(codes, defined, few) > COVERED + 0.06:
            continue
        if candidate.all is None:
            candidate.all = candidate.predictions(space)
        every = [k.all for k in known if k.all is not None]
        if coverage(*candidate.all, every) < COVERED:
            return candidate
    return None


def coverage(
    codes: Codes, defined: NDArray[np.bool_], earlier: list[tuple[Codes, NDArray[np.bool_]]]
) -> float:
    """Share of the inputs whose prediction some earlier hypothesis gives (GEAR 4.1)."""
    covered = np.zeros(len(codes), dtype=bool)
    for other, other_defined in earlier:
        covered |= defined & other_defined & (codes == other)
    return float(covered.mean()) if len(codes) else 1.0
