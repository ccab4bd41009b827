"""Prompt texts for laws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...records import Agreement, Hypothesis, Json, Observation, View
from ...tools.formulas import FUNCTIONS
from ..io.compact_values import join_lines
from ..io.messages import shorten

ANSWER_FORMATS = ("law", "json")
MAX_ROWS = 60  # that a prompt shows; all rows judge a law
MAX_VALUES = 12  # of a category that are listed
WORST_ROWS = 3  # that feedback shows

_LANGUAGE = f"""\
The formula
- uses the columns by the names above, numbers, pi and e, and the operators + - * / **;
- may use {", ".join(FUNCTIONS)}, and where(condition, a, b) with a comparison such as x > 2;
- compares a column of texts with a text, as in kind == 'steel';
- has numbers for all constants."""

_LAW = f"""\
Answer with one sentence that says what the law means, then the law on a line of its own:
TARGET = FORMULA
{_LANGUAGE}
The form of an answer, for another problem:
The energy grows with the mass and with the square of the speed.
energy = 0.5 * mass * speed ** 2"""

_JSON = f"""\
Answer with one JSON object and nothing else.
"description": what the law means, in one sentence.
"formula": the right-hand side of the law.
{_LANGUAGE}
The form of an answer, for another problem:
{{"description": "The energy grows with the square of the speed.",
 "formula": "0.5 * mass * speed ** 2"}}"""

ANSWER_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"description": {"type": "string"}, "formula": {"type": "string"}},
    "required": ["description", "formula"],
    "additionalProperties": False,
}

_INTRODUCTION = (
    "A hypothesis is a law: one formula that computes a number from the other columns of a table. It"
    " should agree with the measurements up to their noise, and it will also be applied to rows beyond"
    " the range of the shown ones. Of two laws that agree equally well, the simpler one is better."
)


@dataclass(frozen=True)
class LawWords:
    """Prompt texts for the laws of one table.

    Attributes:
        public: The public facts of the problem (columns.py); empty for texts that name no column.
    """

    public: Mapping[str, Json] = field(default_factory=dict)

    @property
    def instructions(self) -> str:
        """The explanation of a law, with the columns of the table."""
        if not self.public:
            return _INTRODUCTION
        lines = [_INTRODUCTION, "", f"To explain: {self._target()}{self._noise()}.", "Columns:"]
        lines += [f"- {self._column(name)}" for name in self.public["columns"]]
        rows = int(self.public.get("rows", 0))
        if rows > MAX_ROWS:
            lines += ["", f"{MAX_ROWS} of {rows:,} rows are shown here; a law is judged on all."]
        return "\n".join(lines)

    def contract(self, answer_format: str) -> str:
        """Return the instructions for writing an answer in the format `answer_format`."""
        text = {"law": _LAW, "json": _JSON}[answer_format]
        return text.replace("TARGET", self._target_name())

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        """Return the JSON schema of an answer, or None for a format that is not JSON."""
        return ANSWER_SCHEMA if answer_format == "json" else None

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a row as text for a prompt; "" for a row that a prompt leaves out."""
        if not self._is_shown(number):
            return ""
        cells = ", ".join(f"{self._name(name)} = {_cell(one)}" for name, one in _cells(observation))
        return f"Row {number}: {cells}: {self._target_name()} = {_cell(observation.output)}"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the formula of a law, with its description."""
        law = f"{self._target_name()} = {hypothesis.text}"
        return f"{law}\n{hypothesis.description}" if hypothesis.description else law

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return how large the error of a law is, and the rows in which it is largest."""
        lines = [_describe_error(agreement)]
        for place, residual in _worst_rows(view, agreement):
            row = self._cells_text(view.shown[place])
            lines.append(
                f"Row {place + 1} ({row}): the law is {_cell(abs(residual))}"
                f" {'too high' if residual > 0 else 'too low'}"
            )
        return "\n".join(lines)

    def compact(self) -> LawWords:
        """Return a version of these prompt texts with fewer tokens."""
        return CompactLawWords(self.public)

    def _cells_text(self, observation: Observation) -> str:
        return ", ".join(f"{self._name(name)} = {_cell(one)}" for name, one in _cells(observation))

    def _is_shown(self, number: int) -> bool:
        """Return whether a prompt shows a row; of many rows it shows some, spread evenly."""
        rows = int(self.public.get("rows", 0))
        if rows <= MAX_ROWS:
            return True
        return number * MAX_ROWS // rows > (number - 1) * MAX_ROWS // rows

    def _name(self, column: str) -> str:
        return str(self.public.get("identifiers", {}).get(column, column))

    def _target_name(self) -> str:
        return self._name(str(self.public.get("target", "target")))

    def _target(self) -> str:
        unit = self.public.get("target_unit")
        return self._target_name() + (f", in {unit}" if unit else "")

    def _noise(self) -> str:
        noise, spread = float(self.public.get("noise", 0)), float(self.public.get("spread", 0))
        if spread and noise > 1e-6 * spread:
            return f", measured with an error of about {noise:.2g}"
        return ", measured nearly without error"

    def _column(self, name: str) -> str:
        about = self.public["columns"][name]
        unit = f", in {about['unit']}" if about.get("unit") else ""
        own = self._name(name)
        called = "" if own == name else f" (the column {name!r})"
        if "values" in about:
            values = about["values"]
            listed = ", ".join(repr(shorten(one, 30)) for one in values[:MAX_VALUES])
            others = f" and {len(values) - MAX_VALUES} more" if len(values) > MAX_VALUES else ""
            return f"{own}{called}: a text, {listed}{others}"
        kind = "whole numbers" if about.get("whole") else "numbers"
        return f"{own}{called}: {kind} from {_cell(about['low'])} to {_cell(about['high'])}{unit}"


class CompactLawWords(LawWords):
    """Prompt texts for laws with few tokens."""

    @property
    def instructions(self) -> str:
        """The columns, on one line."""
        if not self.public:
            return ""
        names = ", ".join(self._name(name) for name in self.public["columns"])
        return f"Law for {self._target_name()} from {names}."

    def contract(self, answer_format: str) -> str:
        """Return the beginning of an answer in the format `answer_format`, on one line."""
        if answer_format == "json":
            return 'Law as {"description": "...", "formula": "..."}:'
        return f"Law as {self._target_name()} = formula:"

    def show_observation(self, number: int, observation: Observation) -> str:
        """Return a row on one line; "" for a row that a prompt leaves out."""
        if not self._is_shown(number):
            return ""
        cells = " ".join(f"{self._name(name)}={_cell(one)}" for name, one in _cells(observation))
        return f"{cells} -> {_cell(observation.output)}"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        """Return the formula of a law on one line."""
        return join_lines(hypothesis.text)

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        """Return how large the error of a law is, on one line."""
        return _describe_error(agreement)

    def compact(self) -> LawWords:
        """Return this object, which is compact already."""
        return self


def _cells(observation: Observation) -> list[tuple[str, Json]]:
    given = observation.input
    return list(given.items()) if isinstance(given, Mapping) else [("input", given)]


def _cell(value: Json) -> str:
    return f"{value:.8g}" if isinstance(value, float) else repr(value)


def _describe_error(agreement: Agreement) -> str:
    rms, tolerance = agreement.detail.get("rms"), agreement.detail.get("tolerance")
    undefined = sum("undefined" in one for one in agreement.got)
    if rms is None or tolerance is None:
        return f"The law is undefined in all {len(agreement.got):,} rows."
    enough = "at most" if rms <= tolerance else "more than"
    said = f"The root mean square error is {rms:.4g}, {enough} the {tolerance:.4g} of a good law."
    return said + (f" It is undefined in {undefined:,} rows." if undefined else "")


def _worst_rows(view: View, agreement: Agreement) -> list[tuple[int, float]]:
    """Return (index of the row, residual) of the rows in which a law is most wrong."""
    found = [
        (place, float(got["value"]) - float(view.shown[place].output))
        for place, got in enumerate(agreement.got[: len(view.shown)])
        if "value" in got and agreement.marks[place] is False
    ]
    finite = [one for one in found if math.isfinite(one[1])]
    return sorted(finite, key=lambda one: -abs(one[1]))[:WORST_ROWS]
