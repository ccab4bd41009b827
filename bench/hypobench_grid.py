"""Whether the search says what made the labels, over all generated sets:

    python bench/hypobench_grid.py --out DIR [--only admission,shoe] [--seconds 900]
    python bench/hypobench_grid.py --out DIR --seconds 0        # tables and figure of the rows there

Each set is a session of its own: method hypogenic, model search, presets as they are, the first sample of
200 training rows, scored on the test rows and by the discovery scores (docs/discovery.md), which ask no
model. 26 sets of admission, 3 of shoe and marine come first, then the levels of election and personality
(14 and 12 sets) and their grids of 64 in turn, in an order drawn once, so that a run that is cut has met a
fair part of them.

DIR/hypobench-grid.jsonl gets a row a set as soon as it is scored; sets that it holds are not run again,
so a run that was stopped goes on. From all of its rows come hypobench-grid.md (by difficulty) and the
figure (hypobench_curves.py), beside what is published of HypoGeniC, which a model judged.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any

import hypobench_curves
import peirce
from hypobench_curves import Row
from peirce.records import Problem
from peirce.reports import plotting
from peirce.reports.discovered import discovered
from peirce.reports.tables import Cell, Table, as_markdown, as_text
from peirce.tasks import load_problems
from peirce.tasks.label_generation import GENERATORS

NAMES = ("admission", "shoe", "marine", "election", "personality")
POSTS = NAMES[3:]
GRID = "_controlled/"
SCORED = ("hdr", "hdr_identified", "hdr_released", "precision", "identical", "identified")
FACTORS = ("true_num_hypotheses", "depth", "noise_level", "distractor", "random_dropout",
           "num_impactful_feature", "subtlety", "counterintuitive")  # fmt: skip


def names_of(only: Sequence[str], seed: int) -> list[tuple[str, str]]:
    """(generator, set), in the order in which they are run."""
    first: list[tuple[str, str]] = []
    levels: list[tuple[str, str]] = []
    grids: list[tuple[str, str]] = []
    for generator in only:
        of_posts = generator in POSTS
        for name in GENERATORS[generator].sets(seed):
            (grids if GRID in name else levels if of_posts else first).append((generator, name))
    for some in (levels, grids):
        random.Random("the grid").shuffle(some)
    in_turn = (one for pair in zip_longest(levels, grids) for one in pair if one is not None)
    return [*first, *in_turn]


def measured(generator: str, name: str, seed: int) -> Row:
    """One set: a session on it and what it came to."""
    ((problem, _),) = load_problems(f"labels:{generator}", ids=[name], seed=seed)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "grid.duckdb"
        session = peirce.run(
            f"labels:{generator}", problem=[name], seed=seed, method="hypogenic", model="search",
            store=store,
        )  # fmt: skip
        told = {key: value["mean"] for key, value in session.metrics.items()}
        bank = [str(row["text"]) for row in peirce.bank(session.session, store=store)]
    if session.failed:
        raise SystemExit(f"{name}: {session.failed}")
    made = problem.secret["made"]
    return {
        "set": name, "generator": generator, "seed": seed,
        **{key: made[key] for key in FACTORS if key in made},
        "rules": len(problem.secret["truths"]),
        "accuracy": told["accuracy"], "best": made["best_accuracy"]["test"],
        "majority": majority(problem), "mse": told["mse"],
        **{key: told[key] for key in ("fdr", "rc", "hdr_paper", *SCORED)},
        "sentences": len(bank), "bank": bank, "seconds": round(time.perf_counter() - began, 1),
    }  # fmt: skip


def majority(problem: Problem) -> float:
    """The accuracy on test rows of the label that most shown rows have."""
    start, stop = problem.secret["splits"]["ind"]
    label = Counter(one.output for one in problem.shown).most_common(1)[0][0]
    return fmean(one.output == label for one in problem.hidden[start:stop])


def scored_again(row: Mapping[str, Any]) -> Row:
    """The row with the discovery scores of its bank as they are counted now."""
    ((problem, _),) = load_problems(
        f"labels:{row['generator']}", ids=[row["set"]], seed=row["seed"]
    )
    found = discovered(problem, row["bank"])
    return {**row, **{key: found[key] for key in found if key in row}}


# --- the table ------------------------------------------------------------------------


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Rows by difficulty, each with its name; those that have none are left out."""
    for name, some in (
        ("all", list(rows)),
        ("all but the grids of 64", [row for row in rows if GRID not in row["set"]]),
        ("base: four sets of one rule, as published", hypobench_curves.base(rows)),
    ):
        if some:
            yield name, some
    for panel in hypobench_curves.PANELS:
        own = [row for row in rows if panel.has(row)]
        for value in sorted({panel.value(row) for row in own}):
            yield (
                f"{panel.title}: {value:g}",
                [row for row in own if panel.value(row) == value],
            )
    for name in ("shoe", "marine"):
        for row in rows:
            if row["generator"] == name:
                yield row["set"], [row]


def mean_of(rows: Sequence[Row], key: str) -> float | None:
    known = [row[key] for row in rows if row[key] is not None]
    return fmean(known) if known else None


def table_of(rows: Sequence[Row]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for name, some in groups(rows):
        scores = (mean_of(some, key) for key in ("accuracy", "best", "majority", *SCORED))
        body.append((name, len(some), *scores))
    heads = ("difficulty", "sets", "accuracy", "best possible", "majority", "HDR exact",
             "HDR identified", "HDR released", "precision", "identical", "identified")  # fmt: skip
    return Table(heads, tuple(body))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--only", default=",".join(NAMES), metavar="NAME,NAME")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no set begins later")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--score-again", action="store_true", help="the banks that are there")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "hypobench-grid.jsonl"
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    if options.score_again:
        rows = [scored_again(row) for row in rows]
        kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    there = {(row["set"], row["seed"]) for row in rows}
    end = time.monotonic() + options.seconds
    for generator, name in names_of(options.only.split(","), options.seed):
        if (name, options.seed) in there:
            continue
        if time.monotonic() >= end:
            break
        row = measured(generator, name, options.seed)
        rows.append(row)
        with kept.open("a") as out:
            out.write(json.dumps(row) + "\n")
        shown = "  ".join(f"{key} {row[key]:.3f}" for key in ("accuracy", "best", "hdr"))
        print(f"{name:<40} {shown}  {row['seconds']:.0f} s", flush=True)
    if not rows:
        return
    table = table_of(rows)
    print(as_text(table, None))
    (options.out / "hypobench-grid.md").write_text(as_markdown(table) + "\n")
    if plotting.available():
        made = plotting.rendered(lambda: hypobench_curves.draw(rows), (".svg", ".png")) or {}
        for form, data in made.items():
            (options.out / f"hypobench-grid{form}").write_bytes(data)
    else:
        print(plotting.ABSENT)


if __name__ == "__main__":
    main()
