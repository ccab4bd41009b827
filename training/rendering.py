"""The prompt of a preference pair: what the protocol itself asks of a proposer that was shown O_n
and has given the hypotheses of the context (GEAR, section 6.1), so that what is trained on is what
a session will ask.

Prompts are messages; a model's own chat template makes text of them later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..agents import prompts
from ..records import Earlier, FamilyWords, Hypothesis, Message, Verdict, View


def prompt(
    view: View,
    context: Sequence[Hypothesis],
    words: FamilyWords,
    answer_format: str,
    template: prompts.Template = "full",
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
    asked = prompts.messages(
        replace(view, earlier=earlier), words, answer_format=answer_format, template=template
    )
    return tuple(asked)
