"""The classes of findings: what `Session.findings` returns, and what it holds."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, overload

from ...records import Json, UsageError
from ..results import Result, optional_key


class RightCount(Result):
    """The number of observations on which a hypothesis is right, out of `of` observations.

    Attributes:
        covered: for a sentence that does not apply to every row, the number of rows for which it
            predicts a label; None, and absent from the JSON, otherwise.
        rms: for a law, the root mean square of its residuals in these observations; None, and
            absent from the JSON, otherwise.
    """

    right: int
    of: int
    covered: int | None = None
    rms: float | None = None


class Disagreement(Result):
    """An input on which the two best hypotheses of a problem disagree.

    Attributes:
        input: an input of the sample space.
        outputs: the predictions of the best and the second best hypothesis, as text: a label as it
            is, and any other value in Python notation, as in 24 and '24'; None if the sandbox that
            computes them cannot be opened here.
    """

    input: Json
    outputs: Sequence[str | None]


class Together(Result):
    """How well all hypotheses of a bank together predict the labels of held-out rows.

    Attributes:
        hypotheses: the number of hypotheses in the bank.
        strategy: how the bank predicts labels, for example weighted.
        right: the number of rows whose label is predicted correctly.
        of: the number of rows.
        rows: the kind of rows: test, other-source or validation.
        shown: the number of shown rows.
        training: the number of rows from which the shown rows were drawn.
    """

    hypotheses: int
    strategy: str
    right: int
    of: int
    rows: str
    shown: int
    training: int


class FrontHypothesis(Result):
    """A hypothesis for which no other one of its problem is smaller and has a smaller error.

    Attributes:
        hypothesis: the formula.
        size: its number of columns, numbers, operations and functions.
        rms: its root mean square error in the shown observations, in the unit of the target.
        chosen: whether it is the best hypothesis of the problem, which is listed in any case.
    """

    hypothesis: str
    size: int
    rms: float
    chosen: bool


class Finding(Result):
    """A hypothesis of a problem, with its rank among the hypotheses of the problem.

    Attributes:
        rank: the rank; the best hypothesis of the problem has rank 1.
        hypothesis: the source of the program, the formula, or the sentence.
        reading: what the hypothesis says, in one line.
        shown: the number of shown observations on which the hypothesis is right.
        held_out: the number of held-out observations on which the hypothesis is right; None if
            there are none, or if only a model could apply the hypothesis to them.
        consistent: whether the session judged the hypothesis consistent with the shown
            observations.
        bits: the description length of the hypothesis, in bits.
        disagreement: for the best hypothesis, an input for which the second best hypothesis makes
            another prediction; otherwise None.
        front: for the best law, the front of size against error (`reports/front.py`), from the
            smallest to the largest law; empty, and absent from the JSON, otherwise.
        together: for the best sentence about labelled rows, how well all sentences of the bank
            predict held-out rows together; None, and absent from the JSON, otherwise.
        summary: the reading with long lists shortened, as the screen shows it; None, and absent from
            the JSON, if no list is long.
        found_by: who found the hypothesis first: a model ("openai:NAME"), or the search ("search,
            before the first request", "search, which repaired an answer of openai:NAME", …); None,
            and absent from the JSON, if only one model answers in the session.
        after_hint: the newest hint of a person that the model had read when it first gave the
            hypothesis; None, and absent from the JSON, without one.
    """

    problem: str
    rank: int
    hypothesis: str
    reading: str
    shown: RightCount
    held_out: RightCount | None
    consistent: bool
    bits: float
    disagreement: Disagreement | None
    front: Sequence[FrontHypothesis] = optional_key(default_factory=list)
    together: Together | None = optional_key(default_factory=lambda: None)
    summary: str | None = optional_key(default_factory=lambda: None)
    found_by: str | None = optional_key(default_factory=lambda: None)
    after_hint: str | None = optional_key(default_factory=lambda: None)


class Findings(Sequence[Finding]):
    """The findings of one or more problems, sorted by problem and rank. Notebooks show them as a
    table.
    """

    def __init__(self, rows: Iterable[Finding]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        """Return a finding, or the findings of a slice."""
        return Findings(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        lines = [f"{row.problem} {row.rank}. {row.summary or row.reading}" for row in self._rows]
        return "\n".join(lines) or "no findings"

    def to_rows(self) -> list[dict[str, Json]]:
        """Return one flat dict per finding.

        The counts of held-out observations are None if there are no held-out observations. The
        input on which the two best hypotheses of a problem disagree is JSON text. It is None, with
        the two predictions, except in the row of the best hypothesis.
        """
        return [dict(zip(COLUMNS, _flatten(row), strict=True)) for row in self._rows]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame; pandas must be installed."""
        return _import("pandas").DataFrame(self.to_rows(), columns=list(COLUMNS))

    def to_polars(self) -> Any:
        """Return the rows as a Polars DataFrame; polars must be installed."""
        polars = _import("polars")
        types = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
        return polars.DataFrame(
            self.to_rows(), schema={name: types[kind] for name, kind in COLUMNS.items()}
        )

    def _repr_html_(self) -> str:
        """Return the findings for notebooks: an HTML table, and sentences on disagreements."""
        from ...reports.screen.findings import describe_disagreement

        if not self._rows:
            return "<p>No hypothesis was found.</p>"
        cells = [
            (
                row.problem,
                str(row.rank),
                row.summary or row.reading,
                row.hypothesis if " ".join(row.hypothesis.split()) != row.reading else "",
                _share(row.shown),
                _share(row.held_out),
            )
            for row in self._rows
        ]
        heads = ("problem", "rank", "reading", "hypothesis", "shown", "held out")
        kept = [
            n for n, name in enumerate(heads) if name != "hypothesis" or any(c[n] for c in cells)
        ]
        head = "".join(f"<th style='text-align:left'>{heads[n]}</th>" for n in kept)
        style = "text-align:left;white-space:pre-wrap"
        body = "".join(
            f"<tr>{''.join(f'<td style={style!r}>{html.escape(row[n])}</td>' for n in kept)}</tr>"
            for row in cells
        )
        several = len({row.problem for row in self._rows}) > 1
        parted = "".join(
            f"<p>{html.escape(f'{row.problem}: ' if several else '')}"
            f"{html.escape(describe_disagreement(row.disagreement))}</p>"
            for row in self._rows
            if row.disagreement is not None
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{parted}"


# The columns of a table of findings, with their types.
COLUMNS: Mapping[str, type] = {
    "problem": str,
    "rank": int,
    "reading": str,
    "hypothesis": str,
    "shown_right": int,
    "shown": int,
    "shown_covered": int,
    "held_out_right": int,
    "held_out": int,
    "held_out_covered": int,
    "consistent": bool,
    "bits": float,
    "disagreement_input": str,
    "first_prediction": str,
    "second_prediction": str,
}


def _flatten(row: Finding) -> list[Json]:
    """Return the values of the `COLUMNS` of a finding."""
    values: list[Json] = [row.problem, row.rank, row.reading, row.hypothesis]
    for count in (row.shown, row.held_out):
        values += [None] * 3 if count is None else [count.right, count.of, _covered(count)]
    parted = row.disagreement
    values += [row.consistent, row.bits]
    if parted is None:
        return [*values, None, None, None]
    return [*values, json.dumps(parted.input, default=str), *parted.outputs]


def _covered(count: RightCount) -> int:
    return count.of if count.covered is None else count.covered


def _import(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise UsageError(f"{package} is not installed: run `pip install {package}`") from None


def _share(count: RightCount | None) -> str:
    if count is None:
        return ""
    if count.covered is None:
        error = "" if count.rms is None else f", error {count.rms:.4g}"
        return f"{count.right} of {count.of}{error}"
    return f"{count.right} of {count.covered} covered (of {count.of})"
