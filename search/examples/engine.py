"""Search engine for programs over any JSON value, from examples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import numpy as np

from ..engines import Progress, SearchEngine
from ..novelty import Answer, Codes, Defined, NoveltyRanker, Predictions
from .expressions import Expression
from .grammar import RAISED
from .search import Search

IMPORTS = {
    "math.": "import math", "re.": "import re", "Counter(": "from collections import Counter",
    "datetime.": "from datetime import datetime", "accumulate(": "from itertools import accumulate",
}  # fmt: skip
PAIRS = 16  # on which the search evaluates expressions
ROUNDS = 4
MAX_WRONG = 3  # pairs on which the best program is wrong that the next round gets
SAMPLE = 400  # inputs of the sample space on which a candidate is evaluated first
WORTH_MENTIONING = 0.5  # of the pairs on which a program that is no answer is right
LONGEST_MENTIONED = 120  # characters of its source


class Candidate:
    """A program with its text and its price."""

    def __init__(self, found: Expression) -> None:
        self.body = body = found.source()
        used = [line for word, line in IMPORTS.items() if word in body]
        imports = "".join(f"{line}\n" for line in used) + ("\n\n" if used else "")
        self.text = f"{imports}def f(x):\n    return {body}"
        self.sentence = f"Returns {body}."
        self.cost = found.price / 2
        names: dict[str, Any] = {}
        exec(compile(self.text, "<candidate>", "exec"), names)  # only texts of this engine
        self.function = names["f"]

    def is_consistent(self, shown: Sequence[Sequence[Any]]) -> bool:
        """Return whether the program has the output of each pair."""
        return all(self._is_right(*pair) for pair in shown)

    def count_right(self, shown: Sequence[Sequence[Any]]) -> int:
        """Return the number of pairs on which the program has the output."""
        return sum(self._is_right(*pair) for pair in shown)

    def _is_right(self, given: Any, wanted: Any) -> bool:
        try:
            return _same(self.function(given), wanted)
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


def _same(value: Any, wanted: Any) -> bool:
    if type(wanted) is float:
        return type(value) in (int, float) and abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return type(value) is type(wanted) and bool(value == wanted)


def _code(value: Any) -> int:
    """Return a number that values which the family counts as equal share in every process."""
    text = repr(_plain(value)).encode("utf-8", "surrogatepass")
    return crc32(text) << 31 ^ crc32(text[::-1])


def _plain(value: Any) -> Any:
    """Return a value with whole numbers as integers, and fractions with the digits that must agree.

    Outputs are compared so: 1, 1.0 and True are equal (tasks/custom/examples.py).
    """
    if type(value) is list:
        return [_plain(one) for one in value]
    if type(value) is dict:
        return {name: _plain(value[name]) for name in sorted(value)}
    if type(value) is float and math.isfinite(value):
        value = float(f"{value:.12g}")
        return int(value) if value.is_integer() else value
    return int(value) if type(value) is bool else value


class Problem:
    """A search for programs that have the shown outputs."""

    def __init__(
        self, shown: list[list[Any]], space: list[Any], expansions: float, public: object = None
    ) -> None:
        self.shown, self.expansions = shown, expansions
        self.ranker = NoveltyRanker(space, SAMPLE)
        self.ranked: list[Candidate] | None = None
        self.spent = 0.0
        self.right, self.closest = 0, ""  # a program that is right on some pairs, if none is on all

    def propose(self, earlier: list[str], skip: frozenset[str]) -> Answer | None:
        """Return the next answer, or None if no novel candidate is left."""
        ranked = self.rank()
        by_text = {one.text: one for one in ranked}
        known = [by_text[text] for text in earlier if text in by_text]
        chosen = self.ranker.choose(ranked, known, skip)
        return Answer(chosen.text, chosen.sentence) if chosen else None

    def rank(self) -> list[Candidate]:
        """Return the programs that are right on all pairs, by price."""
        if self.ranked is None:
            self.ranked = self._search()
        return self.ranked

    def _search(self) -> list[Candidate]:
        """Search with some of the pairs, and with those on which the best program is wrong."""
        pairs = _distinct(self.shown)
        some = pairs[:: max(1, len(pairs) // PAIRS)][:PAIRS]
        for _ in range(ROUNDS):
            search = Search(some, self.expansions - self.spent)
            candidates = [Candidate(one) for one in search.run()]
            self.spent += search.budget.spent
            right = [one for one in candidates if one.is_consistent(pairs)]
            if right:
                return right
            closest = search.find_closest()
            for one in candidates[:1] or ([Candidate(closest)] if closest else []):
                self._note_closest(one, pairs)
            if not candidates:
                return []
            best = candidates[0]
            wrong = list(islice((one for one in pairs if not best.is_consistent([one])), MAX_WRONG))
            if wrong[0] in some or self.spent >= self.expansions:
                return []
            some = [*some, *wrong]
        return []

    def _note_closest(self, one: Candidate, pairs: Sequence[Sequence[Any]]) -> None:
        """Keep the program that is right on most pairs, if it is right on more than a constant is."""
        right = one.count_right(pairs)
        constant = Counter(repr(wanted) for _, wanted in pairs).most_common(1)[0][1]
        if (
            right > max(self.right, constant)
            and right >= WORTH_MENTIONING * len(pairs)
            and len(one.body) <= LONGEST_MENTIONED
        ):
            self.right, self.closest = right, one.body

    def progress(self) -> Progress:
        """Return how far the search got."""
        return Progress(round(self.spent), self.right, self.closest)


def _distinct(shown: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return each pair once."""
    return list({repr(pair): list(pair) for pair in shown}.values())


def supports(shown: list[list[Any]]) -> bool:
    """Return whether the outputs are of a kind that this engine composes."""
    return bool(shown)


def prepare_space(inputs: list[Any]) -> list[Any]:
    """Return the sample space unchanged."""
    return inputs


ENGINE = SearchEngine("examples", supports, prepare_space, Problem, "programs")
