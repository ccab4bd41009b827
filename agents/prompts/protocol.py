"""The prompts that ask for hypotheses.

One template serves all data sets (GEAR, section 4.1 and appendix E). The texts that depend on the
family of tasks, such as the form of a hypothesis, come from the family's `FamilyWords`. The texts
are written for this project. Departures from the paper: the answer contract occurs once, and the
observations come before the earlier hypotheses, so that all prompts of a problem begin with the
same text, which an endpoint can cache. The list of earlier hypotheses states the number of
malformed answers, since malformed answers have no description.

Each prompt is one user message, because some chat templates have no system role. With
`history="chat"`, a prompt consists of alternating user and assistant turns.

The aim decides what is requested after the first answer: "another" requests a different idea, as in
GEAR, and "better" requests an improved hypothesis. A "better" prompt shows the full text of earlier
hypotheses, because the model is to improve them.

This module contains the template "full". The template "compact" needs fewer tokens and is meant for
small models (prompts/compact.py). The template "gear" has the structure of the paper's prompts
(prompts/gear_template.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ...records import (
    Agreement,
    Digest,
    FamilyWords,
    Hypothesis,
    InputSet,
    Json,
    Message,
    Observation,
    PastAnswer,
    Reply,
    UsageError,
    Verdict,
    View,
    canonical_json,
    digest_of,
)
from .compact import build_compact_messages, compact_wording
from .gear_template import build_gear_messages, gear_wording
from .history import LATER_HEADING, split_history, summarise_answers

PROMPT_VERSION = 1
History: TypeAlias = Literal["descriptions", "chat"]
HISTORIES: tuple[History, ...] = ("descriptions", "chat")
Aim: TypeAlias = Literal["another", "better"]
AIMS: tuple[Aim, ...] = ("another", "better")
Template: TypeAlias = Literal["full", "compact", "gear"]
TEMPLATES: tuple[Template, ...] = ("full", "compact", "gear")
UNLIMITED = 1_000_000  # earlier answers that a prompt shows in full

FIRST_REQUEST = (
    "Find one hypothesis that is consistent with every observation above and that says "
    "something definite about inputs that are not shown. A hypothesis that only repeats the "
    "observations explains nothing."
)
ANOTHER_REQUEST = (
    "Find one more hypothesis. It must be consistent with every observation, and it must rest on "
    "another idea than all earlier ones: on many inputs that are not shown it has to predict "
    "something that none of them predicts. Other words for the same predictions do not count."
)
BETTER_REQUEST = (
    "Give a better hypothesis than every one above; it need not rest on another idea. Where none "
    "of them is consistent with all observations yet, mend the one that comes closest: what is "
    "said of it names where it fails. Where one is, keep it so and improve on what counts besides, "
    "in the order stated at the beginning: what is said of it names what it costs without need; "
    "then say the same in less. Do not repeat a hypothesis from above."
)
COUNT_REQUEST = "Give {count} such hypotheses, each of which says something of its own."
CHOSEN_HEADING = "Observations ({count} of {total}; a hypothesis is judged on all {total}):"
EARLIER_HEADING = "Hypotheses proposed so far:"
UNREADABLE = (
    "{count} earlier {answers} could not be read, because the form of the answer was not kept."
)
AGAIN_UNREADABLE = "That answer could not be read, because the form of the answer was not kept."
NO_HYPOTHESIS = "It gives no hypothesis: {reason}."
REPAIRED_HEADING = "A search made this of it:"
SEED_HEADING = "A search found this:"
NO_CALLS_LEFT = "No tool calls are left for this answer. Give the answer now, in the form above."
TOOLS_HINT = (
    "Before you answer you can try candidates with the tools offered; each result says which "
    "observations a candidate gets wrong. The final answer is text in the form above, not a tool "
    "call."
)
FORM_REMINDER = "Give the answer in the form stated above and nothing else."
MAX_UNREADABLE_CHARACTERS = 2_000  # Maximum characters shown of an answer without a hypothesis.
NO_TEXT = "(no text)"  # Endpoints refuse an empty assistant turn.


def build_messages(
    view: View,
    words: FamilyWords,
    *,
    answer_format: str,
    history: History = "descriptions",
    tools: bool = False,
    aim: Aim = "another",
    count: int = 1,
    template: Template = "full",
    history_limit: int = UNLIMITED,
    listed: Sequence[int] | None = None,
) -> list[Message]:
    """Return the messages that request the next hypothesis.

    If an earlier answer has feedback, the messages show the feedback.

    Args:
        view: The problem, with the earlier answers.
        words: The prompt texts of the family.
        answer_format: The format in which to answer.
        history: "descriptions" lists earlier hypotheses as `words.show_hypothesis` writes them.
            "chat" repeats each earlier answer literally as an assistant turn.
        tools: Whether the model may call tools.
        aim: "another" to request a different hypothesis, or "better" to request an improved one.
        count: The number of hypotheses to request.
        template: "full", "compact" or "gear".
        history_limit: The number of earlier answers to show in full; older ones are summarised
            (history.py).
        listed: The indices of the observations to list; None for all. Listed observations keep
            their numbers, because feedback may refer to them.

    Raises:
        UsageError: The history or template is unknown, or the family has no prompt texts for the
            template.
    """
    if history not in HISTORIES:
        raise UsageError(f"unknown history {history!r}: it must be one of {', '.join(HISTORIES)}")
    words = select_wording(words, template)
    if template == "compact":
        return build_compact_messages(
            view, words, answer_format, history == "chat", aim, count, history_limit, listed
        )
    if template == "gear":
        texts: Any = words
        chat = history == "chat"
        return build_gear_messages(
            view, texts, answer_format, chat, tools, aim, history_limit, listed
        )
    task = _task(view, words, answer_format, listed)
    reminder = [COUNT_REQUEST.format(count=count)] if count > 1 else []
    reminder += [TOOLS_HINT, FORM_REMINDER] if tools else [FORM_REMINDER]
    if not view.past_answers:
        return [_user(*task, FIRST_REQUEST, *reminder)]
    following = {"another": ANOTHER_REQUEST, "better": BETTER_REQUEST}[aim]
    # a search wrote no turn that a chat could repeat
    seeded = [one for one in view.past_answers if history == "chat" and one.seeded]
    own = [one for one in view.past_answers if one not in seeded]
    older, recent = split_history(own, history_limit)
    task += summarise_answers(older, lambda one: _shown(one, words, whole=aim == "better"))
    if history == "descriptions":
        heading = LATER_HEADING if older else EARLIER_HEADING
        blocks = _list(recent, words, aim == "better", heading)
        return [_user(*task, *blocks, following, *reminder)]
    found = _list(seeded, words, True, EARLIER_HEADING)
    opening = following if older or seeded else FIRST_REQUEST
    turns: list[Message] = [_user(*task, *found, opening, *reminder)]
    for earlier, mended in _with_mended(recent):
        comment = [*_comment(earlier), *(block for one in mended for block in _mended(one, words))]
        turns.append({"role": "assistant", "content": earlier.answer.strip() or NO_TEXT})
        turns.append(_user(*comment, following, *reminder))
    return turns


def select_wording(words: FamilyWords, template: Template) -> FamilyWords:
    """Return the prompt texts of a family for a prompt template: "full", "compact" or "gear".

    Raises:
        UsageError: The template is unknown, or the family has no prompt texts for it.
    """
    if template not in TEMPLATES:
        raise UsageError(f"unknown template {template!r}: it must be one of {', '.join(TEMPLATES)}")
    if template == "gear":
        return gear_wording(words)
    return words if template == "full" else compact_wording(words)


def build_tool_messages(reply: Reply, results: Sequence[str]) -> list[Message]:
    """Return the assistant turn with the tool calls of `reply`, and one tool turn for each result.

    Arguments that are not a JSON object are sent as {"unreadable": text}, because endpoints reject
    other forms with status 400.

    Args:
        reply: The reply that calls the tools.
        results: One text for each item of `reply.tool_calls`, in the same order.
    """
    if len(results) != len(reply.tool_calls):
        raise ValueError(f"{len(reply.tool_calls)} tool calls but {len(results)} results")
    calls: list[Json] = []
    for call in reply.tool_calls:
        raw = call.arguments
        arguments = {"unreadable": raw} if isinstance(raw, str) else dict(raw)
        function = {"name": call.name, "arguments": canonical_json(arguments)}
        calls.append({"id": call.id, "type": "function", "function": function})
    turns: list[Message] = [{"role": "assistant", "content": reply.text, "tool_calls": calls}]
    for call, result in zip(reply.tool_calls, results, strict=True):
        turns.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return turns


def prompt_hash(
    words: FamilyWords | None = None,
    answer_format: str = "",
    aim: Aim = "another",
    template: Template = "full",
) -> Digest:
    """Return a digest of a prompt template, computed from the prompts of one small fixed problem.

    The digest covers the chosen aim, every kind of history, and requests with and without tools.

    Args:
        words: The prompt texts of a family, which the digest then also covers; None for the
            template alone.
        answer_format: The format of answers.
        aim: "another" or "better".
        template: "full", "compact" or "gear".

    Raises:
        UsageError: The template is unknown, or the family has no prompt texts for it.
    """
    seen = select_wording(words or _Words(), template)
    observation = Observation([1, 2], [2])
    view = View("p", "t", "f", (observation, observation), {}, InputSet("S", ()))
    earlier: tuple[PastAnswer, ...] = (
        PastAnswer("an answer", (Hypothesis("text", "a description"),), Verdict.ACCEPTED),
        PastAnswer("an answer", (Hypothesis("text", "b"),), Verdict.INCONSISTENT, "feedback"),
        PastAnswer("", (), Verdict.MALFORMED),
    )
    if aim == "better":
        mended = PastAnswer("b", (Hypothesis("b"),), Verdict.ACCEPTED, "feedback", "search")
        earlier += (PastAnswer("", (), Verdict.MALFORMED, describe_unreadable("reason")), mended)
    views = [view, View("p", "t", "f", view.shown, {}, view.space, earlier)]
    # The form in which a family shows a pair or a hypothesis depends on the content.
    if words is not None:
        parts: list[Json] = [seen.instructions, seen.contract(answer_format)]
        if template == "gear":
            texts: Any = seen
            parts.append(texts.closing(answer_format))
        parts.append(prompt_hash(aim=aim, template=template))
        return digest_of([PROMPT_VERSION, parts])
    written = [
        build_messages(
            v,
            seen,
            answer_format=answer_format,
            history=history,
            tools=tools,
            aim=aim,
            template=template,
        )
        for v in views
        for history in HISTORIES
        for tools in (False, True)
    ]
    return digest_of([PROMPT_VERSION, written])


def _task(
    view: View, words: FamilyWords, answer_format: str, listed: Sequence[int] | None
) -> list[str]:
    shown = list_observations(view, words)
    heading = "Observations:"
    if listed is not None:
        heading = CHOSEN_HEADING.format(count=len(listed), total=len(shown))
        shown = {index: shown[index] for index in listed}
    observations = "\n".join([heading, *shown.values()])
    return [words.instructions.strip(), words.contract(answer_format).strip(), observations]


def list_observations(view: View, words: FamilyWords) -> dict[int, str]:
    """Return the text of each observation that a prompt lists, by its index in `view.shown`.

    A family may leave observations out, such as most rows of a long table.
    """
    shown = (words.show_observation(n, o) for n, o in enumerate(view.shown, start=1))
    return {index: text for index, text in enumerate(shown) if text}


def describe_unreadable(reason: str, text: str = "") -> str:
    """Return the feedback that tells a model why its answer contains no readable hypothesis.

    Args:
        reason: Why the answer could not be parsed.
        text: The text that the model wrote instead of a hypothesis.
    """
    return f"{text[:MAX_UNREADABLE_CHARACTERS]}\n{NO_HYPOTHESIS.format(reason=reason.rstrip('.'))}".strip()


def _list(
    earlier: Sequence[PastAnswer], words: FamilyWords, whole: bool, heading: str
) -> list[str]:
    """Return earlier hypotheses as a numbered list under a heading, and the number of answers without one.

    With `whole`, hypotheses are shown with their text, which a description may omit, and answers
    without a hypothesis are listed with their feedback.
    """
    lines: list[str] = []
    unlisted: list[str] = []
    for answer in earlier:
        if not answer.hypotheses and not (whole and answer.feedback.strip()):
            unlisted.append(answer.feedback.strip())
            continue
        if not answer.hypotheses:
            lines.append(_numbered(lines, answer.feedback.strip()))
            continue
        for hypothesis in answer.hypotheses:
            shown = _shown(hypothesis, words, whole)
            lines.append(_numbered(lines, _with_author(answer, shown)))
        if answer.feedback.strip():
            lines[-1] += "\n" + _indented(answer.feedback)
    blocks = ["\n".join([heading, *lines])] if lines else []
    if unlisted:
        answers = "answer" if len(unlisted) == 1 else "answers"
        count = UNREADABLE.format(count=len(unlisted), answers=answers)
        blocks.append("\n".join([count, *(_indented(text) for text in unlisted if text)]))
    return blocks


def _with_author(answer: PastAnswer, shown: str) -> str:
    """Return a shown hypothesis with a heading if a search found it."""
    if not answer.author:
        return shown
    return f"{SEED_HEADING if answer.seeded else REPAIRED_HEADING}\n{shown}"


def _numbered(before: Sequence[str], shown: str) -> str:
    return f"{len(before) + 1}. " + "\n   ".join(shown.splitlines())


def _shown(hypothesis: Hypothesis, words: FamilyWords, whole: bool) -> str:
    shown, text = words.show_hypothesis(hypothesis).strip() or NO_TEXT, hypothesis.text.strip()
    return f"{shown}\n{text}" if whole and text not in shown else shown


def _comment(earlier: PastAnswer) -> list[str]:
    """Return the comment on an earlier answer in a chat."""
    said = earlier.feedback.strip()
    return [said] if earlier.hypotheses or said else [AGAIN_UNREADABLE]


def _with_mended(earlier: Sequence[PastAnswer]) -> list[tuple[PastAnswer, list[PastAnswer]]]:
    """Return each answer of the proposer with the answers that a search repaired from it."""
    found: list[tuple[PastAnswer, list[PastAnswer]]] = []
    for one in earlier:
        if one.author and found:
            found[-1][1].append(one)
        else:
            found.append((one, []))
    return found


def _mended(one: PastAnswer, words: FamilyWords) -> list[str]:
    shown = [_shown(hypothesis, words, whole=True) for hypothesis in one.hypotheses]
    return ["\n".join([REPAIRED_HEADING, *shown]), one.feedback.strip()]


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.strip().splitlines())


def _user(*blocks: str) -> Message:
    return {"role": "user", "content": "\n\n".join(block for block in blocks if block)}


class _Words:
    """A minimal wording (`FamilyWords`), for a hash of the template alone."""

    instructions = "instructions"

    def contract(self, answer_format: str) -> str:
        return "contract"

    def schema(self, answer_format: str) -> None:
        return None

    def show_observation(self, number: int, observation: Observation) -> str:
        return f"{number}: {observation.input} -> {observation.output}"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        return hypothesis.description

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        return "feedback"

    def compact(self) -> FamilyWords:
        return self

    def gear(self) -> FamilyWords:
        return self

    def closing(self, answer_format: str) -> str:
        return "closing"
