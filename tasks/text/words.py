"""Prompt texts about labelled text.

They explain what a hypothesis is, list the labels and columns, show inputs, and describe the
sentences that can be judged without a model. The wording is this project's own. If a data set has
published prompts, agents/prompts/config_prompts.py fills in the published templates instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...records import Agreement, Hypothesis, Json, Observation, View
from ..io.compact_values import join_lines

ANSWER_FORMATS = ("list", "json")
DOES_NOT_APPLY = "does not apply"  # a judge's answer if a hypothesis says nothing about an input
MAX_WRONG_SHOWN = 10  # wrong rows shown in the feedback
MAX_INPUT_CHARACTERS = 400  # characters of an input shown in the feedback

_ROLE = """\
You study what separates texts (or records) with one label from those with another. A hypothesis \
is one sentence that says which property of an input goes with which label. It has to be general: \
it speaks of inputs that nobody has seen yet and names no single row. It has to be testable: \
whoever reads the sentence and one input can tell whether the sentence applies, and which label \
it gives. Say one thing in one sentence, and name the label that follows by its exact name."""

_EXACT = """\
Sentences of some forms are carried out word for word by a program. Use one where it says what \
you mean, for instance (words in capitals stand for your own):
{examples}
Any other clear sentence will do where none of them fits."""

EXACT_EXAMPLES: Mapping[
    str, tuple[str, ...]
] = {  # by shape; docs/reference/exact-sentences.md has the whole grammar
    "text": (
        'If the text mentions one of "WORD", "WORD" or "WORD", the label is LABEL; otherwise LABEL.',
        "If the text has at least NUMBER question marks, the label is LABEL.",
    ),
    "pair": (
        "The text with more words wins.",
        'The text that mentions "WORD" wins.',
    ),
    "fields": (
        "If COLUMN is VALUE, the label is LABEL; otherwise LABEL.",
        "If COLUMN is VALUE and COLUMN is at least NUMBER, the label is LABEL.",
    ),
}

_LIST = """\
Write the hypotheses as a numbered list, each on one line of its own, and nothing else:
1. first hypothesis
2. second hypothesis"""

_JSON = """\
Answer with one JSON object and nothing else: no prose around it, no Markdown.
{"hypotheses": ["first hypothesis", "second hypothesis"]}"""

ANSWER_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "hypotheses": {
            "type": "array",
            "items": {"type": "string", "description": "A hypothesis in one sentence."},
        }
    },
    "required": ["hypotheses"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class TextWords:
    """The prompt texts for one data set.

    Attributes:
        labels: The labels of the data set.
        columns: The description of each input column.
        shape: "text", "pair" or "fields"; see `Columns`.
        description: The subject of the data set.
    """

    labels: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    shape: str = "text"
    description: str = ""

    @staticmethod
    def from_public(public: Mapping[str, Json]) -> TextWords:
        """Return the prompt texts for a problem with the public facts `public`.

        Only the key `labels` of `public` is required.
        """
        return TextWords(
            tuple(public["labels"]),
            public.get("columns", {}),
            public.get("shape", "text"),
            str(public.get("description", "")).strip(),
        )

    @property
    def instructions(self) -> str:
        """The instructions: what a hypothesis is, the data set, and the forms of exact sentences."""
        blocks = [_ROLE, self.about]
        if self.labels:
            blocks.append(_EXACT.format(examples="\n".join(f"- {e}" for e in self.examples)))
        return "\n\n".join(block for block in blocks if block)

    @property
    def about(self) -> str:
        """A description of the data set: its subject, its labels and its columns."""
        lines = [self.description] if self.description else []
        if self.labels:
            lines.append(f"Labels: {', '.join(map(quote_label, self.labels))}.")
        if self.shape == "pair":
            lines.append("An input holds two texts; the label says which of them it is.")
        told = [self._column(name, column) for name, column in self.columns.items()]
        if self.shape == "fields" or any(" (" in line or ": " in line for line in told):
            lines += ["Columns of an input:", *(f"- {line}" for line in told)]
        return "\n".join(lines)

    @property
    def examples(self) -> tuple[str, ...]:
        """Examples of sentences that are judged without a model, with placeholders.

        The examples contain no real columns, values and labels, because such a sentence might be
        the rule that is to be found.
        """
        return EXACT_EXAMPLES[self.shape if self.shape in EXACT_EXAMPLES else "text"]

    @staticmethod
    def _column(name: str, column: Mapping[str, Json]) -> str:
        kind, about = column.get("kind", "text"), str(column.get("about", "")).strip()
        values = column.get("values")
        if kind == "choice" and values:
            kind = "one of " + ", ".join(str(value) for value in values)
        elif kind == "truth":
            kind = "true or false"
        said = name if kind == "text" else f"{name} ({kind})"
        return f"{said}: {about}" if about else said

    def contract(self, answer_format: str) -> str:
        """Return the instructions for writing an answer in the format `answer_format`."""
        return _JSON if answer_format == "json" else _LIST

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return ANSWER_SCHEMA if answer_format == "json" else None

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a row with its number and label, as text."""
        said = format_input(observation.input)
        gap = "\n" if "\n" in said else "\n   "
        return f"{number}. {said}{gap}label: {observation.output}"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the text of a hypothesis."""
        return hypothesis.text

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return feedback on a hypothesis: the numbers of correct rows and of rows without a
        prediction.

        The feedback also shows the first wrong rows, with the expected and the predicted label.
        """
        marks = agreement.marks
        wrong = [n for n, mark in enumerate(marks) if mark is False]
        right = sum(mark is True for mark in marks)
        silent = len(marks) - right - len(wrong)
        lines = [f"The hypothesis is right on {right} of the {right + len(wrong)} rows judged."]
        if silent:
            lines.append(_silence(agreement, silent))
        for n in wrong[:MAX_WRONG_SHOWN]:
            row = view.shown[n]
            lines.append(
                f"Wrong on row {n + 1}: {truncate_middle(format_input(row.input))}\n"
                f"   expected {quote_label(row.output)}, predicted {_predicted(agreement.got[n])}"
            )
        if len(wrong) > MAX_WRONG_SHOWN:
            lines.append(f"Wrong on {len(wrong) - MAX_WRONG_SHOWN} more.")
        return "\n".join(lines)

    def compact(self) -> CompactTextWords:
        """Return a version of these prompt texts with fewer tokens, for small models."""
        return CompactTextWords(self.labels, self.columns, self.shape, self.description)


class CompactTextWords(TextWords):
    """Prompt texts with few tokens, for small models.

    Instead of an explanation of what a hypothesis is, the prompt has an example: a sentence that
    Peirce can evaluate without a model. The labels are on one line.
    """

    @property
    def instructions(self) -> str:
        """The labels on one line, or "" if there are no labels."""
        return f"LABEL: {', '.join(map(quote_label, self.labels))}" if self.labels else ""

    def contract(self, answer_format: str) -> str:
        """Return an example of an answer in the format `answer_format`."""
        example = self.examples[0]
        if answer_format == "json":
            return f'Rule as {{"hypotheses": [{json.dumps(example)}]}}:'
        return f"Rule as 1. {example}"

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return an input and its label on one line, without a number."""
        return f"{join_lines(format_input(observation.input))} -> {observation.output}"

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return feedback on a hypothesis: the numbers of right rows, judged rows and rows without
        a label.
        """
        right = sum(mark is True for mark in agreement.marks)
        wrong = sum(mark is False for mark in agreement.marks)
        silent = len(agreement.marks) - right - wrong
        said = f"{right} of {right + wrong} right"
        return f"{said}, no label for {silent}" if silent else said

    def compact(self) -> CompactTextWords:
        """Return this object, which is compact already."""
        return self


def _silence(agreement: Agreement, silent: int) -> str:
    counts: dict[str, int] = {}
    for mark, got in zip(agreement.marks, agreement.got, strict=True):
        if mark is None:
            reason = str(got.get("undefined", "does_not_apply")).replace("_", " ")
            counts[reason] = counts.get(reason, 0) + 1
    if set(counts) == {DOES_NOT_APPLY}:
        return f"It does not apply to {silent} rows."
    told = ", ".join(f"{reason} ({count})" for reason, count in counts.items())
    return f"It gives no label for {silent} rows: {told}."


def _predicted(got: Mapping[str, Json]) -> str:
    if "undefined" in got:
        return f"none ({str(got['undefined']).replace('_', ' ')})"
    return quote_label(got.get("value"))


def quote_label(label: Json) -> str:
    """Return a label in quotation marks, so that blanks and digits in the label are visible."""
    return f'"{label}"'


def format_input(row: Mapping[str, Json]) -> str:
    """Return a row as text for a prompt.

    If there is only one column, its name is not shown. Otherwise each cell is preceded by its
    column name. If a cell contains a long text, each cell is on a line of its own.
    """
    if len(row) == 1:
        return _value(next(iter(row.values())))
    texts = any(isinstance(value, str) and len(value) > 40 for value in row.values())
    parts = [f"{name}: {_value(value)}" for name, value in row.items()]
    return ("\n   " if texts else "; ").join(parts)


def format_rows(rows: Sequence[Observation], words: TextWords) -> str:
    """Return rows with their labels as text, numbered from 1."""
    return "\n".join(words.show_observation(n, row) for n, row in enumerate(rows, start=1))


def truncate_middle(text: str, characters: int = MAX_INPUT_CHARACTERS) -> str:
    """Return a text without its middle if it is longer than `characters`, otherwise the text
    itself.
    """
    if len(text) <= characters:
        return text
    half = characters // 2
    return f"{text[:half].rstrip()} […] {text[-half:].lstrip()}"


def _value(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()
