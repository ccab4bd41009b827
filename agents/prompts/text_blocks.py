"""The parts that prompts about labelled text are put together from: rows, findings, patterns, and
how an answer has to end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from ...records import Json, Message, Observation
from ...tasks.text.words import TextWords, input_text, labelled, quoted_label

Pattern: TypeAlias = tuple[str, Sequence[Observation]]  # a hypothesis, rows that it got right
Wrong: TypeAlias = tuple[Observation, str]  # a row, what was predicted of it; "" where not known

SOURCED = (
    "Behind each hypothesis name, in square brackets, the paper that it rests on by its number "
    "above, and repeat, word for word, a quote of the paper that its findings give; leave the brackets out "
    "where it rests on none."
)
SOURCE_FORM = '[paper <number>: "<quote>"]'
YES_NO = "Say in one sentence why. Then end with one line: Final answer: yes, or: Final answer: no"
_REASON = "Say in one or two sentences why."
_LIST = "Write a numbered list, each hypothesis in one sentence on one line, and nothing else:"


class Findings(Protocol):
    """A paper as later prompts show it: a summary of what it found."""

    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def source(self) -> str: ...


class Readable(Protocol):
    """A paper, or a piece of one, that is to be summarised."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...


def user_message(*blocks: str) -> list[Message]:
    """One user message of the blocks that hold something."""
    return [{"role": "user", "content": "\n\n".join(block for block in blocks if block.strip())}]


def asked_for(count: int) -> str:
    return "Give exactly one hypothesis." if count == 1 else f"Give exactly {count} hypotheses."


def list_form(count: int, sourced: bool = False) -> str:
    """How `count` hypotheses are to be written. sourced: each with its paper and a quote."""
    line = f"<hypothesis> {SOURCE_FORM}" if sourced else "<hypothesis>"
    lines = [f"{n}. {line}" for n in range(1, min(count, 3) + 1)]
    if count > 3:
        lines[-1] = "…"
    return "\n".join([*([SOURCED] if sourced else []), _LIST, *lines])


def label_line(words: TextWords, besides: str = "") -> str:
    """That the answer ends with the label. besides: what may stand there instead, and when."""
    told = f", or, {besides}" if besides else ""
    return (
        f"{_REASON} Then end with one line, where LABEL is {one_of(words)}{told}:"
        "\nFinal answer: LABEL"
    )


def pattern_line(count: int) -> str:
    """That the answer ends with the number of one of `count` patterns."""
    return (
        f"{_REASON} Then end with one line, where NUMBER is from 1 to {count}:"
        "\nChosen pattern: NUMBER"
    )


def pattern_and_label_lines(count: int, words: TextWords) -> str:
    return (
        f"{_REASON} Then end with two lines, where NUMBER is from 1 to {count} and LABEL is "
        f"{one_of(words)}:\nChosen pattern: NUMBER\nFinal answer: LABEL"
    )


def one_of(words: TextWords) -> str:
    names = [quoted_label(label) for label in words.labels]
    return f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)


def rows_block(rows: Sequence[Observation], words: TextWords) -> str:
    return f"Rows with their labels:\n{labelled(rows, words)}" if rows else ""


def wrong_block(wrong: Sequence[Wrong], words: TextWords) -> str:
    """Rows with their labels and what was predicted instead."""
    told = []
    for n, (row, predicted) in enumerate(wrong, start=1):
        said = f"\n   predicted: {predicted}" if predicted else ""
        told.append(words.show_observation(n, row) + said)
    return "\n".join(["Rows that it labels wrongly, with their labels:", *told]) if told else ""


def findings_block(papers: Sequence[Findings]) -> str:
    told = [
        f"Paper {n}: {paper.title}\n{paper.summary.strip()}"
        for n, paper in enumerate(papers, start=1)
    ]
    return "\n\n".join(["Findings of papers:", *told]) if told else ""


def hypotheses_block(heading: str, sentences: Iterable[str]) -> str:
    return "\n".join([heading, numbered(sentences)])


def numbered(sentences: Iterable[str]) -> str:
    """One line each, numbered from 1."""
    return "\n".join(f"{n}. {said}" for n, said in enumerate(sentences, start=1))


def patterns_block(patterns: Sequence[Pattern], words: TextWords) -> str:
    told = []
    for n, (text, rows) in enumerate(patterns, start=1):
        told.append(f"Pattern {n}: {text}" + (f"\n{labelled(rows, words)}" if rows else ""))
    return "\n\n".join(told)


def input_block(row: Mapping[str, Json]) -> str:
    return f"Input:\n{input_text(row)}"
