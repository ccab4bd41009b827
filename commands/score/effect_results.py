"""The result classes of effects of sentences, which `peirce bank --effects` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..results import Result


class RatioInterval(Result):
    """An odds ratio with the bounds of its 95% confidence interval."""

    value: float
    low: float
    high: float


class ResampleShares(Result):
    """How often an effect is found again in 200 resamples of the rows.

    Attributes:
        direction: share of resamples with an odds ratio on the same side of 1.
        significant: share of resamples whose interval excludes 1 on this side.
    """

    direction: float
    significant: float


class GroupRatio(Result):
    """The odds ratio of one group of rows."""

    group: str
    odds_ratio: RatioInterval


class WithinColumn(Result):
    """The effect of a sentence within the groups of a column (`--within COLUMN`).

    Attributes:
        verdict: holds, confounded, differs, hidden, no_effect or too_few
            (`tools.odds_ratios.GroupComparison`), or own_column if the sentence is about the column.
        reading: the verdict in words.
        odds_ratio: Mantel-Haenszel odds ratio within the groups; None if no rows can be compared.
        share: logarithm of the odds ratio within groups as a share of that over all rows.
        groups: number of groups.
        compared: number of groups within which rows can be compared.
        rows: number of rows in these groups.
        p_difference: p-value of the Breslow-Day test that the groups have different odds ratios;
            None if fewer than two groups are large enough.
        lowest: the large group with the lowest odds ratio.
        highest: the large group with the highest odds ratio.
    """

    column: str
    verdict: str
    reading: str
    odds_ratio: RatioInterval | None
    share: float | None
    groups: int
    compared: int
    rows: int
    p_difference: float | None
    lowest: GroupRatio | None
    highest: GroupRatio | None


class TextEvidence(Result):
    """A row that speaks for or against a sentence.

    Attributes:
        row: number of the row, from 1.
        label: label of the row.
        prediction: label that the sentence gives.
        pieces: by column, the value in pieces; every second piece is what the sentence is about.
    """

    row: int
    label: str
    prediction: str
    pieces: Mapping[str, Sequence[str]]


class Effect(Result):
    """How strongly a sentence is associated with a label that it gives.

    Attributes:
        label: the label.
        other: the label of the rows to compare; None for all rows to which the sentence does not
            give `label`.
        rows: the rows on which the sentence was measured: test, validation, shown or a file.
        n: number of rows.
        covered: number of rows to which the sentence applies.
        coverage: share of rows to which the sentence applies.
        right: number of these rows that have the label that the sentence gives.
        table: counts [[a, b], [c, d]]: the sentence applies to the rows of the first line, and the
            rows of the first column have its label.
        odds_ratio: odds ratio with Woolf's interval; None if it is not defined.
        verdict: supported (the interval is above 1), opposite (it is below 1), unclear (it includes
            1), or undefined.
        stability: None without an odds ratio.
        within: one object for each column of `--within`.
        supporting: up to three texts that speak most clearly for the sentence.
        contradicting: up to three texts that speak most clearly against it.
    """

    label: str
    other: str | None
    rows: str
    n: int
    covered: int
    coverage: float
    right: int
    table: Sequence[Sequence[int]]
    odds_ratio: RatioInterval | None
    verdict: str
    stability: ResampleShares | None
    within: Sequence[WithinColumn]
    supporting: Sequence[TextEvidence]
    contradicting: Sequence[TextEvidence]
