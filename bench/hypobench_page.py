"""Write the page of bench/hypobench_grid.py: tables by difficulty and the sets with the lowest scores.

The section `OWN` was written by a person and stays when the page is written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import hypobench_curves
from hypobench_curves import Row
from peirce.reports.files.tables import Cell, Table, as_markdown

OWN = "## Where the search falls short"
GRID = "_controlled/"
AIM = 0.9
LOWEST = 30
_SCORES = ("hdr", "hdr_read", "hdr_identified", "hdr_released", "precision", "identical")
_HEADS = (
    "HDR exact",
    "HDR of read rules",
    "HDR identified",
    "HDR released",
    "precision",
    "identical",
)


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield (name, rows) of each difficulty that has rows."""
    paper = [row for row in rows if row["generator"] != "tree"]
    for name, some in (
        ("the paper's grid", paper),
        (
            "the paper's grid without its two grids of 64 sets",
            [row for row in paper if GRID not in row["set"]],
        ),
        ("base level: four sets with one rule each, as published", hypobench_curves.base(rows)),
    ):
        if some:
            yield name, some
    for panel in hypobench_curves.PANELS:
        own = [row for row in rows if panel.has(row)]
        for value in sorted({panel.value(row) for row in own}):
            named = f"{panel.title}: {value:g}"
            yield named, [row for row in own if panel.value(row) == value]
    yield from (
        (row["set"], [row])
        for row in rows
        if row["generator"] in ("shoe", "marine") or "/counterfactual/" in row["set"]
    )
    trees = [row for row in rows if row["generator"] == "tree"]
    for depth in sorted({row["depth"] for row in trees}):
        yield f"random trees, depth {depth}", [row for row in trees if row["depth"] == depth]


def mean_of(rows: Sequence[Row], key: str) -> float | None:
    known = [row[key] for row in rows if row[key] is not None]
    return fmean(known) if known else None


def unidentified(rows: Sequence[Row]) -> int:
    """Return how many true rules the shown rows do not identify."""
    return sum(round((1 - row["identified"]) * row["rules"]) for row in rows)


def rules_read(rows: Sequence[Row]) -> str:
    """Return how many true rules were read as exact rules, as "N of M"."""
    read, stated = (sum(round(row[key]) for row in rows) for key in ("rules_read", "rules_stated"))
    return f"{read} of {stated}"


def by_difficulty(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for name, some in groups(rows):
        scores = (mean_of(some, key) for key in ("accuracy", "best", "majority", *_SCORES))
        body.append((name, len(some), *scores, rules_read(some), unidentified(some)))
    heads = ("difficulty", "sets", "accuracy", "best possible", "majority", *_HEADS,
             "true rules read", "not identified")  # fmt: skip
    return Table(heads, tuple(body))


def lowest(rows: Sequence[Row]) -> Table:
    """Return the sets with the lowest HDR over identified rules, or over all rules if none is identified."""
    worth = {row["set"]: row["hdr_identified"] for row in rows}
    worth = {
        row["set"]: row["hdr"] if worth[row["set"]] is None else worth[row["set"]] for row in rows
    }
    some = sorted(
        (row for row in rows if worth[row["set"]] < AIM), key=lambda row: worth[row["set"]]
    )
    body = tuple(
        (
            row["set"], row["accuracy"], row["best"], *(row[key] for key in _SCORES),
            rules_read([row]), unidentified([row]), row["sentences"],
        )
        for row in some[:LOWEST]
    )  # fmt: skip
    heads = (
        "set",
        "accuracy",
        "best possible",
        *_HEADS,
        "true rules read",
        "not identified",
        "sentences",
    )
    return Table(heads, body)


def page(rows: Sequence[Row], seed: int, every: int, figure: str, there: Path) -> str:
    """Return the page as Markdown. `there` is the present page, whose section `OWN` is kept."""
    paper = [row for row in rows if row["generator"] != "tree"]
    below = sum(row["hdr"] < AIM for row in paper)
    codes = len({row["code"] for row in rows})
    mixed = " The rows were measured with different versions of the code." if codes > 1 else ""
    own = (
        there.read_text().partition(OWN)[2]
        if there.exists()
        else "\n\nThis section has not been written yet.\n"
    )
    known = mean_of(paper, "hdr_identified")
    over = "–" if known is None else f"{known:.3f}"
    return f"""# The search on generated sets

This page reports how many of the true rules `--model search` finds in generated data sets, by their difficulty. Each
set is one session: method hypogenic, seed {seed}, 200 shown rows, unchanged presets.

    python bench/hypobench_grid.py --out DIR --docs

{len(rows)} of the {every} sets were run; {len(paper)} of them belong to the paper's grid of 184, the others are random trees.{mixed}
The scores need no model ([discovery scores](../explanation/discovery.md)).

Over the paper's grid, the mean exact HDR is {fmean(row["hdr"] for row in paper):.3f}, and {over} over the rules that the rows identify. The aims are
.9 and 1. {below} of {len(paper)} sets are below .9.

The published figures for HypoGeniC (crosses in the figure) do not compare directly: GPT-4o rated them in quarters, on
sets that the authors generated in the same way. They are .46, .41, .44, .44 over all configurations; .75 to .94 at the
base level; at best .388 at depth 4; .362 and .40 with noise; .417 and .383 with distractors; and .52 for one-shot O3 on
11 sets.

![by difficulty]({figure})

## By difficulty

{as_markdown(by_difficulty(rows))}

"True rules read" counts the true rules that Peirce reads as [exact sentences](../reference/exact-sentences.md). The
others count as not found in "HDR exact", and are left out in "HDR of read rules". "Not identified" counts true rules that the 200 shown rows do not distinguish from similar rules
([identified rules](../explanation/discovery.md#identified-rules)).

## Sets with the lowest scores

These are the sets whose HDR over identified rules is below .9 (at most {LOWEST}). Where no rule is identified, the
exact HDR counts.

{as_markdown(lowest(rows))}

{OWN}{own}"""
