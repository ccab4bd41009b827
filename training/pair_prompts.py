"""The prompt of a preference pair.

It is the prompt with which the protocol asks a proposer that was shown O_n and has proposed the
hypotheses of the context (GEAR, section 6.1). So a training uses the prompts that sessions use.
Prompts are messages, and a model's own chat template turns them into text later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ..agents.prompts import protocol
from ..agents.prompts.compact import compact_wording
from ..records import (
    Agreement,
    FamilyWords,
    Hypothesis,
    Json,
    Message,
    Observation,
    PastAnswer,
    StoreError,
    Verdict,
    View,
)


class CachedWords:
    """Prompt texts of a family, with a cache of the texts about one problem."""

    def __init__(self, words: FamilyWords) -> None:
        self._words = words
        self._contracts: dict[str, str] = {}
        self._observations: dict[int, str] = {}

    @cached_property
    def instructions(self) -> str:
        """Return the instructions of the prompt, cached (see `FamilyWords.instructions`)."""
        return self._words.instructions

    def contract(self, answer_format: str) -> str:
        """Return the description of the answer format, cached by format (see
        `FamilyWords.contract`).
        """
        if answer_format not in self._contracts:
            try:
                self._contracts[answer_format] = self._words.contract(answer_format)
            except KeyError:
                raise StoreError(
                    f"the store is damaged: a session has the unknown answer format {answer_format!r:.40}"
                ) from None
        return self._contracts[answer_format]

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer (see `FamilyWords.schema`)."""
        return self._words.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return an observation as prompts show it, cached by its number."""
        if number not in self._observations:
            self._observations[number] = self._words.show_observation(number, observation)
        return self._observations[number]

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return a hypothesis as prompts show it."""
        return self._words.show_hypothesis(hypothesis)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return the feedback on a hypothesis as prompts show it."""
        return self._words.show_feedback(view, agreement)

    def compact(self) -> FamilyWords:
        """Return the words of the compact template, which cache as well."""
        return self._compact

    @cached_property
    def _compact(self) -> CachedWords:
        return CachedWords(compact_wording(self._words))


def render_prompt(
    view: View,
    context: Sequence[Hypothesis],
    words: FamilyWords,
    answer_format: str,
    template: protocol.Template = "full",
) -> tuple[Message, ...]:
    """Return the messages that ask for one more hypothesis after the hypotheses of `context`.

    The prompt mentions no tools and contains no feedback. It equals the prompt of a session without
    tools and feedback (`t3`, or `abduce` with no tool calls).

    Args:
        view: `view.shown` is O_n. Earlier answers in the view are ignored.
        context: Earlier hypotheses in the order of proposal; each appears as an accepted answer, by
            its description.
        words: The words of the problem's family (`tasks.problem_family(problem).words`).
        answer_format: The answer format that the prompt asks for.
        template: The prompt template.

    Raises:
        UsageError: The template is unknown, or the family has no words for it.
    """
    earlier = tuple(PastAnswer("", (one,), Verdict.ACCEPTED) for one in context)
    asked = protocol.build_messages(
        replace(view, past_answers=earlier), words, answer_format=answer_format, template=template
    )
    return tuple(asked)
