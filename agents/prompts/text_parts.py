"""Parts of prompts about labelled text: rows, findings, patterns, and the form of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from ...records import Json, Message, Observation
from ...tasks.text.words import TextWords, format_input, format_rows, quote_label

Pattern: TypeAlias = tuple[str, Sequence[Observation]]  # A hypothesis, and rows that it got right.
# A row, and the label predicted for it; "" if not known.
WrongRow: TypeAlias = tuple[Observation, str]

SOURCE_INSTRUCTION = (
    "Behind each hypothesis name, in square brackets, the paper that it rests on by its number "
    "above, and repeat, word for word, a quote of the paper that its findings give; leave the brackets out "
    "where it rests on none."
)
SOURCE_FORM = '[paper <number>: "<quote>"]'
YES_NO = "Say in one sentence why. Then end with one line: Final answer: yes, or: Final answer: no"
_REASON = "Say in one or two sentences why."
_LIST = "Write a numbered list, each hypothesis in one sentence on one line, and nothing else:"


class Findings(Protocol):
    """A paper as later prompts show it, with a summary of its findings."""

    @property
    def title(self) -> str:
        """Return the title of the paper."""
        ...

    @property
    def summary(self) -> str:
        """Return the summary of the paper's findings."""
        ...

    @property
    def source(self) -> str:
        """Return the file name of the paper."""
        ...


class PaperText(Protocol):
    """A paper, or an excerpt from a paper, that a prompt asks a model to summarise."""

    @property
    def title(self) -> str:
        """Return the title of the paper."""
        ...

    @property
    def text(self) -> str:
        """Return the text of the paper that the model summarises."""
        ...


def user_message(*blocks: str) -> list[Message]:
    """Return one user message that joins all non-empty `blocks` with blank lines."""
    return [{"role": "user", "content": "\n\n".join(block for block in blocks if block.strip())}]


def count_request(count: int) -> str:
    """Return the sentence that requests `count` hypotheses."""
    return "Give exactly one hypothesis." if count == 1 else f"Give exactly {count} hypotheses."


def list_form(count: int, sourced: bool = False) -> str:
    """Return the instruction to answer with a numbered list of `count` hypotheses.

    Args:
        count: The number of hypotheses.
        sourced: Whether each hypothesis must name its paper and a quote.
    """
    line = f"<hypothesis> {SOURCE_FORM}" if sourced else "<hypothesis>"
    lines = [f"{n}. {line}" for n in range(1, min(count, 3) + 1)]
    if count > 3:
        lines[-1] = "…"
    return "\n".join([*([SOURCE_INSTRUCTION] if sourced else []), _LIST, *lines])


def label_line(words: TextWords, besides: str = "") -> str:
    """Return the instruction to end the answer with a label.

    Args:
        words: The prompt texts of the data set.
        besides: Text that says what the model may write instead of a label, and when; "" for
            nothing.
    """
    told = f", or, {besides}" if besides else ""
    return (
        f"{_REASON} Then end with one line, where LABEL is {label_choice(words)}{told}:"
        "\nFinal answer: LABEL"
    )


def pattern_line(count: int) -> str:
    """Return the instruction to end the answer with the number of one of `count` patterns."""
    return (
        f"{_REASON} Then end with one line, where NUMBER is from 1 to {count}:"
        "\nChosen pattern: NUMBER"
    )


def pattern_and_label_lines(count: int, words: TextWords) -> str:
    """Return the instruction to end the answer with the number of a pattern and a label."""
    return (
        f"{_REASON} Then end with two lines, where NUMBER is from 1 to {count} and LABEL is "
        f"{label_choice(words)}:\nChosen pattern: NUMBER\nFinal answer: LABEL"
    )


def label_choice(words: TextWords) -> str:
    """Return the possible labels as a phrase for a prompt, such as "one of a, b, c"."""
    names = [quote_label(label) for label in words.labels]
    return f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)


def rows_block(rows: Sequence[Observation], words: TextWords) -> str:
    """Return the part of a prompt that lists labelled rows; "" if there are no rows."""
    return f"Rows with their labels:\n{format_rows(rows, words)}" if rows else ""


def format_wrong_rows(wrong: Sequence[WrongRow], words: TextWords) -> str:
    """Return the part of a prompt that lists wrongly predicted rows with true and predicted labels.

    The result is "" if there are no such rows.
    """
    told = []
    for n, (row, predicted) in enumerate(wrong, start=1):
        said = f"\n   predicted: {predicted}" if predicted else ""
        told.append(words.show_observation(n, row) + said)
    return "\n".join(["Rows that it labels wrongly, with their labels:", *told]) if told else ""


def findings_block(papers: Sequence[Findings]) -> str:
    """Return the part of a prompt that lists papers with their findings; "" if there are no
    papers.
    """
    told = [
        f"Paper {n}: {paper.title}\n{paper.summary.strip()}"
        for n, paper in enumerate(papers, start=1)
    ]
    return "\n\n".join(["Findings of papers:", *told]) if told else ""


def hypotheses_block(heading: str, sentences: Iterable[str]) -> str:
    """Return the part of a prompt that lists hypotheses: a heading and a numbered list."""
    return "\n".join([heading, number_lines(sentences)])


def number_lines(sentences: Iterable[str]) -> str:
    """Return the sentences as a numbered list, one per line, starting at 1."""
    return "\n".join(f"{n}. {said}" for n, said in enumerate(sentences, start=1))


def patterns_block(patterns: Sequence[Pattern], words: TextWords) -> str:
    """Return the part of a prompt that lists patterns.

    A pattern is a hypothesis with rows that it predicted correctly.
    """
    told = []
    for n, (text, rows) in enumerate(patterns, start=1):
        told.append(f"Pattern {n}: {text}" + (f"\n{format_rows(rows, words)}" if rows else ""))
    return "\n\n".join(told)


def input_block(row: Mapping[str, Json]) -> str:
    """Return the part of a prompt that shows the row to label."""
    return f"Input:\n{format_input(row)}"
