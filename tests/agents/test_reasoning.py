"""Reasoning is split off an answer as before, in time proportional to the answer's length.

Internals: the splitting is a pure function that both kinds of models share.
"""

from __future__ import annotations

import re
import time

import pytest
from asking import EXECUTE, ask
from chat_server import says
from hypothesis import example, given, settings
from hypothesis import strategies as st
from peirce.agents.local.chat import extract_tool_calls
from peirce.agents.reasoning import KNOWN_MARKS, split_reasoning
from peirce.tests.counts import drawn

OPENING, CLOSING = ("|".join(map(re.escape, column)) for column in zip(*KNOWN_MARKS, strict=True))
BLOCK = re.compile(
    "|".join(f"{re.escape(first)}.*?{re.escape(last)}" for first, last in KNOWN_MARKS), re.DOTALL
)
PIECES = (
    "<think>", "</think>", "<thinking>", "</thinking>", "<thi", "nk>", "<", ">", "/", "think", " ",
    "\n", "a", "b.", "[THINK]", "[/THINK]", "<|channel>thought", "<channel|>", "thought",
)  # fmt: skip


def defined_by_patterns(text: str) -> tuple[str, str]:
    """The definition: what a block is, as one regular expression that is slow on many tags."""
    parts: list[str] = []
    opened = {last: first for first, last in KNOWN_MARKS}
    if (closing := re.search(CLOSING, text)) is not None and opened[closing[0]] not in text[
        : closing.start()
    ]:
        parts.append(text[: closing.start()])
        text = text[closing.end() :]
    parts.extend(match[0] for match in BLOCK.finditer(text))
    text = BLOCK.sub("", text)
    if (opening := re.search(OPENING, text)) is not None:
        parts.append(text[opening.start() :])
        text = text[: opening.start()]
    if not parts:
        return text, ""
    inner = (re.sub(f"{OPENING}|{CLOSING}", "", part).strip() for part in parts)
    return text.strip(), "\n\n".join(part for part in inner if part)


@pytest.mark.counted
@settings(max_examples=drawn(600, soak=2_000))
@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
@example("<thi<think>a</think>nk>b")
@example("<think>a<thinking>b</thinking>c")
@example("<thinking>a<think>b</thinking>c</think>d")
def test_every_text_is_split_as_the_definition_says(text: str) -> None:
    assert split_reasoning(text) == defined_by_patterns(text)


@pytest.mark.parametrize(
    "unit", ["<think>", "<thinking>", "<think><thinking>", "</think>", "<think></thinking>", "<thi"]
)
def test_an_answer_full_of_tags_takes_no_longer_than_another(unit: str) -> None:
    text = unit * (196_000 // len(unit))
    started = time.process_time()
    ask(says(text))
    assert time.process_time() - started < 3  # one pattern for a whole block took 48 s


def test_long_reasoning_leaves_a_short_answer_as_it_is() -> None:
    reply, _ = ask(says(f"<think>{'why not? ' * 200_000}</think>the answer"))
    assert reply.text == "the answer" and len(reply.meta["reasoning"]) > 1_000_000


def test_blanks_within_a_tool_call_cost_no_more_than_letters() -> None:
    started = time.process_time()
    text, calls = extract_tool_calls(f"<tool_call>x{' ' * 30_000}x", [EXECUTE])
    assert time.process_time() - started < 2  # blanks on both sides of a lazy repeat took 8 s
    assert text == "" and calls[0].arguments.startswith("x ")
