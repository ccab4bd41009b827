"""The template `compact`: the protocol's prompts in few tokens, for small models.

One user message; a line says one thing:

    Rule as ("description", "def f(x): ..."):     how an answer is written, by the family
    [3 1 2] -> [1 2]                               an observation
    - drops the first element                      an earlier hypothesis
    another:                                       what is asked for, where there are earlier ones

What the full template explains (what consistent means, what another idea is) a small model is
trained to do and is not told. Earlier answers that gave no hypothesis are not listed, and where
all were of that kind the prompt is the first one again. Feedback, where a session gives it, ends
its hypothesis' line. Tools that go with a request are not spoken of.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import Earlier, FamilyWords, Hypothesis, Message, UsageError, View


def compact_words(words: FamilyWords) -> FamilyWords:
    """The family's words in few words. Raises UsageError for a family that has none."""
    compact = getattr(words, "compact", None)
    if compact is None:
        raise UsageError(
            f"template is 'compact': {type(words).__name__} has no method compact (FamilyWords), so"
            " its prompts have to be full"
        )
    found: FamilyWords = compact()
    return found


def compact_messages(
    view: View, words: FamilyWords, answer_format: str, chat: bool, aim: str, count: int
) -> list[Message]:
    """As `prompts.messages`, which says what the arguments are. words: the compact ones."""
    task = [words.contract(answer_format), words.instructions]
    task += [words.show_observation(n, one) for n, one in enumerate(view.shown, start=1)]
    first = f"{count}:" if count > 1 else ""
    following = {"another": "{} others:", "better": "{} better:"}[aim].format(count)
    if count == 1:
        following = f"{aim}:"
    if not chat:
        listed = _listed(view.earlier, words, whole=aim == "better")
        return [_user(*task, *listed, following if listed else first)]
    turns = [_user(*task, first)]
    for earlier in view.earlier:
        if earlier.by and len(turns) > 1:  # what a search made of the answer before
            mended = _listed([earlier], words, whole=True)
            turns[-1] = _user(*mended, turns[-1]["content"])
            continue
        answer = earlier.answer.strip() or "-"  # endpoints refuse an assistant turn that is empty
        turns.append({"role": "assistant", "content": answer})
        turns.append(_user(_line(earlier.feedback), following))
    return turns


def _listed(earlier: Sequence[Earlier], words: FamilyWords, whole: bool) -> list[str]:
    """A line a hypothesis. whole: with its text, and with what is said of an answer without one."""
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
    r"""In one line; line breaks as \n, since a function reads otherwise without them."""
    return text.strip().replace("\n", "\\n")


def _user(*lines: str) -> Message:
    return {"role": "user", "content": "\n".join(line for line in lines if line)}
