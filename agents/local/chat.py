"""Convert messages to tokens with a local model's chat template, and output tokens to a reply.

If a tokenizer has no chat template (as for base models), a plain template is used: `System: …`,
`User: …` and `Assistant:`, separated by blank lines. An answer then ends where the model would
begin the next turn of the user. If a template refuses a role or an order of roles, the messages are
rendered once more in a simpler form: the text of the system message moves to the first user turn,
tool turns become user turns, and neighbouring turns of the same role are joined.

Tools are passed to the template as JSON schemas. Tool calls are recognized in the format of Hermes
and Qwen, `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, and in that of gpt-oss
(reasoning_formats.py). Other formats are read as text.

Reasoning is separated from the answer: blocks in marks such as <think>, which the prompt itself may
open, and the channel `analysis` of gpt-oss (reasoning_formats.py).
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import FrameType
from typing import TYPE_CHECKING, Any

from ...records import (
    PROMPT_DIGEST,
    Json,
    Message,
    Reply,
    ToolCall,
    ToolSpec,
    Unavailable,
    UsageError,
    digest_of,
    digest_prompt,
)
from ...records import Usage as Tokens
from ..reasoning import KNOWN_MARKS, Marks, find_open_block, split_reasoning
from .reasoning_formats import CHANNEL_MARKS, MARK, BlockFormat, learn_blocks, split_channels
from .templates import REASONING_FIELD, TemplateContent, parse_template, read_template, write_date
from .tool_calls import extract_tool_calls, write_tool_call

if TYPE_CHECKING:
    from .decoding import Answer

PLAIN = "plain"
NEXT_TURN = "\nUser:"
MOST_LINES = 1_000_000  # maximum lines of template code per rendering, about a second
MOST_CHARACTERS = 20_000_000  # maximum length of its output, more than any model holds
DATES = (datetime(2001, 2, 3, 4, 5, 6), datetime(1999, 12, 31, 22, 58, 59))  # differ in every part
# Variables that transformers itself passes to a template.
TEMPLATE_VARIABLES = {"messages", "tools", "documents", "add_generation_prompt", "raise_exception", "strftime_now",
         "bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token",
         "additional_special_tokens", "namespace", "range", "loop"}  # fmt: skip


class ChatFormat:
    """The chat template and the tokenizer of one model.

    Args:
        name: The name of the model, for error messages.
        tokenizer: The tokenizer of the model.
        chat_template: A Jinja file, or "plain"; None for the model's own template.
        variables: Values of template variables, in addition to the messages.
        tools: Whether the model is offered tools.
        known_only: Whether to drop variables that the template does not use, instead of raising
            UsageError.

    Raises:
        UsageError: The template file cannot be read, or the template does not support a variable or
            tools.
        DataError: The model's own template is broken.
    """

    def __init__(
        self,
        name: str,
        tokenizer: Any,
        chat_template: str | None,
        variables: Mapping[str, Json],
        tools: bool,
        known_only: bool = False,
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self._variables = dict(variables)
        self.tools = tools
        if chat_template == PLAIN:
            self.template = PLAIN
        elif chat_template is not None:
            self.template = read_template(chat_template)
        else:
            self.template = self._own_template()
        self._dated, self._date = self.template, ""
        self._content = TemplateContent()
        if self.template != PLAIN:
            self._content = parse_template(name, self.template)
        self._check(known_only)

    @property
    def stop(self) -> str:
        """Return a text that ends an answer, in addition to the end tokens of the model.

        The text is "" unless the plain template is used.
        """
        return NEXT_TURN if self.template == PLAIN else ""

    def tokenize_prompt(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
    ) -> list[int]:
        """Return the tokens of the prompt for a conversation.

        Raises:
            Unavailable: The chat template cannot render the conversation (see `render_prompt`).
        """
        return self.tokenize([self.render_prompt(messages, tools)])[0]

    def render_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> str:
        """Return the prompt for a conversation: the text that the model continues with its answer.

        Raises:
            Unavailable: The chat template refuses the conversation, fails, writes nothing or too
                much, or does not end.
        """
        turns = [_turn(message) for message in messages]
        if self.template == PLAIN:
            return _plain(turns)
        said = self._rendered(turns, tools)
        if not said or len(said) > MOST_CHARACTERS:
            size = f"{len(said):,} characters, more than {MOST_CHARACTERS:,}" if said else "nothing"
            raise Unavailable(f"the chat template of model {self.name!r} writes {size}")
        return said

    def render_conversation(self, messages: Sequence[Message]) -> str:
        """Return the text of a conversation that ends with an answer, as the chat template writes
        it.

        Raises:
            Unavailable: The chat template refuses the conversation, fails or runs for too long.
        """
        return self._rendered([_turn(message) for message in messages], (), prompt=False)

    @property
    def digest(self) -> str:
        """Return 16 hexadecimal digits that identify the template, or "plain"."""
        return PLAIN if self.template == PLAIN else digest_of(self.template)[:16]

    @property
    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the template with which prompts are rendered."""
        return dict(self._variables)

    def writes_date(self, roles: Sequence[str] = ("user",)) -> bool:
        """Return whether the prompt for a conversation with these roles contains the current date."""
        if not self._content.refers_to_date or self._dated != self.template:
            return False
        asked = [{"role": role, "content": MARK} for role in roles]
        found = []
        for date in DATES:
            self._dated = write_date(self.template, date)
            try:
                found.append(self.render_prompt(asked))
            finally:
                self._dated = self.template
        return found[0] != found[1]

    @property
    def date(self) -> str | None:
        """The date, such as 2026-11-29, that `freeze_date` wrote in the template; otherwise None."""
        return None if self._dated == self.template else self._date

    def freeze_date(self, date: datetime) -> None:
        """Write this date in all prompts, wherever the template writes the current one."""
        if self._content.refers_to_date:
            self._dated = write_date(self.template, date)
            self._date = date.date().isoformat()

    @property
    def refers_to_date(self) -> bool:
        """Whether the template can write the current date, under some condition."""
        return self._content.refers_to_date

    @cached_property
    def blocks(self) -> BlockFormat:
        """The blocks of reasoning that the template shows."""
        if self.template == PLAIN or self._has_channels:
            return BlockFormat()
        content = self._content
        return learn_blocks(
            lambda turns, prompt, extra: self._rendered(turns, (), prompt, extra),
            content.reasoning_fields,
            [one for one in sorted(content.variables) if REASONING_FIELD.fullmatch(one)],
            self.template,
        )

    @cached_property
    def marks(self) -> Marks:
        """The opening and closing marks of reasoning: those of the template and the known ones."""
        shown = self.blocks.marks
        taken = {opening for opening, _ in shown}
        return (*shown, *(pair for pair in KNOWN_MARKS if pair[0] not in taken))

    @cached_property
    def open_mark(self) -> str:
        """The mark of the block of reasoning in which a prompt ends; "" without one."""
        if self.template == PLAIN:
            return ""
        try:
            prompt = self.render_prompt([{"role": "user", "content": MARK}])
        except Unavailable:
            return ""
        return find_open_block(prompt.rpartition(MARK)[2], self.marks).strip()

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text. Each text must begin with a result of
        `render_prompt`.
        """
        # As in transformers: a template has already written the special tokens.
        special = self.template == PLAIN
        found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=special)[
            "input_ids"
        ]
        return found

    def _rendered(
        self,
        turns: Sequence[Message],
        tools: Sequence[ToolSpec],
        prompt: bool = True,
        extra: Mapping[str, Json] | None = None,
    ) -> str:
        """Return the rendered turns, in folded form if the template refuses them.

        Args:
            prompt: Whether to append the beginning of an answer.
            extra: Variables of the template, before those of the settings.
        """
        from jinja2 import TemplateError

        faults = (TemplateError, TypeError, ValueError, LookupError, ArithmeticError,
                  AttributeError, RecursionError, MemoryError)  # fmt: skip
        variables = {**self._variables, **(extra or {})}
        with contextlib.suppress(*faults):
            return self._templated(turns, tools, prompt, variables)
        try:
            return self._templated(_folded(turns), tools, prompt, variables)
        except faults as error:
            said = " ".join(str(error).split())[:200] or type(error).__name__
            raise Unavailable(
                f"the chat template of model {self.name!r} refuses the conversation: {said}"
            ) from None

    def parse_reply(
        self, prompt: Sequence[int], answer: Answer, tools: Sequence[ToolSpec]
    ) -> Reply:
        """Return the reply that the generated tokens contain.

        Args:
            prompt: The tokens of the prompt.
            answer: The generated tokens.
            tools: The tools that the model was offered.
        """
        said = self._decode(answer.tokens)
        if self.stop:
            said = said.partition(self.stop)[0].strip()
        if self._has_channels:
            text, reasoning, requests = split_channels(said)
            if tools:  # in the form that is read below
                text += "".join(write_tool_call(name, arguments) for name, arguments in requests)
        else:
            if not said.lstrip().startswith(tuple(opening for opening, _ in self.marks)):
                said = f"{self.open_mark}{said}"
            text, reasoning = split_reasoning(said, self.marks)
        calls: tuple[ToolCall, ...] = ()
        if tools:
            text, calls = extract_tool_calls(text, tools)
        if not answer.ended:  # The last call was truncated, so its arguments are still text.
            calls = tuple(call for call in calls if not isinstance(call.arguments, str))
        thought = len(self.tokenizer(reasoning)["input_ids"]) if reasoning else 0
        usage = Tokens(len(prompt), answer.token_count, 0, min(thought, answer.token_count))
        finish = "length" if not answer.ended else "tool_calls" if calls else "stop"
        meta = {PROMPT_DIGEST: digest_prompt(prompt)}
        if reasoning:
            meta["reasoning"] = reasoning
        return Reply(text, calls, finish, usage, meta=meta)

    @property
    def _has_channels(self) -> bool:
        return "<|channel|>" in self.template

    @cached_property
    def _special(self) -> tuple[set[int], set[int]]:
        """The ids of special tokens, and of those among them that mark reasoning or channels."""
        marks = [one for pair in self.marks for one in pair]
        marks += CHANNEL_MARKS if self._has_channels else ()
        added = self.tokenizer.added_tokens_decoder.items()
        special = {number: token.content for number, token in added if token.special}
        # A mark may consist of a special token and a word.
        kept = {one for one, content in special.items() if any(content in mark for mark in marks)}
        return {*special, *self.tokenizer.all_special_ids}, kept

    def _decode(self, tokens: Sequence[int]) -> str:
        """Return the text of generated tokens; of special tokens, only marks are written."""
        special, marks = self._special
        if not marks:
            return str(self.tokenizer.decode(tokens, skip_special_tokens=True))
        kept = [token for token in tokens if token in marks or token not in special]
        return str(self.tokenizer.decode(kept, skip_special_tokens=False))

    def _own_template(self) -> str:
        told = self.tokenizer.chat_template
        if isinstance(told, dict):
            told = told.get("tool_use" if self.tools else "default", told.get("default"))
        return told or PLAIN

    def _check(self, known_only: bool) -> None:
        known = self._content.variables
        if self.tools and "tools" not in known:
            raise UsageError(
                f"the chat template of model {self.name!r} does not support tools: omit tools=true"
            )
        for key in tuple(self._variables):
            if key not in known - TEMPLATE_VARIABLES and known_only:
                del self._variables[key]
            elif key not in known - TEMPLATE_VARIABLES:
                valid = ", ".join(sorted(known - TEMPLATE_VARIABLES)) or "none"
                raise UsageError(
                    f"model {self.name!r} does not take a setting {key!r}, and its chat template has no"
                    f" such variable: it has {valid}"
                )

    def _templated(
        self,
        turns: Sequence[Message],
        tools: Sequence[ToolSpec],
        prompt: bool,
        variables: Mapping[str, Json],
    ) -> str:
        with _bounded(f"the chat template of model {self.name!r}"):
            return str(
                self.tokenizer.apply_chat_template(
                    list(turns),
                    tools=[_tool(spec) for spec in tools] or None,
                    chat_template=self._dated,
                    add_generation_prompt=prompt,
                    tokenize=False,
                    **variables,
                )
            )


def _turn(message: Message) -> dict[str, Json]:
    """Return a message in the form of templates: content as text, arguments of calls as objects."""
    content = message.get("content")
    turn: dict[str, Json] = {"role": message["role"], "content": "" if content is None else content}
    if message.get("tool_calls"):
        turn["tool_calls"] = [_readable(call) for call in message["tool_calls"]]
    for key in ("tool_call_id", "name"):
        if key in message:
            turn[key] = message[key]
    return turn


def _readable(call: Mapping[str, Json]) -> dict[str, Json]:
    function = dict(call.get("function") or {})
    try:
        told = json.loads(function["arguments"])
    except (ValueError, TypeError, KeyError, RecursionError):
        told = None
    if not isinstance(told, dict):
        told = {"unreadable": function.get("arguments", "")}
    return {"id": call.get("id"), "type": "function", "function": {**function, "arguments": told}}


def _folded(turns: Sequence[Message]) -> list[dict[str, Json]]:
    """Return the turns with only the roles user and assistant, joining neighbours of one role."""
    found: list[dict[str, Json]] = []
    for turn in turns:
        role = "assistant" if turn["role"] == "assistant" else "user"
        text = "\n".join(
            [turn["content"], *(_written(call) for call in turn.get("tool_calls", ()))]
        )
        if found and found[-1]["role"] == role:
            found[-1]["content"] += f"\n\n{text.strip()}"
        else:
            found.append({"role": role, "content": text.strip()})
    return found


def _written(call: Mapping[str, Json]) -> str:
    function = call["function"]
    arguments = json.dumps(function["arguments"], ensure_ascii=False)
    return write_tool_call(function.get("name"), arguments)


def _plain(turns: Sequence[Message]) -> str:
    parts = [f"{str(turn['role']).capitalize()}: {turn['content']}" for turn in turns]
    return "\n\n".join([*parts, "Assistant:"])


def _tool(spec: ToolSpec) -> Json:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
    }
    return {"type": "function", "function": function}


@contextlib.contextmanager
def _bounded(what: str) -> Iterator[None]:
    """Stop a rendering that runs more than `MOST_LINES` lines of a template's code.

    Nested loops could otherwise run for years without output or a large range. `**` is refused when
    a template is read. A single expression is not bounded otherwise: multiplied texts and lists, and
    filters over them (center, sort, sum), may take seconds and fill the memory. Raises Unavailable.
    """
    lines = 0

    def in_template(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        if lines > MOST_LINES:
            raise Unavailable(f"{what} does not end: it was stopped after {MOST_LINES:,} steps")
        return in_template

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        return in_template if frame.f_code.co_filename == "<template>" else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)
