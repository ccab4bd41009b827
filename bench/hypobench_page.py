"""The page of bench/hypobench_grid.py: tables by difficulty, the sets where least was found, and what a person
wrote of them, which stays when the page is written again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import hypobench_curves
from hypobench_curves import Row
from peirce.reports.files.tables import Cell, Table, as_markdown

OWN = "## What falls short"
GRID = "_controlled/"
AIM = 0.9
LOWEST = 30
_SCORES = ("hdr", "hdr_identified", "hdr_released", "precision", "identical")
_HEADS = ("HDR exact", "HDR identified", "HDR released", "precision", "identical")


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Rows by difficulty, each with its name; those that have none are left out."""
    paper = [row for row in rows if row["generator"] != "tree"]
    for name, some in (
        ("all of the paper's grid", paper),
        ("all but the grids of 64", [row for row in paper if GRID not in row["set"]]),
        ("base: four sets of one rule, as published", hypobench_curves.base(rows)),
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
    """How many true rules the shown rows do not tell from their neighbours."""
    return sum(round((1 - row["identified"]) * row["rules"]) for row in rows)


def by_difficulty(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for name, some in groups(rows):
        scores = (mean_of(some, key) for key in ("accuracy", "best", "majority", *_SCORES))
        rules = sum(row["rules"] for row in some)
        body.append((name, len(some), *scores, rules, unidentified(some)))
    heads = ("difficulty", "sets", "accuracy", "best possible", "majority", *_HEADS, "true rules",
             "not identified")  # fmt: skip
    return Table(heads, tuple(body))


def lowest(rows: Sequence[Row]) -> Table:
    """The sets where least of the identifiable rules was found, or of all where none is."""
    worth = {row["set"]: row["hdr_identified"] for row in rows}
    worth = {
        row["set"]: row["hdr"] if worth[row["set"]] is None else worth[row["set"]] for row in rows
    }
    some = sorted(
        (row for row in rows if worth[row["set"]] < AIM), key=lambda row: worth[row["set"]]
    )
    body = tuple(
        (
            row["set"], row["accuracy"], row["best"], *(row[key] for key in _SCORES), row["rules"],
            unidentified([row]), row["sentences"],
        )
        for row in some[:LOWEST]
    )  # fmt: skip
    heads = (
        "set",
        "accuracy",
        "best possible",
        *_HEADS,
        "true rules",
        "not identified",
        "sentences",
    )
    return Table(heads, body)


def page(rows: Sequence[Row], seed: int, every: int, figure: str, there: Path) -> str:
    """Markdown. there: the page as it is, whose own words stay."""
    paper = [row for row in rows if row["generator"] != "tree"]
    below = sum(row["hdr"] < AIM for row in paper)
    codes = len({row["code"] for row in rows})
    mixed = " Not all rows were made by one state of the code." if codes > 1 else ""
    own = (
        there.read_text().partition(OWN)[2] if there.exists() else "\n\nNothing was written yet.\n"
    )
    known = mean_of(paper, "hdr_identified")
    over = "–" if known is None else f"{known:.3f}"
    return f"""# The search on generated sets

`--model search`, method hypogenic, seed {seed}, 200 shown rows a set, presets as they are; made by

    python bench/hypobench_grid.py --out DIR --docs

{len(rows)} of the {every} sets were run, {len(paper)} of them of the paper's grid of 184; the others are random trees.{mixed} No model
made any of these scores ([discovery.md](discovery.md)); those published of HypoGeniC (crosses) are GPT-4o's ratings
in quarters, on sets that its authors made in the same way. All configurations: .46, .41, .44, .44; base .75 to .94; depth 4
at best .388; noise .362 and .40; distractors .417 and .383; one-shot O3 on 11 sets .52.

Mean exact HDR {fmean(row["hdr"] for row in paper):.3f}, over the rules that the rows identify {over}; the aims are .9 and 1.
{below} of {len(paper)} sets are below .9.

![by difficulty]({figure})

## By difficulty

{as_markdown(by_difficulty(rows))}

"Not identified" counts true rules that the 200 shown rows do not tell from their neighbours.

## Where least was found of what the rows identify

At most {LOWEST} sets, those below .9.

{as_markdown(lowest(rows))}

{OWN}{own}"""
