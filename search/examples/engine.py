"""Search engine for programs over any JSON value, from examples."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import numpy as np

from ...records import Observation
from ...tasks.custom.pair_values import unify_pairs
from ..engines import Progress, SearchEngine
from ..novelty import Answer, Codes, Defined, NoveltyRanker, Predictions
from ..programs.repair import repair_program
from .dates import describe_reading, other_reading, other_spelling
from .expressions import Expression
from .grammar import RAISED
from .search import Search

MODULES = ("math", "re")
IMPORTED = {
    "Counter": "collections", "accumulate": "itertools",
    **dict.fromkeys(("datetime", "timedelta", "timezone"), "datetime"),
}  # fmt: skip
PAIRS = 16  # on which the search evaluates expressions
ROUNDS = 4
MAX_WRONG = 3  # pairs on which the best program is wrong that the next round gets
SAMPLE = 400  # inputs of the sample space on which a candidate is evaluated first
WORTH_MENTIONING = 0.5  # of the pairs on which a program that is no answer is right
LONGEST_MENTIONED = 120  # characters of its source


class Candidate:
    """A program with its text and its price.

    Args:
        body: the Python source of an expression in x.
        cost: its price in bits.
    """

    def __init__(self, body: str, cost: float) -> None:
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
            other = Candidate(body, self.cost)
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


def _as_candidate(found: Expression) -> Candidate:
    return Candidate(_TWO_SLICES.sub(_as_one_slice, found.source()), found.price / 2)


_TWO_SLICES = re.compile(r"\[(\d+):\]\[:(\d+)\]")


def _as_one_slice(found: re.Match[str]) -> str:
    first, length = map(int, found.groups())
    return f"[{first}:{first + length}]"


def _imports(body: str) -> str:
    """Return the lines that import what an expression uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    lines = [f"import {name}\n" for name in MODULES if name in used]
    for module in dict.fromkeys(IMPORTED.values()):
        if names := [one for one in IMPORTED if IMPORTED[one] == module and one in used]:
            lines.append(f"from {module} import {', '.join(names)}\n")
    return "".join(lines) + ("\n\n" if lines else "")


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
        self.shown, self.expansions = _with_one_kind_of_number(shown), expansions
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

    def repair(self, text: str, earlier: Sequence[str] = ()) -> Answer | None:
        """Return a program that is right on all pairs, made from one that is not (programs/repair.py).

        Args:
            text: The source of the program.
            earlier: Texts of all earlier answers.
        """
        return repair_program(text, self, self.shown, self.ranker.inputs, self.expansions, earlier)

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
            candidates = [_as_candidate(one) for one in search.run()]
            self.spent += search.budget.spent
            right = [one for one in candidates if one.is_consistent(pairs)]
            if right:
                return _with_other_readings(right, pairs)
            closest = search.find_closest()
            for one in candidates[:1] or ([_as_candidate(closest)] if closest else []):
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
    return list({repr(pair): list(pair) for pair in shown}.values())


def supports(shown: list[list[Any]]) -> bool:
    """Return whether there is a pair; this engine takes all that the others refuse."""
    return bool(shown)


def prepare_space(inputs: list[Any]) -> list[Any]:
    """Return the sample space unchanged."""
    return inputs


ENGINE = SearchEngine("examples", supports, prepare_space, Problem, "programs")
