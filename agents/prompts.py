"""What a model is asked: pure functions from a view and the family's words to messages.

One template serves all data sets (GEAR, section 4.1 and appendix E); what is particular to a
family (how a hypothesis is written, how an observation looks) comes from its `FamilyWords`. The
wording is this project's own. Departures from the paper: the contract stands once, and the
observations stand before the earlier hypotheses, so that the prompts of one problem share a
beginning that an endpoint can cache. Malformed answers are counted in the list of descriptions,
since they have none.

Everything is one user message (or, with `history="chat"`, user and assistant in turns): some
chat templates know no system role.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ..records import (
    Agreement,
    Digest,
    Earlier,
    FamilyWords,
    Hypothesis,
    InputSet,
    Json,
    Message,
    Observation,
    Reply,
    UsageError,
    Verdict,
    View,
    canonical_json,
    digest_of,
)

PROMPT_VERSION = 1
History: TypeAlias = Literal["descriptions", "chat"]
HISTORIES: tuple[History, ...] = ("descriptions", "chat")

FIRST = (
    "Find one hypothesis that is consistent with every observation above and that says "
    "something definite about inputs that are not shown. A hypothesis that only repeats the "
    "observations explains nothing."
)
FOLLOWING = (
    "Find one more hypothesis. It must be consistent with every observation, and it must rest on "
    "another idea than all earlier ones: on many inputs that are not shown it has to predict "
    "something that none of them predicts. Other words for the same predictions do not count."
)
EARLIER = "Hypotheses proposed so far:"
UNREADABLE = (
    "{count} earlier {answers} could not be read, because the form of the answer was not kept."
)
AGAIN_UNREADABLE = "That answer could not be read, because the form of the answer was not kept."
NO_CALLS_LEFT = "No tool calls are left for this answer. Give the answer now, in the form above."
TOOLS = (
    "Before you answer you can try candidates with the tools offered; each result says which "
    "observations a candidate gets wrong. The final answer is text in the form above, not a tool "
    "call."
)
FORM = "Give the answer in the form stated above and nothing else."
NO_TEXT = "(no text)"  # endpoints refuse an assistant turn that is empty


def messages(
    view: View,
    words: FamilyWords,
    *,
    answer_format: str,
    history: History = "descriptions",
    tools: bool = False,
) -> list[Message]:
    """The messages that ask for the next hypothesis of `view`.

    history: "descriptions" lists earlier hypotheses by what `words.show_hypothesis` says of them;
    "chat" repeats earlier answers as they came, each as an assistant's turn. `feedback` of an
    earlier answer is shown wherever it is not empty. tools: whether tools go with the request.
    Raises UsageError for another history.
    """
    if history not in HISTORIES:
        raise UsageError(f"unknown history {history!r}: it is one of {', '.join(HISTORIES)}")
    task = _task(view, words, answer_format)
    reminder = [TOOLS, FORM] if tools else [FORM]
    if not view.earlier:
        return [_user(*task, FIRST, *reminder)]
    if history == "descriptions":
        return [_user(*task, *_list(view.earlier, words), FOLLOWING, *reminder)]
    turns: list[Message] = [_user(*task, FIRST, *reminder)]
    for earlier in view.earlier:
        turns.append({"role": "assistant", "content": earlier.answer.strip() or NO_TEXT})
        turns.append(_user(*_comment(earlier), FOLLOWING, *reminder))
    return turns


def tool_messages(reply: Reply, results: Sequence[str]) -> list[Message]:
    """The assistant's turn that called tools, and one tool turn for each of its calls.

    results: one text for each of `reply.tool_calls`, in their order. Arguments that were no JSON
    object go back as {"unreadable": text}: endpoints answer 400 to anything else.
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


def prompt_hash(words: FamilyWords | None = None, answer_format: str = "") -> Digest:
    """A digest of the template: of all that `messages` writes about one fixed small problem, with
    each history, with and without tools; with `words` also of the family's part of it."""
    seen = words or _Words()
    observation = Observation([1, 2], [2])
    view = View("p", "t", "f", (observation, observation), {}, InputSet("S", ()))
    earlier = (
        Earlier("an answer", (Hypothesis("text", "a description"),), Verdict.ACCEPTED),
        Earlier("an answer", (Hypothesis("text", "b"),), Verdict.INCONSISTENT, "feedback"),
        Earlier("", (), Verdict.MALFORMED),
    )
    views = [view, View("p", "t", "f", view.shown, {}, view.space, earlier)]
    if words is not None:  # how a family shows a pair or a hypothesis depends on what they hold
        template: list[Json] = [words.instructions, words.contract(answer_format), prompt_hash()]
        return digest_of([PROMPT_VERSION, template])
    written = [
        messages(v, seen, answer_format=answer_format, history=history, tools=tools)
        for v in views
        for history in HISTORIES
        for tools in (False, True)
    ]
    return digest_of([PROMPT_VERSION, written])


def _task(view: View, words: FamilyWords, answer_format: str) -> list[str]:
    shown = [words.show_observation(n, o) for n, o in enumerate(view.shown, start=1)]
    observations = "\n".join(["Observations:", *shown])
    return [words.instructions.strip(), words.contract(answer_format).strip(), observations]


def _list(earlier: Sequence[Earlier], words: FamilyWords) -> list[str]:
    """Earlier hypotheses as a numbered list, and how many answers gave none."""
    lines: list[str] = []
    unread: list[str] = []
    for answer in earlier:
        if not answer.hypotheses:
            unread.append(answer.feedback.strip())
            continue
        for hypothesis in answer.hypotheses:
            shown = words.show_hypothesis(hypothesis).strip() or NO_TEXT
            lines.append(f"{len(lines) + 1}. " + "\n   ".join(shown.splitlines()))
        if answer.feedback.strip():
            lines[-1] += "\n" + _indented(answer.feedback)
    blocks = ["\n".join([EARLIER, *lines])] if lines else []
    if unread:
        answers = "answer" if len(unread) == 1 else "answers"
        count = UNREADABLE.format(count=len(unread), answers=answers)
        blocks.append("\n".join([count, *(_indented(text) for text in unread if text)]))
    return blocks


def _comment(earlier: Earlier) -> list[str]:
    """What is said of an earlier answer in a chat, before another one is asked for."""
    unread = [] if earlier.hypotheses else [AGAIN_UNREADABLE]
    return [*unread, earlier.feedback.strip()]


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.strip().splitlines())


def _user(*blocks: str) -> Message:
    return {"role": "user", "content": "\n\n".join(block for block in blocks if block)}


class _Words:
    """Stands in for a family's words where only the template counts."""

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
