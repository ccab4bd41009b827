"""Effects of sentences as JSON, and the verdict within groups in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Json
from ..tools.odds_ratios import DIFFERENT, HALF, Difference, OddsRatio
from .sentence_effects import SentenceEffect, WithinGroups
from .telling_texts import TellingText

MAX_NAME = 40  # characters of the name of a group
DIGITS = 6  # of a number in JSON


def effect_as_json(effect: SentenceEffect) -> dict[str, Json]:
    """Return an effect as JSON. The row numbers of texts are counted from 1."""
    stability = effect.stability
    return {
        "label": effect.label,
        "other": effect.other,
        "rows": effect.rows,
        "n": effect.n,
        "covered": effect.covered,
        "coverage": _rounded(effect.covered / effect.n) if effect.n else 0.0,
        "right": effect.right,
        "table": [list(line) for line in effect.table],
        "odds_ratio": _ratio(effect.ratio),
        "verdict": effect.verdict,
        "stability": stability
        and {"direction": stability.direction, "significant": stability.significant},
        "within": [_within(one, effect.ratio) for one in effect.within],
        "supporting": [_text(one) for one in effect.supporting],
        "contradicting": [_text(one) for one in effect.contradicting],
    }


def _ratio(ratio: OddsRatio | None) -> Json:
    if ratio is None:
        return None
    return {
        "value": _rounded(ratio.value),
        "low": _rounded(ratio.low),
        "high": _rounded(ratio.high),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _text(text: TellingText) -> dict[str, Json]:
    return {
        "row": text.place + 1,
        "label": text.label,
        "prediction": text.prediction,
        "pieces": {name: list(pieces) for name, pieces in text.pieces.items()},
    }


def _within(one: WithinGroups, raw: OddsRatio | None) -> dict[str, Json]:
    found, difference = one.comparison, one.comparison.difference
    extremes: dict[str, Json] = {}
    if difference is not None:
        for name, (place, ratio) in (
            ("lowest", difference.lowest), ("highest", difference.highest)
        ):  # fmt: skip
            extremes[name] = {"group": one.names[place], "odds_ratio": _ratio(ratio)}
    return {
        "column": one.column,
        "verdict": found.verdict,
        "reading": describe_within(one, raw),
        "odds_ratio": _ratio(found.within),
        "share": None if found.share is None else _rounded(found.share),
        "groups": found.groups,
        "compared": found.compared,
        "rows": found.rows,
        "p_difference": None if difference is None else _rounded(difference.p),
        "lowest": extremes.get("lowest"),
        "highest": extremes.get("highest"),
    }


def format_ratio(ratio: OddsRatio | None) -> str:
    """Return an odds ratio with its interval, such as "2.10 [1.50, 2.94]"."""
    if ratio is None:
        return "–"
    value, low, high = (format_number(one) for one in (ratio.value, ratio.low, ratio.high))
    return f"{value} [{low}, {high}]"


def format_number(value: float) -> str:
    """Return a ratio with two decimals; with three digits if it is very large or small."""
    return f"{value:.2f}" if 0.1 <= value < 1000 else f"{value:.3g}"


def describe_within(one: WithinGroups, raw: OddsRatio | None) -> str:
    """Return the verdict on an effect within groups, in plain words.

    Args:
        one: The effect within the groups of a column.
        raw: The odds ratio over all rows.
    """
    found, by = one.comparison, one.column
    ratio = f"odds ratio {format_ratio(found.within)}"
    groups = f"{found.compared:,} of {found.groups:,} groups"
    match found.verdict:
        case "holds":
            parts = [f"HOLDS within {by}: {ratio} in {groups}"]
            if found.share is not None and found.share < HALF:
                parts.append(f"more than half of the effect over all rows is due to {by}")
            if found.difference is not None and found.difference.p < DIFFERENT:
                parts.append(f"its strength differs: {_span(found.difference, one.names)}")
            return "; ".join(parts)
        case "confounded" if not found.separable and (
            found.within is None or raw is None or found.within.side != -raw.side
        ):
            return (
                f"CONFOUNDED with {by}: the sentence applies to all or none of the rows of nearly"
                f" every group, so its effect cannot be told from that of {by}"
            )
        case "confounded":
            is_reversed = found.within is not None and found.within.side
            change = "the effect is reversed" if is_reversed else "little of the effect is left"
            return (
                f"CONFOUNDED by {by}: within groups {change}, {ratio} in {groups} (over all rows"
                f" {format_ratio(raw)})"
            )
        case "differs":
            assert found.difference is not None
            return f"DIFFERS by {by}: {_span(found.difference, one.names)}"
        case "hidden":
            return f"HIDDEN by {by}: no clear effect over all rows, but {ratio} in {groups}"
        case "own_column":
            return f"NOT COMPARED within {by}: the sentence is about {by} itself"
        case "no_effect":
            return f"NO CLEAR EFFECT, neither over all rows nor within {by}"
    if found.within is not None and (found.share or 0) >= HALF:
        return f"TOO FEW rows to tell within {by}: {ratio} in {groups}, much as over all rows"
    return f"TOO FEW rows to compare within {by}: {found.rows:,} rows in {groups}"


def _span(difference: Difference, names: Sequence[str]) -> str:
    (low, lowest), (high, highest) = difference.lowest, difference.highest
    return (
        f"from {format_ratio(lowest)} in {_cut(names[low])} to {format_ratio(highest)} in"
        f" {_cut(names[high])}"
    )


def _cut(name: str) -> str:
    one_line = " ".join(name.split())
    return one_line if len(one_line) <= MAX_NAME else one_line[: MAX_NAME - 1] + "…"
