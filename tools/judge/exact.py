"""The exact judge of one problem: sentences compiled once, input sets made ready once.

    judge = ExactJudge(problem.public)
    judge.codes(sentence, inputs)          # int64 (n,), or NotExact with the reason

It holds at most `SENTENCES` rules and `SETS` input sets; the oldest leave.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import TypeVar

from ...records import InputSet, Json
from .prepared import Prepared
from .rules import Codes, NotExact, Rule, compile_sentence

SENTENCES = 10_000
SETS = 8

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ExactJudge:
    """public: of a problem of labelled text (labels, columns, shape)."""

    def __init__(self, public: Mapping[str, Json]) -> None:
        self.public = public
        self.rules: OrderedDict[str, Rule | NotExact] = OrderedDict()
        self.sets: OrderedDict[str, Prepared] = OrderedDict()

    def rule(self, sentence: str) -> Rule | NotExact:
        """The sentence as a rule, or why it is none."""
        made = self.rules.get(sentence)
        if made is None:
            made = compile_sentence(sentence, self.public)
        return kept(self.rules, sentence, made, SENTENCES)

    def prepared(self, inputs: InputSet) -> Prepared:
        """The inputs (rows {column: value}) made ready."""
        made = self.sets.get(inputs.digest)
        if made is None:
            made = Prepared(inputs.inputs, self.public)
        return kept(self.sets, inputs.digest, made, SETS)

    def codes(self, sentence: str, inputs: InputSet) -> Codes | NotExact:
        """int64 (n,): label indices, -1 where the sentence does not apply."""
        rule = self.rule(sentence)
        return rule if isinstance(rule, NotExact) else rule.codes(self.prepared(inputs))


def kept(some: OrderedDict[Key, Value], key: Key, value: Value, most: int) -> Value:
    """The value, kept as the newest."""
    some[key] = value
    some.move_to_end(key)
    if len(some) > most:
        some.popitem(last=False)
    return value
