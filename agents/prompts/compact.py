"""The prompt template `compact`: the prompts of protocol.py in few tokens, for small models.

A prompt is one user message of short lines:

    Rule as ("description", "def f(x): ..."):     the answer format, by the family
    [3 1 2] -> [1 2]                               an observation
    - drops the first element                      an earlier hypothesis
    another:                                       the request, after earlier hypotheses

Small models are trained for this template. Therefore, the template does not explain what the words
consistent and novel mean. Earlier answers without a hypothesis are not listed. If no earlier answer
contains a hypothesis, the prompt equals the first prompt of the problem. If a session shows
feedback, the feedback follows the hypothesis on the same line. The prompt does not mention the
tools that the model may call.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import FamilyWords, Hypothesis, Message, PastAnswer, UsageError, View
from .history import list_accepted, split_history


def compact_wording(words: FamilyWords) -> FamilyWords:
    """Return the compact prompt texts of a family.

    Raises:
        UsageError: The family has no compact prompt texts.
    """
    compact = getattr(words, "compact", None)
    if compact is None:
        raise UsageError(
            f"template is 'compact': {type(words).__name__} has no method compact (FamilyWords), so"
            " its prompts have to be full"
        )
    found: FamilyWords = compact()
    return found


def build_compact_messages(
    view: View,
    words: FamilyWords,
    answer_format: str,
    chat: bool,
    aim: str,
    count: int,
    history_limit: int,
    listed: Sequence[int] | None,
) -> list[Message]:
    """Return the messages that request a hypothesis, like `protocol.build_messages` but shorter.

    Args:
        view: The problem, with the earlier answers.
        words: The compact prompt texts of the family.
        answer_format: The format in which to answer.
        chat: Whether to show earlier answers as chat turns.
        aim: "another" to request a different hypothesis, or "better" to request an improved one.
        count: The number of hypotheses to request.
        history_limit: The number of earlier answers to show in full. Of older ones, the prompt
            shows the accepted hypotheses.
        listed: The indices of the observations to list; None for all.
    """
    task = [words.contract(answer_format), words.instructions]
    for number, one in enumerate(view.shown, start=1):
        if listed is None or number - 1 in listed:
            task.append(words.show_observation(number, one))
    if listed is not None:
        task.append(f"({len(listed)} of {len(view.shown)})")
    # a search wrote no turn that a chat could repeat
    seeded = [one for one in view.past_answers if chat and one.seeded]
    own = [one for one in view.past_answers if one not in seeded]
    older, recent = split_history(own, history_limit)
    task += [f"- {_shown(one, words, aim == 'better')}" for one in list_accepted(older)]
    first = f"{count}:" if count > 1 else ""
    following = {"another": "{} others:", "better": "{} better:"}[aim].format(count)
    if count == 1:
        following = f"{aim}:"
    if not chat:
        lines = _listed(recent, words, whole=aim == "better")
        return [_user(*task, *lines, following if lines or older else first)]
    seeds = _listed(seeded, words, whole=True)
    turns = [_user(*task, *seeds, following if older or seeds else first)]
    for earlier in recent:
        if earlier.author and len(turns) > 1:  # The search repaired the answer before.
            mended = _listed([earlier], words, whole=True)
            turns[-1] = _user(*mended, turns[-1]["content"])
            continue
        answer = earlier.answer.strip() or "-"  # Endpoints refuse an empty assistant turn.
        turns.append({"role": "assistant", "content": answer})
        turns.append(_user(_line(earlier.feedback), following))
    return turns


def _listed(earlier: Sequence[PastAnswer], words: FamilyWords, whole: bool) -> list[str]:
    """Return one line per hypothesis.

    With `whole`, lines include the text of the hypothesis, and feedback of answers without one.
    """
    lines: list[str] = []
    for answer in earlier:
        shown = [_shown(hypothesis, words, whole) for hypothesis in answer.hypotheses]
        said = _line(answer.feedback)
        if said and shown:
            shown[-1] += f": {said}"
        elif said and whole:
            shown = [said]
        lines += [f"- {one}" for one in shown]
    return lines


def _shown(hypothesis: Hypothesis, words: FamilyWords, whole: bool) -> str:
    shown, text = _line(words.show_hypothesis(hypothesis)), _line(hypothesis.text)
    return f"{shown} {text}" if whole and text not in shown else shown


def _line(text: str) -> str:
    r"""Return the text on one line.

    Line breaks become \n, because a function without them would mean something else.
    """
    return text.strip().replace("\n", "\\n")


def _user(*lines: str) -> Message:
    return {"role": "user", "content": "\n".join(line for line in lines if line)}
