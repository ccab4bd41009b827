"""Find out how a local model marks its reasoning.

Blocks. The chat template shows the marks of a block. An answer with reasoning is rendered, and the
text around the reasoning is read. What precedes it after the prompt is the opening mark, or what
ends the prompt and is missing where an answer has no reasoning. What stands between reasoning and
answer begins with the closing mark. The names of fields for reasoning are taken from the template
itself. Templates without such a field may still show marks: where a variable such as
enable_thinking changes the end of the prompt, and where a prompt ends in a mark that a finished
conversation does not contain. Marks that many models use are known in any case
(`reasoning.KNOWN_MARKS`).

Channels, as in gpt-oss. The output is a sequence of messages in the harmony format
(https://cookbook.openai.com/articles/openai-harmony): `<|channel|>NAME<|message|>TEXT<|end|>`, then
`<|start|>assistant` and the next message. The channel `final` holds the answer, and `analysis` the
reasoning. A message to `functions.NAME` is a tool call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...records import Json, Message, Unavailable
from ..reasoning import Marks

# Stand for a message, its reasoning and an answer where only the text around them matters.
MARK, THOUGHT_MARK, ANSWER_MARK = "Text 7301", "Thought 4127", "Answer 2985"
PART_MARK = "Part 5530"  # shows that a template writes a part of the content as data
ASKED: Sequence[Message] = ({"role": "user", "content": MARK},)
ANSWERED: Message = {"role": "assistant", "content": ANSWER_MARK}
_TAG = re.compile(r"<+[^<>\s]+>+|\[+[^\[\]\s]+\]+|◁[^◁▷\s]+▷")

# Renders messages, as a prompt or as a finished conversation, with variables of the template.
Renderer = Callable[[Sequence[Message], bool, Mapping[str, Json]], str]


@dataclass(frozen=True)
class BlockFormat:
    """How a chat template writes blocks of reasoning.

    Attributes:
        marks: The opening and closing marks that the template shows.
        endings: For an opening mark, the text from the end of the reasoning to the answer. It is
            missing for marks that no answer with reasoning showed.
    """

    marks: Marks = ()
    endings: Mapping[str, str] = field(default_factory=dict)


def learn_blocks(
    render: Renderer, fields: Sequence[str], variables: Sequence[str], source: str
) -> BlockFormat:
    """Return how a chat template writes blocks of reasoning; without marks if it does not show it.

    Args:
        render: Renders messages with the template. It raises Unavailable where the template refuses
            them.
        fields: Names that may be fields of a message with its reasoning.
        variables: Names of variables of the template.
        source: The text of the template.
    """
    try:
        prompt = render(ASKED, True, {})
    except Unavailable:
        return BlockFormat()
    whole = _attempt(render, [*ASKED, ANSWERED], False, {})
    found: dict[str, str] = {}
    endings: dict[str, str] = {}
    for turn in _turns_with_reasoning(fields):
        shown = _attempt(render, [*ASKED, turn], False, {})
        if (block := _read_block(prompt, whole, shown)) is not None:
            opening, closing, ending = block
            found.setdefault(opening, closing)
            endings.setdefault(opening, ending)
    compared = [(prompt, whole)]
    for name in variables:
        on, off = (_attempt(render, ASKED, True, {name: value}) for value in (True, False))
        compared += [(on, off), (off, on)]
    for text, other in compared:
        if (pair := _compare_ends(text, other, source)) is not None:
            found.setdefault(*pair)
    return BlockFormat(tuple(found.items()), endings)


def _attempt(
    render: Renderer, messages: Sequence[Message], prompt: bool, variables: Mapping[str, Json]
) -> str:
    try:
        return render(messages, prompt, variables)
    except Unavailable:
        return ""


def _turns_with_reasoning(fields: Sequence[str]) -> Iterator[Message]:
    """Yield answers with reasoning: in a field of the message, and as a part of its content."""
    for name in fields:
        yield {**ANSWERED, name: THOUGHT_MARK}
    for name in fields:
        thought = {"type": name, name: THOUGHT_MARK, "closed": True, "id": PART_MARK}
        yield {**ANSWERED, "content": [thought, {"type": "text", "text": ANSWER_MARK}]}


def _read_block(prompt: str, whole: str, shown: str) -> tuple[str, str, str] | None:
    """Return opening mark, closing mark and the text between reasoning and answer.

    Args:
        prompt: A prompt of one turn.
        whole: The conversation with an answer without reasoning; "" if the template refuses it.
        shown: The conversation with an answer with reasoning.
    """
    before, thought, rest = shown.partition(THOUGHT_MARK)
    ending, answer, _ = rest.partition(ANSWER_MARK)
    if not (thought and answer and ending.strip()) or MARK not in before or PART_MARK in shown:
        return None
    said = before.rpartition(MARK)[2]
    added = before[len(prompt) :] if before.startswith(prompt) else ""
    tag = _TAG.match(ending.strip())
    closing = tag[0] if tag else ending.strip()
    head = whole.partition(ANSWER_MARK)[0]
    opened = prompt[len(head) :].strip() if head and prompt.startswith(head) else ""
    if closing in opened:  # the prompt ends in an empty block
        opened = ""
    opening = _last_tag(added) or added.strip() or opened or _last_tag(said)
    # A mark stands nowhere else after the question. The header of an answer does: it ends the turn
    # before, or the answer without reasoning follows it.
    after = shown.rpartition(MARK)[2]
    if not opening or after.count(opening) > 1 or after.count(closing) != 1:
        return None
    if head.rstrip().endswith(opening):
        return None
    return opening, closing, ending


def _compare_ends(text: str, other: str, source: str) -> tuple[str, str] | None:
    """Return the marks of a block at the end of `text` that is missing in `other`.

    The block is empty, as where reasoning is turned off, or open. The closing mark of an open block
    has a form that is derived from its opening mark, and must be part of the template.
    """
    end = text.rpartition(MARK)[2].rstrip()
    tags = list(_TAG.finditer(end))
    if not tags or not other:
        return None
    before = text.rstrip()[: tags[-1].start() - len(end)]
    opening = end[tags[-1].start() :]
    if other.startswith(before) and not other.startswith(before + opening):
        closing = _derive_closing(opening)
        if closing and closing in source:
            return opening, closing
    elif len(tags) > 1 and not other.startswith(text.rstrip()):
        first, last = tags[-2:]
        empty = not end[first.end() : last.start()].strip() and last.end() == len(end)
        if empty and _derive_closing(first[0]) == last[0]:
            return first[0], last[0]
    return None


def _derive_closing(opening: str) -> str:
    """Return the closing mark for an opening mark in one of the usual forms, or ""."""
    for start, end in (("START", "END"), ("start", "end"), ("BEGIN", "END"), ("begin", "end")):
        if start in opening:
            return opening.replace(start, end)
    return f"{opening[0]}/{opening[1:]}" if _TAG.fullmatch(opening) and "/" not in opening else ""


def _last_tag(text: str) -> str:
    """Return the last tag in a text with what follows it, without the white space around."""
    tags = list(_TAG.finditer(text))
    return text[tags[-1].start() :].strip() if tags else ""


CHANNEL_MARKS = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|return|>",
                 "<|call|>")  # fmt: skip
FINAL = "final"
_MARK = re.compile("(" + "|".join(map(re.escape, CHANNEL_MARKS)) + ")")
_RECIPIENT = re.compile(r"to=functions\.([^\s<]+)")


def split_channels(text: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Return (answer, reasoning, tool calls) from a text with the marks of channels.

    A tool call is a name and the text of its arguments. A text without marks is an answer. The text
    of a channel other than `final` counts as reasoning.
    """
    parts = _MARK.split(text)
    if len(parts) == 1:
        return text, "", []
    answer: list[str] = []
    reasoning: list[str] = []
    calls: list[tuple[str, str]] = []
    header, body = [parts[0]], False
    if parts[1] in ("<|end|>", "<|return|>"):  # an answer without a header
        answer.append(parts[0].strip())
    for mark, piece in zip(parts[1::2], parts[2::2], strict=True):
        if mark == "<|message|>":
            body = True
            named = _RECIPIENT.search(" ".join(header))
            if named is not None:
                calls.append((named[1], piece.strip()))
            else:
                is_answer = FINAL in " ".join(header).split()
                (answer if is_answer else reasoning).append(piece.strip())
        elif mark in ("<|channel|>", "<|constrain|>") and not body:
            header.append(piece)
        else:
            header, body = [piece], False
    thoughts = "\n\n".join(one for one in reasoning if one)
    return "\n\n".join(one for one in answer if one), thoughts, calls
