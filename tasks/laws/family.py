"""Family `laws`: a hypothesis is a formula that computes a number from the columns of a row.

The text of a hypothesis is the right-hand side of the law, such as `0.5 * m * v ** 2`. A formula is
no code: it is parsed to an expression tree and evaluated in this process (tools/formulas), without a
sandbox. A law is consistent if the root mean square of its residuals in the shown rows is at most the
tolerance, which follows from the noise in the data (problems.py), and if it is defined in nearly all
rows. Predictions count as equal if they round to the same multiple of two tolerances, so that two
laws whose predictions differ by less than the noise make mostly equal predictions.

The answer formats are:

- `law`, the default: a sentence, then the line `target = formula`;
- `json`: one object {"description", "formula"}, for endpoints that enforce a JSON schema.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...records import (
    Agreement,
    FamilyWords,
    Figure,
    FrontPoint,
    Hypothesis,
    InputSet,
    Json,
    Malformed,
    Observation,
    Oracles,
    Predictions,
    Problem,
    SearchStyle,
    View,
    is_finite_number,
)
from ...tools.description_length import law_bits, text_bits
from ...tools.formulas import (
    Expression,
    FormulaError,
    format_formula,
    iter_nodes,
    list_free_constants,
    residual_bits,
)
from .columns import DEVIATIONS, LawColumns
from .figures import draw_laws
from .words import ANSWER_FORMATS, LawWords

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_UNDEFINED = 0.02  # of the rows: a consistent law may be undefined in so many
UNDEFINED = ("missing_value", "no_number", "infinite")  # why a prediction is undefined
ROUNDING = 2.0**-46  # of the largest output: errors up to this come from the arithmetic alone
LARGEST_CODE = 2**62  # larger predictions count as equal
VALUE_DIGITS = 10  # of a prediction; further digits differ between processors
MAX_LINES = 40  # of an answer in which a law is searched, from its end

_FENCE = re.compile(r"^\s*```\w*\s*$")
_MARKS = re.compile(r"^\s*(?:[-*•]\s+|\d+[.)]\s+|>\s*)?(?:\*\*|`|\$)*|(?:\*\*|`|\$|[.;])*\s*$")
_HEADING = re.compile(r"^(?:final\s+)?(?:law|formula|answer|hypothesis)\s*:\s*", re.IGNORECASE)


def _answer(description: str, law: str) -> str:
    return f"{' '.join(description.split())}\n{law}" if description else law


@dataclass(frozen=True)
class Laws:
    """The family `laws`: formulas on the columns of a table.

    Attributes:
        words: The prompt texts.
    """

    words: FamilyWords = LawWords()  # noqa: RUF009 - it is frozen

    name = "laws"
    answer_formats = ANSWER_FORMATS
    oracle = "formula"  # evaluated in this process
    opens_hidden = True
    least_difference = 2  # codes of nearly equal numbers may differ by 1
    search_style = SearchStyle(
        _answer, facts=lambda public, trade_off: dict(public), likeliest_first=True
    )

    def with_strict_contract(self) -> Laws:
        """Return this object unchanged. An answer that contains a law is never malformed."""
        return self

    def with_task_wording(self, public: Mapping[str, Json]) -> Laws:
        """Return a copy of this family whose prompt texts describe a table.

        `public` holds the public facts of a problem (columns.py).
        """
        return replace(self, words=LawWords(public))

    def parse(
        self, view: View, answer: str, answer_format: str
    ) -> Sequence[Hypothesis | Malformed]:
        """Return the law in a model's answer, or `Malformed` with the reason, as the only element.

        The law is the last line that is a formula; the lines before it are the description.
        """
        columns = LawColumns(view.public)
        if (found := _read_object(answer)) is not None:
            description, formula = found
            return [_hypothesis(columns.read(formula), description)]
        lines = [line for line in answer.splitlines() if not _FENCE.match(line) and line.strip()]
        refused: Malformed | None = None
        for place in range(len(lines) - 1, max(len(lines) - MAX_LINES, 0) - 1, -1):
            law = columns.read(_plain(lines[place]))
            if not isinstance(law, Malformed):
                return [_hypothesis(law, " ".join(" ".join(lines[:place]).split()))]
            refused = refused or law
        return [refused or Malformed("empty", "there is no formula")]

    def parse_hypothesis(self, text: str, view: View) -> Hypothesis | Malformed:
        """Return the law that a user wrote as a hypothesis, or `Malformed` with the reason."""
        return _hypothesis(LawColumns(view.public).read(_plain(text)), "")

    async def measure_agreement(
        self,
        hypothesis: Hypothesis,
        observations: Sequence[Observation],
        view: View,
        oracles: Oracles,
    ) -> Agreement:
        """Compare the predictions of a law with the outputs of rows.

        Returns:
            For each row True if its residual is at most 3 tolerances, False if it is larger, and None
            where the law predicts nothing. `detail` has the root mean square of the residuals
            ("rms", absent if there are none) and the "tolerance".
        """
        columns = LawColumns(view.public)
        law = columns.read(hypothesis.text)
        if isinstance(law, Malformed):
            nothing = {"undefined": law.reason}
            count = len(observations)
            return Agreement((None,) * count, (nothing,) * count, law.reason)
        values, reasons = _predict(columns, law, [one.input for one in observations])
        marks: list[bool | None] = []
        got: list[dict[str, Json]] = []
        residuals: list[float] = []
        for value, reason, row in zip(values.tolist(), reasons.tolist(), observations, strict=True):
            got.append({"undefined": UNDEFINED[reason - 1]} if reason else {"value": _round(value)})
            if reason or not is_finite_number(row.output):
                marks.append(None)
                continue
            residuals.append(value - float(row.output))
            marks.append(abs(residuals[-1]) <= DEVIATIONS * columns.tolerance)
        detail: dict[str, Json] = {"tolerance": columns.tolerance}
        rms = _root_mean_square(residuals)
        if math.isfinite(rms):
            detail["rms"] = float(f"{rms:.6g}")
        return Agreement(tuple(marks), tuple(got), "ok", detail)

    async def predict(
        self, hypotheses: Sequence[Hypothesis], inputs: InputSet, view: View, oracles: Oracles
    ) -> Sequence[Predictions]:
        """Return a code for each prediction: its nearest multiple of two tolerances."""
        columns = LawColumns(view.public)
        found = []
        for one in hypotheses:
            law = columns.read(one.text)
            if isinstance(law, Malformed):
                zeros, ones = np.zeros(len(inputs), np.int64), np.ones(len(inputs), np.uint8)
                found.append(Predictions(zeros, ones, (law.reason,), law.reason))
                continue
            found.append(Predictions(*_codes(columns, law, inputs.inputs), UNDEFINED))
        return found

    def encode_prediction(self, value: Json, problem: Problem) -> int | None:
        """Return the code of a predicted number; None for other values."""
        if not is_finite_number(value):
            return None
        return int(_round_to_codes(np.array([float(value)]), LawColumns(problem.public))[0])

    def is_consistent(self, agreement: Agreement) -> bool:
        """Return whether the root mean square error is within the tolerance, and the law is defined
        in all rows but 2%.
        """
        rms, tolerance = agreement.detail.get("rms"), agreement.detail.get("tolerance")
        if rms is None or tolerance is None:
            return False
        undefined = sum("undefined" in one for one in agreement.got)
        return bool(rms <= tolerance) and undefined <= MOST_UNDEFINED * len(agreement.got)

    def description_bits(self, text: str, problem: Problem) -> float:
        """Return the bits of a law and of its residuals in the shown rows (two-part code)."""
        columns = LawColumns(problem.public)
        law = columns.read(text)
        if isinstance(law, Malformed):
            return text_bits(text)
        values, reasons = _predict(columns, law, [one.input for one in problem.shown])
        outputs = np.array([float(one.output) for one in problem.shown])
        residuals = np.where(reasons == 0, values - outputs, np.nan)
        own = law_bits(law, len(columns.about), columns.dimensions)
        return own + residual_bits(residuals, columns.spread or 1.0)

    def count_explained(self, agreement: Agreement, problem: Problem) -> tuple[int, int]:
        """Return (number of rows in which the law predicts something, number of all shown rows).

        How well it predicts them is part of `description_bits`.
        """
        defined = sum("value" in one for one in agreement.got)
        return defined, len(problem.shown)

    def measure_size_and_error(self, text: str, problem: Problem) -> tuple[int, float] | None:
        """Return the number of columns, numbers, operations and functions in a law, and its root mean
        square error in the shown rows.

        Errors that come from floating-point arithmetic alone count as 0. The result is None for a text
        that is no law, and for a law that is undefined in more than 2% of the rows.
        """
        columns = LawColumns(problem.public)
        law = columns.read(text)
        if isinstance(law, Malformed):
            return None
        values, reasons = _predict(columns, law, [one.input for one in problem.shown])
        outputs = np.array([float(one.output) for one in problem.shown])
        defined = reasons == 0
        rms = _root_mean_square((values - outputs)[defined].tolist())
        if (~defined).sum() > MOST_UNDEFINED * len(outputs) or not math.isfinite(rms):
            return None
        exact = rms <= ROUNDING * np.abs(outputs).max()
        return sum(1 for _ in iter_nodes(law)), 0.0 if exact else float(f"{rms:.6g}")

    def draw_figures(
        self, problem: Problem, hypotheses: Sequence[str], front: Sequence[FrontPoint]
    ) -> Sequence[Figure]:
        """Return the figures of the best laws (figures.py)."""
        columns = LawColumns(problem.public)
        read = [columns.read(one) for one in hypotheses]
        return draw_laws(problem, [one for one in read if not isinstance(one, Malformed)], front)

    def make_tools(self, view: View, oracles: Oracles) -> Sequence[Any]:
        """Return the tool `fit`, which fits the constants of a formula to the shown rows."""
        return (_fit_tool(lambda formula: self.attempt(formula, view, oracles)),)

    async def attempt(self, formula: str, view: View, oracles: Oracles) -> str:
        """Return the reply of the tool `fit` to a formula, as JSON text."""
        columns = LawColumns(view.public)
        try:
            law = columns.parse(_plain(formula), free_constants=True)
        except FormulaError as error:
            return json.dumps({"consistent": False, "error": str(error)}, ensure_ascii=False)
        if list_free_constants(law):
            outputs = [one.output for one in view.shown]
            law = columns.fit(law, [one.input for one in view.shown], outputs).formula
        fitted = Hypothesis(format_formula(law))
        agreement = await self.measure_agreement(fitted, view.shown, view, oracles)
        reply = {
            "formula": fitted.text,
            "rms": agreement.detail.get("rms"),
            "tolerance": agreement.detail["tolerance"],
            "consistent": self.is_consistent(agreement),
            "undefined": sum("undefined" in one for one in agreement.got),
            "of": len(agreement.got),
            "feedback": self.words.show_feedback(view, agreement),
        }
        return json.dumps(reply, ensure_ascii=False)


def _predict(columns: LawColumns, law: Expression, inputs: Sequence[Json]) -> tuple[Any, Any]:
    """Return the values of a law, and 1 plus the index in `UNDEFINED` where it has none, else 0."""
    values, missing = columns.evaluate(law, inputs)
    reasons = np.zeros(len(inputs), np.uint8)
    reasons[np.isinf(values)] = 3
    reasons[np.isnan(values)] = 2
    reasons[missing] = 1
    return values, reasons


def _codes(
    columns: LawColumns, law: Expression, inputs: Sequence[Json]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the codes of the predictions of a law (multiples of two tolerances), and reasons."""
    values, reasons = _predict(columns, law, inputs)
    return _round_to_codes(np.where(reasons == 0, values, 0.0), columns), reasons


def _round_to_codes(values: NDArray[np.float64], columns: LawColumns) -> NDArray[np.int64]:
    with np.errstate(all="ignore"):
        steps = np.rint(values / (2 * columns.tolerance or 1.0))
    return np.clip(steps, -LARGEST_CODE, LARGEST_CODE).astype(np.int64)


def code_predictions(
    columns: LawColumns, law: Expression, inputs: Sequence[Json]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the codes of the predictions of a law for n inputs, and whether each is defined.

    Predictions with one code count as equal.
    """
    codes, reasons = _codes(columns, law, inputs)
    return codes, reasons == 0


def _hypothesis(law: Expression | Malformed, description: str) -> Hypothesis | Malformed:
    return law if isinstance(law, Malformed) else Hypothesis(format_formula(law), description)


def _read_object(answer: str) -> tuple[str, str] | None:
    """Return (description, formula) of an answer that is a JSON object, or None."""
    start, stop = answer.find("{"), answer.rfind("}")
    if start < 0 or '"formula"' not in answer:
        return None
    try:
        found = json.loads(answer[start : stop + 1])
    except (ValueError, RecursionError):
        return None
    formula = found.get("formula") if isinstance(found, dict) else None
    description = found.get("description") if isinstance(found, dict) else None
    if not isinstance(formula, str):
        return None
    return (description if isinstance(description, str) else ""), formula


def _plain(line: str) -> str:
    """Return a line without the marks of a list or of Markdown around it."""
    return _HEADING.sub("", _MARKS.sub("", line)).strip("`$* ")


def _round(value: float) -> float:
    return float(f"{value:.{VALUE_DIGITS}g}")


def _root_mean_square(residuals: Sequence[float]) -> float:
    if not residuals:
        return math.nan
    largest = max(map(abs, residuals))
    if not 0 < largest < math.inf:
        return largest
    return largest * math.sqrt(
        math.fsum((one / largest) ** 2 for one in residuals) / len(residuals)
    )


@cache
def _arguments() -> type[BaseModel]:
    from pydantic import BaseModel, Field

    class FitArguments(BaseModel):
        formula: str = Field(
            description="The right-hand side of a law. Constants that are not known yet are written"
            " c0, c1, …, as in c0 * m * v ** c1."
        )

    return FitArguments


def _fit_tool(attempt: Any) -> Any:
    from langchain_core.tools import StructuredTool

    async def fit(formula: str) -> str:
        return str(await attempt(formula))

    return StructuredTool.from_function(
        coroutine=fit,
        name="fit",
        description=(
            "Fit the constants c0, c1, … of a formula to all rows by least squares. Returns JSON: the"
            " formula with numbers for its constants, its root mean square error (rms), the largest"
            " error of a good law (tolerance), whether it is consistent, and the worst rows."
        ),
        args_schema=_arguments(),
    )


FAMILY = Laws()
