"""Family `intervals`: a hypothesis is two whole numbers, and an input is in when it lies between them.

What GEAR needs of a domain: a sample space (task.py), an oracle (`Contains`), equality of predictions
(codes 0 and 1), and a size (the number of inputs). Its oracle runs in this process, since a hypothesis is
data and no code; another family would start a process in `open_contains`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from peirce.records import (
    Agreement,
    Hypothesis,
    InputSet,
    Json,
    Limits,
    Malformed,
    Observation,
    OracleKind,
    Oracles,
    OracleSettings,
    Outcome,
    Predictions,
    SearchStyle,
    Unavailable,
    View,
)

NAME = "intervals"
_TWO_NUMBERS = re.compile(r"\A\s*(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})\s*\Z")


def bounds_of(text: str) -> tuple[int, int] | None:
    """The two numbers of "3..17"; None for another text."""
    found = _TWO_NUMBERS.match(text)
    return (int(found[1]), int(found[2])) if found else None


class Contains:
    """The oracle, open: which inputs lie within the bounds. A `records.OpenOracle`."""

    def with_limits(self, limits: Limits) -> Contains:
        return self

    def layers(self) -> Mapping[str, bool]:
        return {}

    async def __call__(self, text: str, inputs: InputSet) -> np.ndarray[Any, Any]:
        low, high = bounds_of(text) or (0, -1)
        return np.array([low <= one <= high for one in inputs.inputs], np.int64)

    async def close(self) -> None:
        """Nothing was opened."""


async def open_contains(settings: OracleSettings) -> Contains:
    return Contains()


CONTAINS = OracleKind(
    name="contains",
    open=open_contains,
    request=lambda limits, text, inputs: {
        "tool": "contains", "hypothesis": text, "inputs": inputs.digest
    },
    outcome=lambda codes, text, inputs: Outcome({}, {"codes": codes}),
    result=lambda outcome: outcome.vectors["codes"],
    missing=Unavailable("This session has its journal alone: no interval can be applied."),
)  # fmt: skip


class Words:
    """The family's part of every prompt."""

    instructions = (
        "A hidden rule accepts the whole numbers between two bounds, both included. Say the bounds."
    )

    def contract(self, answer_format: str) -> str:
        return "Answer with one line, the lower and the upper bound, as in: 3..17"

    def schema(self, answer_format: str) -> Mapping[str, Json] | None:
        return None

    def show_observation(self, number: int, observation: Observation) -> str:
        return f"{number}. {observation.input} is {'in' if observation.output else 'out'}"

    def show_hypothesis(self, hypothesis: Hypothesis) -> str:
        return hypothesis.text

    def show_feedback(self, view: View, agreement: Agreement) -> str:
        wrong = [
            one for one, mark in zip(view.shown, agreement.marks, strict=True) if mark is not True
        ]
        return "; ".join(self.show_observation(n, one) for n, one in enumerate(wrong[:3], 1))

    def compact(self) -> Words:
        return self


@dataclass(frozen=True)
class Intervals:
    """The family, as the registry names it."""

    words: Words = Words()  # noqa: RUF009 - it holds nothing

    name = NAME
    answer_formats = ("bounds",)
    oracle = "contains"
    oracle_kind = CONTAINS
    opens_hidden = True
    search_style = SearchStyle(lambda description, source: source)

    def with_strict_contract(self) -> Intervals:
        return self

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        lines = [line for line in answer.splitlines() if line.strip()]
        return [self.parse_hypothesis(lines[-1] if lines else "", view)]

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        found = bounds_of(text)
        if found is None:
            return Malformed("no_bounds", f"two numbers as in 3..17 are needed: {text[:40]}")
        return Hypothesis(f"{found[0]}..{found[1]}")

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        inputs = InputSet("observations", tuple(one.input for one in observations))
        codes = await oracles.custom["contains"](hypothesis.text, inputs)
        marks = tuple(
            bool(code) == one.output for code, one in zip(codes, observations, strict=True)
        )
        return Agreement(marks, tuple({"value": bool(code)} for code in codes))

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        apply = oracles.custom["contains"]
        return [
            Predictions(await apply(one.text, inputs), np.zeros(len(inputs), np.uint8))
            for one in hypotheses
        ]

    def is_consistent(self, agreement: Agreement) -> bool:
        return all(mark is True for mark in agreement.marks)

    def code_names(self, problem: object) -> Sequence[str]:
        """Of predictions, for the page."""
        return ("out", "in")

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """One that a model may call before it answers: a trial on the shown numbers."""
        if "contains" not in oracles.custom:
            return ()
        from langchain_core.tools import StructuredTool

        async def contains(bounds: str) -> str:
            """Try bounds such as 3..17 on all numbers shown."""
            read = self.parse_hypothesis(bounds, view)
            if isinstance(read, Malformed):
                return json.dumps({"error": read.detail})
            agreement = await self.measure_agreement(read, view.shown, view, oracles)
            said = {"consistent": self.is_consistent(agreement)}
            return json.dumps(said | {"wrong": self.words.show_feedback(view, agreement)})

        return (StructuredTool.from_function(coroutine=contains, name="contains"),)


FAMILY = Intervals()
