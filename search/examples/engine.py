"""Search engine for programs over any JSON value, from examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from ...records import Observation
from ...tasks.custom.pair_values import unify_pairs
from ..engines import SearchEngine
from ..novelty import Answer, Codes, ContradictoryPairs, Defined, NoveltyRanker, Predictions
from .dates import describe_reading, other_reading, other_spelling
from .expressions import Expression
from .grammar import RAISED
from .search import Search

MODULES = ("math", "re")
FROM_DATETIME = ("datetime", "timedelta", "timezone")
PAIRS = 16  # on which the search evaluates expressions
ROUNDS = 4
SAMPLE = 400  # inputs of the sample space on which a candidate is evaluated first


class Candidate:
    """A program with its text and its price."""

    def __init__(self, found: Expression) -> None:
        self._compile(found.source(), found.price / 2)

    def _compile(self, body: str, cost: float) -> None:
        self.text = f"{_imports(body)}def f(x):\n    return {body}"
        self.sentence = f"Returns {body}."
        self.body, self.cost = body, cost
        names: dict[str, Any] = {}
        exec(compile(self.text, "<candidate>", "exec"), names)  # only texts of this engine
        self.function = names["f"]

    def read_otherwise(self, shown: Sequence[Sequence[Any]]) -> Candidate | None:
        """Return the program that takes the day for the month, if the pairs do not decide; say so in both."""
        for body in (other_reading(self.body), other_spelling(self.body)):
            if body is None or body == self.body:
                continue
            other = Candidate.__new__(Candidate)
            other._compile(body, self.cost)
            if other.is_consistent(shown):
                for one, another in ((self, other), (other, self)):
                    one.sentence += (
                        f" It reads dates as {describe_reading(one.body)};"
                        f" no shown pair excludes {describe_reading(another.body)}."
                    )
                return other
        return None

    def is_consistent(self, shown: Sequence[Sequence[Any]]) -> bool:
        """Return whether the program has the output of each pair."""
        try:
            return all(_same(self.function(given), wanted) for given, wanted in shown)
        except RAISED:
            return False

    def predict(self, inputs: Sequence[Any]) -> Predictions:
        """Return the predictions on `inputs`: codes and whether each is defined."""
        codes: Codes = np.zeros(len(inputs), dtype=np.int64)
        defined: Defined = np.zeros(len(inputs), dtype=bool)
        for k, given in enumerate(inputs):
            try:
                codes[k] = _code(self.function(given))
            except RAISED:
                continue
            defined[k] = True
        return codes, defined


def _imports(body: str) -> str:
    """Return the lines that import what an expression uses."""
    lines = [f"import {name}\n" for name in MODULES if f"{name}." in body]
    names = [name for name in FROM_DATETIME if re.search(rf"\b{name}[.(]", body)]
    if names:
        lines.append(f"from datetime import {', '.join(names)}\n")
    return "".join(lines) + ("\n\n" if lines else "")


def _same(value: Any, wanted: Any) -> bool:
    if type(wanted) is float:
        return type(value) in (int, float) and abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return type(value) is type(wanted) and bool(value == wanted)


def _code(value: Any) -> int:
    """Return a number that equal values share in every process."""
    text = repr(value).encode("utf-8", "surrogatepass")
    return crc32(text) << 31 ^ crc32(text[::-1])


class Problem:
    """A search for programs that have the shown outputs."""

    def __init__(
        self, shown: list[list[Any]], space: list[Any], expansions: float, public: object = None
    ) -> None:
        self.shown, self.expansions = _with_one_kind_of_number(shown), expansions
        self.ranker = NoveltyRanker(space, SAMPLE)
        self.ranked: list[Candidate] | None = None

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next answer, or None if no novel candidate is left.

        Raises:
            ContradictoryPairs: One input has two outputs.
        """
        ranked = self.rank()
        by_text = {one.text: one for one in ranked}
        known = [by_text[text] for text in earlier if text in by_text]
        chosen = self.ranker.choose(ranked, known, skip)
        return Answer(chosen.text, chosen.sentence) if chosen else None

    def rank(self) -> list[Candidate]:
        """Return the programs that are right on all pairs, by price.

        Raises:
            ContradictoryPairs: One input has two outputs.
        """
        if self.ranked is None:
            self.ranked = self._search()
        return self.ranked

    def _search(self) -> list[Candidate]:
        """Search with some of the pairs, and with those on which the best program is wrong."""
        pairs = _distinct(self.shown)
        some = pairs[:: max(1, len(pairs) // PAIRS)][:PAIRS]
        for _ in range(ROUNDS):
            candidates = [Candidate(one) for one in Search(some, self.expansions).run()]
            right = [one for one in candidates if one.is_consistent(pairs)]
            if right or not candidates:
                return _with_other_readings(right, pairs)
            wrong = next((one for one in pairs if not candidates[0].is_consistent([one])), None)
            if wrong is None or wrong in some:
                return []
            some = [*some, wrong]
        return []


def _with_other_readings(
    ranked: Sequence[Candidate], shown: Sequence[Sequence[Any]]
) -> list[Candidate]:
    """Return the programs, each followed by the one that reads its dates otherwise, if that is right, too."""
    found: dict[str, Candidate] = {}
    for one in ranked:
        if one.text not in found:
            found[one.text] = one
            other = one.read_otherwise(shown)
            if other is not None:
                found.setdefault(other.text, other)
    return list(found.values())


def _with_one_kind_of_number(shown: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the pairs with fractions for whole numbers that stand in one place with fractions."""
    unified = unify_pairs([Observation(given, wanted) for given, wanted in shown])
    return [[pair.input, pair.output] for pair in unified]


def _distinct(shown: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return each pair once."""
    outputs: dict[str, list[Any]] = {}
    for given, wanted in shown:
        before = outputs.setdefault(repr(given), [given, wanted])
        if repr(before[1]) != repr(wanted):
            raise ContradictoryPairs(
                f"the input {_short(given)} has two outputs, {_short(before[1])} and {_short(wanted)}:"
                " no function has both"
            )
    return list(outputs.values())


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def supports(shown: list[list[Any]]) -> bool:
    """Return whether the outputs are of a kind that this engine composes."""
    return bool(shown)


def prepare_space(inputs: list[Any]) -> list[Any]:
    """Return the sample space unchanged."""
    return inputs


ENGINE = SearchEngine("examples", supports, prepare_space, Problem, "programs")
