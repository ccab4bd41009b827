"""Build the prompt of a preference pair.

The prompt equals the prompt of a session, for a proposer that was shown the observations O_n and
has already proposed the hypotheses of the context (GEAR, section 6.1). Thus a model is trained on
the prompts that it will see in sessions. A prompt is a list of messages, which the model's own chat
template converts to text later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ..agents.prompts import protocol
from ..agents.prompts.compact import compact_wording
from ..agents.prompts.gear_template import gear_wording
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
    """The prompt texts of a task family, with a cache of the texts about one problem."""

    def __init__(self, words: FamilyWords) -> None:
        self._words = words
        self._contracts: dict[str, str] = {}
        self._observations: dict[int, str] = {}

    @cached_property
    def instructions(self) -> str:
        """The instructions of the prompt, cached (see `FamilyWords.instructions`)."""
        return self._words.instructions

    def contract(self, answer_format: str) -> str:
        """Return the cached text that describes an answer format (see `FamilyWords.contract`)."""
        if answer_format not in self._contracts:
            try:
                self._contracts[answer_format] = self._words.contract(answer_format)
            except KeyError:
                raise StoreError(
                    f"the store is damaged: a session has the unknown answer format {answer_format!r:.40}"
                ) from None
        return self._contracts[answer_format]

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer in this format (see `FamilyWords.schema`)."""
        return self._words.schema(answer_format)

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return the text of an observation for a prompt, cached by the observation's number."""
        if number not in self._observations:
            self._observations[number] = self._words.show_observation(number, observation)
        return self._observations[number]

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the text of a hypothesis for a prompt."""
        return self._words.show_hypothesis(hypothesis)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return the feedback on a hypothesis for a prompt.

        Args:
            view: What the proposer may see of the problem.
            agreement: How the hypothesis agrees with the shown observations.
        """
        return self._words.show_feedback(view, agreement)

    def compact(self) -> FamilyWords:
        """Return the prompt texts of the compact template, which are cached as well."""
        return self._compact

    def gear(self) -> FamilyWords:
        """Return the prompt texts of the template `gear`, which are not cached."""
        return gear_wording(self._words)

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
    """Return the messages that ask for one more hypothesis after the hypotheses in `context`.

    The prompt mentions no tools, contains no feedback and is never shortened. It equals the prompt of a session without
    tools and feedback (method `t3`, or method `abduce` with no tool calls).

    Args:
        view: What the proposer may see of the problem. `view.shown` are the observations O_n.
            Earlier answers in the view are ignored.
        context: Earlier hypotheses, in the order in which they were proposed. The prompt shows the
            description of each as an accepted answer.
        words: The prompt texts of the problem's family (`tasks.problem_family(problem).words`).
        answer_format: The answer format that the prompt asks for.
        template: The prompt template.

    Raises:
        UsageError: The template is unknown, or the family has no texts for the template.
    """
    earlier = tuple(PastAnswer("", (one,), Verdict.ACCEPTED) for one in context)
    asked = protocol.build_messages(
        replace(view, past_answers=earlier), words, answer_format=answer_format, template=template
    )
    return tuple(asked)
