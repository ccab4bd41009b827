"""Terminal output of `peirce rate`, `peirce agree`, `peirce predict` and `peirce tasks audit`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ...records import Json
from ..papers.hypobench.metrics import label_scores
from .text import create_table, escape_unprintable, format_count, to_one_line

EXACT_SCORES_NOTE = (
    "The scores fdr, rc, hdr, precision and similar come from exact rules, not from a model."
)
_COLUMNS = ("n", "agreement", "within_one", "kappa", "weighted_kappa")


def print_ratings(out: Console, rows: Iterable[Mapping[str, Json]]) -> None:
    """Print one line per rating as soon as it arrives, and the scores of each problem with their
    rater.
    """
    for row in rows:
        if row["kind"] != "summary":
            score = "unreadable" if row["score"] is None else f"{row['score']:g}"
            against = f" | {to_one_line(str(row['true']), 60)}" if row["true"] else ""
            line = (
                f"{row['kind']:<13}{score:>6}  {to_one_line(str(row['hypothesis']), 60)}{against}"
            )
            out.print(escape_unprintable(line), soft_wrap=True)
            continue
        out.print(
            escape_unprintable(
                f"{row['problem']}: {row['hypotheses']} hypotheses, rated by {row['by']}"
            ),
            soft_wrap=True,
        )
        for name, told in row["scores"].items():
            parts = [f"{key} {_number(value)}" for key, value in told.items()]
            out.print(escape_unprintable(f"  {name:<13}{', '.join(parts)}"), soft_wrap=True)


def print_agreement(out: Console, rows: Sequence[Mapping[str, Json]]) -> None:
    """Print the agreement between raters, or a summary of a rating sheet that was written."""
    if rows and "sheet" in rows[0]:
        told = rows[0]
        out.print(
            escape_unprintable(f"written   {told['sheet']}: {told['items']} pairs"), soft_wrap=True
        )
        for problem, counts in told["strata"].items():
            parts = ", ".join(f"{count} with score {score}" for score, count in counts.items())
            out.print(escape_unprintable(f"  {to_one_line(problem, 40)}: {parts}"), soft_wrap=True)
        return
    shown = create_table("question", "one", "other", *_COLUMNS, numbers=range(3, 3 + len(_COLUMNS)))
    for row in rows:
        names = (to_one_line(str(row[name]), 40) for name in ("question", "one", "other"))
        shown.add_row(*names, *(_number(row[name]) for name in _COLUMNS))
    out.print(shown)


def has_exact_discovery(scored: Mapping[str, Json]) -> bool:
    """Return whether a session has discovery scores that come from exact rules."""
    return (scored["metrics"].get("hdr") or {}).get("mean") is not None


def print_rater_scores(out: Console, scored: Mapping[str, Json]) -> None:
    """Print the discovery scores of a session on labelled text, with the raters that gave them."""
    if has_exact_discovery(scored):
        out.print(EXACT_SCORES_NOTE, soft_wrap=True)
    for one in scored.get("rated", ()):
        told = [
            f"{name} hdr {_number(scores['hdr'])} (fdr {_number(scores['fdr'])}, rc"
            f" {_number(scores['rc'])})" if "hdr" in scores else f"{name} {_number(scores['mean'])}"
            for name, scores in one["scores"].items()
        ]  # fmt: skip
        out.print(
            escape_unprintable(
                f"{to_one_line(one['problem'], 40)}, rated by {one['by']}: {', '.join(told)}"
            ),
            soft_wrap=True,
        )


def _number(value: Json) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


# --- Output of `peirce predict`: one line per row, then the number of correct rows.

DECISION_TEXTS = {
    "hypothesis": "predicted by one sentence",
    "vote": "predicted by vote",
    "weights": "predicted by a weighted vote of all sentences",
    "model": "predicted by the model",
    "best": "predicted by the best sentence, because no other sentence applies",
    "no_pattern": "predicted by the best sentence, because the model named none",
    "majority": "predicted as the majority label, because no sentence applies",
    "unreadable": "not predicted, because the judge's answer names no label",
    "missing_value": "not predicted, because the sentences need a value that is missing",
    "needs_model": "not predicted, because this needs a model (--judge-model)",
    "oracle": "predicted by the best consistent hypothesis",
}  # The keys are the values of `graphs.inference.Decision`.


def print_predictions(out: Console, rows: Iterable[Mapping[str, Json]]) -> None:
    """Print each prediction as soon as it arrives, then a summary.

    The summary has accuracy and macro F1 over the rows with a known label, or the number of correct
    rows for rows with a known output.
    """
    how: Counter[str] = Counter()
    undefined: Counter[str] = Counter()
    gold: list[str] = []
    said: list[str | None] = []
    right: list[bool] = []
    applied = ""
    for row in rows:
        if row["how"] == "oracle" and row["reason"]:
            undefined[row["reason"]] += 1
        else:
            how[row["how"]] += 1
        out.print(_line(row), soft_wrap=True)
        if "label" not in row:
            applied = row["rule"]
            right += [row["right"]] if "expected" in row else []
        elif "expected" in row:
            gold.append(row["expected"])
            said.append(row["label"])
    ways = [f"{count:,} {DECISION_TEXTS.get(name, name)}" for name, count in how.items()]
    ways += [_format_undefined(undefined)] * bool(undefined)
    rows_count = format_count(how.total() + undefined.total(), "row")
    out.print(escape_unprintable(f"{rows_count}: {'; '.join(ways)}"), soft_wrap=True)
    if gold:
        accuracy, f1 = label_scores(gold, said)
        out.print(f"{len(gold):,} rows have a label: accuracy {accuracy:.3f}, F1 {f1:.3f}")
    if applied:
        out.print(escape_unprintable(to_one_line(applied, 200)), soft_wrap=True)
    if right:
        out.print(f"{format_count(len(right), 'row')} with an output: {sum(right):,} correct")


def _format_undefined(undefined: Mapping[str, int]) -> str:
    """Return the number of rows without a prediction by reason, as text."""
    parts = ", ".join(f"{count:,} {reason}" for reason, count in undefined.items())
    return f"not predicted: {parts}"


def print_prediction_file(out: Console, written: Mapping[str, Json]) -> None:
    """Print how many rows of a prediction file have a prediction, and why other rows have none."""
    undefined = [f"; {_format_undefined(written['undefined'])}"] * bool(written["undefined"])
    out.print(
        escape_unprintable(
            f"written   {written['file']}: {format_count(written['rows'], 'row')},"
            f" {written['predicted']:,} predicted{''.join(undefined)}"
        ),
        soft_wrap=True,
    )
    out.print(escape_unprintable(f"columns   {', '.join(written['columns'])}"), soft_wrap=True)
    if "expected" in written:
        out.print(
            f"{written['expected']:,} of the rows have an output: {written['right']:,} correct"
        )


def _line(row: Mapping[str, Json]) -> Text:
    place = f"{to_one_line(str(row['world']), 24)} {to_one_line(str(row['element']), 24)}  " if (
        "element" in row
    ) else ""  # fmt: skip
    line = Text.assemble(f"row {row['row']:>5}  {place}", (f"{_format_outcome(row):<16}", "bold"))
    if "expected" in row:
        mark = (
            ("correct", "green")
            if row["right"]
            else ((f"wrong, expected {_short(row['expected'])}"), "red")
        )
        line.append(f"  {mark[0]:<8}", style=mark[1])
    if row["agreement"] is not None and row["agreement"] < 1:
        line.append(f"  agreement {row['agreement']:.2f}", style="dim")
    if row.get("valid", True) is not True:
        said = "is not valid" if row["valid"] is False else "could not be judged"
        line.append(f"  the rule {said} in this world", style="yellow")
    if "label" not in row:  # All rows share one hypothesis.
        return line
    line.append(f"  {DECISION_TEXTS.get(row['how'], row['how'])}", style="dim")
    if row["rule"]:
        before = ", above all: " if row["how"] == "weights" else ": "
        line.append(f"{before}{to_one_line(row['rule'], 100)}", style="dim")
    return line


def _format_outcome(row: Mapping[str, Json]) -> str:
    """Return the label or the prediction of a row as text."""
    if "label" not in row:
        return f"({row['reason']})" if row["reason"] else _short(row["prediction"])
    return "(no label)" if row["label"] is None else _short(row["label"])


def _short(value: Json) -> str:
    return to_one_line(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 40
    )


# --- Output of `peirce tasks audit`: one line per check with its first failures, then statistics.


def print_audit(out: Console, audit: Mapping[str, Json]) -> None:
    """Print the checks of an audited data set, with failed checks first, and statistics of the data
    set.
    """
    shown = create_table("check", "of", "passed", "failed", "first failures", numbers=[2, 3])
    for one in sorted(audit["checks"], key=lambda check: not check["failed"]):
        first = "; ".join(one["offenders"][:2])
        shown.add_row(
            to_one_line(one["check"], 100), one["of"], f"{one['passed']:,}", f"{one['failed']:,}",
            to_one_line(first, 120),
        )  # fmt: skip
    out.print(shown)
    figures = create_table("regime", "statistic", "prompt worlds", "holdouts")
    by_name: dict[tuple[str, str], dict[str, str]] = {}
    for row in audit["statistics"]:
        said = f"{row['mean']:.3g} ({row['least']:.2g} to {row['most']:.2g})"
        by_name.setdefault((row["regime"], row["statistic"]), {})[row["worlds"]] = said
    for (regime, name), sides in by_name.items():
        figures.add_row(regime, name, sides.get("prompt", ""), sides.get("holdout", ""))
    out.print(figures)
    failed = audit["failed"]
    out.print(
        f"{to_one_line(audit['file'], 60)}: {audit['instances']:,} instances, {audit['holdouts']:,}"
        f" holdouts; {len(audit['checks']) - failed} checks passed, {failed} failed"
    )
