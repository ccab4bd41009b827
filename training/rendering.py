"""The prompt of a preference pair: what the protocol itself asks of a proposer that was shown O_n
and has given the hypotheses of the context (GEAR, section 6.1), so that what is trained on is what
a session will ask.

Prompts are messages; a model's own chat template makes text of them later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ..agents.prompts import protocol
from ..agents.prompts.compact import compact_words
from ..records import (
    Agreement,
    Earlier,
    FamilyWords,
    Hypothesis,
    Json,
    Message,
    Observation,
    Verdict,
    View,
)


class Remembered:
    """The words of a family for many prompts of one problem: what they say of it is made once."""

    def __init__(self, words: FamilyWords) -> None:
        self._words = words
        self._contracts: dict[str, str] = {}
        self._observations: dict[int, str] = {}

    @cached_property
    def instructions(self) -> str:
        return self._words.instructions

    def contract(self, answer_format: str) -> str:
        if answer_format not in self._contracts:
            self._contracts[answer_format] = self._words.contract(answer_format)
        return self._contracts[answer_format]

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        return self._words.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        if number not in self._observations:
            self._observations[number] = self._words.show_observation(number, observation)
        return self._observations[number]

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        return self._words.show_hypothesis(hypothesis)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        return self._words.show_feedback(view, agreement)

    def compact(self) -> FamilyWords:
        return self._compact

    @cached_property
    def _compact(self) -> Remembered:
        return Remembered(compact_words(self._words))


def prompt(
    view: View,
    context: Sequence[Hypothesis],
    words: FamilyWords,
    answer_format: str,
    template: protocol.Template = "full",
) -> tuple[Message, ...]:
    """The messages that ask for one hypothesis of `view` beside those of `context`.

    view: `view.shown` is O_n; what the view holds as earlier answers does not count. context: in
    the order in which they were given; each stands there as an answer that was accepted, by its
    description. words: of the problem's family (`tasks.family_of(problem).words`). Such a prompt
    tells of no tools and holds no feedback: it is that of a session without either (`t3`, or
    `abduce` with no tool calls).
    Raises UsageError for a template that is none or that the family has no words for.
    """
    earlier = tuple(Earlier("", (one,), Verdict.ACCEPTED) for one in context)
    asked = protocol.messages(
        replace(view, earlier=earlier), words, answer_format=answer_format, template=template
    )
    return tuple(asked)
