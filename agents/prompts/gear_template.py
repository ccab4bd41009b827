"""The prompt template `gear`: the structure of the prompts in GEAR's appendix E, in our own words.

The first request has these parts, in this order: the form of an answer with the rules for the code,
the task, the pairs, the form again, and an example. A later request has the form with the rules, the
earlier hypotheses as bullets, the pairs, the goal, the form again, and an example. Each request is one
user message. A family that has such prompts has the method `gear` beside those of `FamilyWords`; it
returns texts that also have the method `closing`.

With `history="chat"`, earlier answers are repeated literally instead, and a later request states only
their number and leaves out the rules. The released code asks in this way.

Tools, feedback and a limit of the list are no part of GEAR's protocol. Where a session has them all the
same, they are added to the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...records import FamilyWords, Hypothesis, Message, Observation, PastAnswer, UsageError, View
from .history import list_accepted, split_history

TASK = (
    "Task\n"
    "- The (input, output) pairs are listed below.\n"
    "- Find one rule that agrees with all of them, and write a function that applies this rule to"
    " inputs that are not listed."
)
EARLIER = "These are the hypotheses that you have proposed so far:"
NUMBER_OF_EARLIER = "So far you have proposed {count} {hypotheses}, which you see above."
AGAIN = "Look at the (input, output) pairs again."
GOAL = (
    "Goal\n"
    "- Find a new hypothesis that (i) agrees with all of these pairs, and (ii) rests on another"
    " principle than every hypothesis {where}."
)
CHOSEN = "Pairs ({count} of {total}; a hypothesis is judged on all {total}):"
TOOLS = (
    "Before you answer, you can try functions with the tools. The answer itself is text in the form"
    " above, not a tool call."
)
NO_TEXT = "(no text)"  # Endpoints refuse an empty assistant turn.


class GearWords(FamilyWords, Protocol):
    """The texts of a family for the template `gear`."""

    def closing(self, answer_format: str) -> str:
        """Return the end of a request: the form of an answer once more, and an example."""
        ...


def gear_wording(words: FamilyWords) -> FamilyWords:
    """Return the texts of a family for the template `gear`.

    Raises:
        UsageError: The family has no such texts.
    """
    gear = getattr(words, "gear", None)
    if gear is None:
        raise UsageError(
            "template is 'gear': only programs have prompts of this structure; omit it, or use full"
            " or compact"
        )
    found: FamilyWords = gear()
    return found


def build_gear_messages(
    view: View,
    words: GearWords,
    answer_format: str,
    chat: bool,
    tools: bool,
    aim: str,
    history_limit: int,
    listed: Sequence[int] | None,
) -> list[Message]:
    """Return the messages that request a hypothesis, in the structure of GEAR's appendix E.

    Args:
        view: The problem, with the earlier answers.
        words: The texts of the family for this template.
        answer_format: The format in which to answer.
        chat: Whether to repeat earlier answers as chat turns.
        tools: Whether the model may call tools.
        aim: "another"; there is no request for a better hypothesis.
        history_limit: The number of earlier answers to list. Of older ones, the prompt lists the
            accepted hypotheses.
        listed: The indices of the observations to list; None for all.

    Raises:
        UsageError: The aim is "better".
    """
    if aim != "another":
        raise UsageError(
            "template is 'gear': its prompts ask for another hypothesis, and this method asks for a"
            " better one; omit it, or use full or compact"
        )
    pairs = _pairs(view, words, listed)
    head = [words.contract(answer_format), words.instructions]
    tail = [words.closing(answer_format), TOOLS if tools else ""]
    first = _user(*head, TASK, pairs, *tail)
    if chat:
        turns = [first]
        for number, earlier in enumerate(view.past_answers, start=1):
            hypotheses = "hypothesis" if number == 1 else "hypotheses"
            counted = NUMBER_OF_EARLIER.format(count=number, hypotheses=hypotheses)
            goal = GOAL.format(where="above")
            turns.append({"role": "assistant", "content": earlier.answer.strip() or NO_TEXT})
            turns.append(_user(earlier.feedback.strip(), counted, f"{AGAIN}\n{pairs}", goal, *tail))
        return turns
    bullets = _bullets(view.past_answers, words, history_limit)
    if not bullets:
        return [first]
    earlier_list = "\n".join([EARLIER, *bullets])
    goal = GOAL.format(where="in the list")
    return [_user(*head, earlier_list, f"{AGAIN}\n{pairs}", goal, *tail)]


def _pairs(view: View, words: FamilyWords, listed: Sequence[int] | None) -> str:
    chosen: list[tuple[int, Observation]] = [
        (index, one)
        for index, one in enumerate(view.shown)
        if listed is None or index in listed
    ]  # fmt: skip
    heading = "Pairs:"
    if listed is not None:
        heading = CHOSEN.format(count=len(chosen), total=len(view.shown))
    return "\n".join([heading, *(words.show_observation(n + 1, one) for n, one in chosen)])


def _bullets(earlier: Sequence[PastAnswer], words: FamilyWords, limit: int) -> list[str]:
    """Return one bullet for each earlier hypothesis. Answers without one are not listed."""
    older, recent = split_history(earlier, limit)
    bullets = [_bullet(one, words) for one in list_accepted(older)]
    for answer in recent:
        bullets += [_bullet(one, words) for one in answer.hypotheses]
        if answer.hypotheses and answer.feedback.strip():
            bullets[-1] += "\n" + _indented(answer.feedback)
    return bullets


def _bullet(hypothesis: Hypothesis, words: FamilyWords) -> str:
    return f"- {_indented(words.show_hypothesis(hypothesis)).lstrip()}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.strip().splitlines())


def _user(*blocks: str) -> Message:
    return {"role": "user", "content": "\n\n".join(block for block in blocks if block)}
