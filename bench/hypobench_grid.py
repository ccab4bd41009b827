"""Measure how many true rules the search finds in all generated sets:

    python bench/hypobench_grid.py --out DIR                       # every set, two at a time
    python bench/hypobench_grid.py --out DIR --only levels,shoe    # some kinds
    python bench/hypobench_grid.py --out DIR --redraw --docs       # write the pages from the stored rows
    python bench/hypobench_grid.py                                # two easy sets, in a temporary folder

Each set is one session: method hypogenic, model search, unchanged presets, the first sample of 200 training rows.
It is scored on the test rows and by the discovery scores (docs/explanation/discovery.md), without a model. There are
the 184 sets of the paper's grid (admission, shoe, marine, election, personality) and 12 random trees, which no mean
over the grid includes. Kinds for --only: a generator, `levels`, `twins`, `grid`, or a pattern of names
(`personality_controlled/20_*`).

DIR/hypobench-grid.jsonl gets a row per set, with its bank, as soon as it is scored; a run that was stopped continues
there. A row holds the digest of the code that made it. Sets measured by other code are run again, unless --keep
accepts their rows (--score-again scores their banks anew). The rows give hypobench-grid.md (by difficulty, and the
lowest scores) and the figure (hypobench_curves.py), next to the published figures of HypoGeniC, which a model rated.
The section "## Where the search falls short" and what follows it was written by a person and is kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import hypobench_curves
import hypobench_page
import peirce
from hypobench_curves import Row
from peirce.records import Problem
from peirce.reports.files import plotting
from peirce.reports.files.tables import as_text
from peirce.reports.papers.hypobench.metrics import discovery_metrics
from peirce.tasks import load_problems
from peirce.tasks.text.generation import GENERATORS
from table import Row as BenchRow
from table import add_json_option
from table import write_rows as write_bench_rows

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("admission", "shoe", "marine", "election", "personality", "tree")
EASY = ("admission/level_1/base", "election/level1")
KINDS = {"levels": "*/level[0-5]*", "twins": "*/counterfactual/*", "grid": "*_controlled/*"}
# Whose code decides a row.
ROOMS = (
    "search/text",
    "graphs",
    "tasks/text/generation",
    "tools/discovery",
    "tools/sentence_rules",
)
SCORED = (
    "hdr",
    "hdr_read",
    "rules_stated",
    "rules_read",
    "hdr_identified",
    "hdr_released",
    "precision",
    "identical",
    "identified",
)
FACTORS = ("true_num_hypotheses", "depth", "noise_level", "distractor", "random_dropout",
           "num_impactful_feature", "subtlety", "counterintuitive")  # fmt: skip


@cache
def code() -> str:
    """The digest of what decides a row."""
    found = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


def names_of(only: Sequence[str], seed: int) -> list[tuple[str, str]]:
    """(generator, set) of the kinds, in the order in which they are run. Ends the program where a kind
    has no set."""
    every = [(one, name) for one in NAMES for name in GENERATORS[one].list_sets(seed)]
    chosen: set[tuple[str, str]] = set()
    for kind in only:
        some = {
            pair
            for pair in every
            if pair[0] == kind
            or (
                fnmatch(pair[1], KINDS.get(kind, kind))
                and (kind != "levels" or pair[0] in ("election", "personality"))
            )
        }
        if not some:
            raise SystemExit(
                f"--only {kind}: no set has this name; choose {', '.join((*NAMES, *KINDS))} or a"
                " pattern of names"
            )
        chosen |= some
    return [pair for pair in every if pair in chosen]


def measured(generator: str, name: str, seed: int) -> Row:
    """One set: a session on it and what it came to. Raises RuntimeError where the session failed."""
    ((problem, _),) = load_problems(f"labels:{generator}", ids=[name], seed=seed)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "grid.duckdb"
        session = peirce.run(
            f"labels:{generator}", problem=[name], seed=seed, method="hypogenic", model="search",
            observations=200, store=store,
        )  # fmt: skip
        told = {key: value["mean"] for key, value in session.metrics.items()}
        bank = [str(row["text"]) for row in peirce.bank(session.session, store=store)]
    if session.failed:
        raise RuntimeError(str(session.failed))
    made = problem.secret["made"]
    return {
        "set": name, "generator": generator, "seed": seed, "code": code(),
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
    found = discovery_metrics(problem, row["bank"])
    return {**row, **{key: found[key] for key in (*SCORED, "fdr", "rc", "hdr_paper")}}


def several(
    sets: Sequence[tuple[str, str]], seed: int, processes: int, seconds: float
) -> Iterator[Row]:
    """Rows as they are done, so many sets at a time; none begins after so many seconds. A set that
    fails is said, and the others go on."""
    end = time.monotonic() + seconds
    left = list(reversed(sets))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max(1, processes), mp_context=spawn) as pool:
        running: dict[Any, str] = {}
        while running or (left and time.monotonic() < end):
            while left and len(running) < processes and time.monotonic() < end:
                generator, name = left.pop()
                running[pool.submit(measured, generator, name, seed)] = name
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                name = running.pop(one)
                if (fault := one.exception()) is None:
                    yield one.result()
                else:
                    print(f"{name:<40} failed: {fault}", flush=True)


def kept_rows(file: Path) -> list[Row]:
    """The last row of each set and seed."""
    lines = file.read_text().splitlines() if file.exists() else []
    rows = [json.loads(line) for line in lines]
    return list({(row["set"], row["seed"]): row for row in rows}.values())


def write_rows(file: Path, rows: Sequence[Row]) -> None:
    beside = file.with_suffix(".new")
    beside.write_text("".join(json.dumps(row) + "\n" for row in rows))
    beside.replace(file)


def report(rows: Sequence[Row], out: Path, docs: bool, seed: int) -> None:
    every = names_of(NAMES, seed)
    order = {name: n for n, (_, name) in enumerate(every)}
    some = sorted(
        (row for row in rows if row["seed"] == seed and row["set"] in order),
        key=lambda row: order[row["set"]],
    )
    if not some:
        return
    print(as_text(hypobench_page.by_difficulty(some), None))
    print(as_text(hypobench_page.lowest(some), None))
    places = [(out / "hypobench-grid.md", out)]
    if docs:
        places.append((ROOT / "docs" / "results" / "generated-sets.md", ROOT / "docs" / "figures"))
    paper = [row for row in some if row["generator"] != "tree"]
    drawn = plotting.has_matplotlib() and bool(paper)
    if not plotting.has_matplotlib():
        print(plotting.MISSING_MATPLOTLIB)
    for page, figures in places:
        forms = (".svg",) if figures != out else (".svg", ".png")
        made = (
            plotting.render_figure(lambda: hypobench_curves.draw(paper), forms) if drawn else None
        )
        for form, data in (made or {}).items():
            (figures / f"hypobench-grid{form}").write_bytes(data)
        figure = "hypobench-grid.svg" if figures == out else "../figures/hypobench-grid.svg"
        page.write_text(hypobench_page.page(some, seed, len(every), figure, page))


def bench_rows(rows: Sequence[Row], whole: bool) -> list[BenchRow]:
    """Return means over these sets. whole: all sets are there, so the aim applies."""
    if not rows:
        return []
    work = f"the search on {len(rows)} generated sets"
    mean = {key: fmean(row[key] for row in rows) for key in ("hdr", "accuracy", "best", "seconds")}
    return [
        BenchRow(f"{work}: HDR, exact", mean["hdr"], "", "higher",
                 limit=hypobench_curves.AIM if whole else None),
        BenchRow(f"{work}: accuracy", mean["accuracy"], "", "higher", mean["best"], "best possible"),
        BenchRow(f"{work}: a session", mean["seconds"], "s"),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, metavar="DIR")
    parser.add_argument(
        "--only",
        metavar="KIND,KIND",
        help="sets to measure: a generator, levels, twins, grid, or a pattern of names",
    )
    parser.add_argument("--processes", type=int, default=2, choices=(1, 2))
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="start no further set after this time"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the data and of the session")
    parser.add_argument(
        "--redraw", action="store_true", help="measure nothing and report the stored rows"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="also use stored rows that other versions of the code measured",
    )
    parser.add_argument(
        "--score-again",
        action="store_true",
        help="compute the discovery scores of the stored banks again",
    )
    parser.add_argument(
        "--docs", action="store_true", help="write docs/results/generated-sets.md as well"
    )
    add_json_option(parser)
    options = parser.parse_args()
    only = (options.only or ",".join(NAMES if options.out else EASY)).split(",")
    out = options.out or Path(tempfile.mkdtemp(prefix="hypobench-grid-"))
    out.mkdir(parents=True, exist_ok=True)
    file = out / "hypobench-grid.jsonl"
    rows = kept_rows(file)
    if options.score_again:
        rows = [scored_again(row) for row in rows]
    write_rows(file, rows)
    made = {
        row["set"]
        for row in rows
        if row["seed"] == options.seed and (options.keep or row["code"] == code())
    }
    wanted = [pair for pair in names_of(only, options.seed) if pair[1] not in made]
    if not options.redraw:
        for row in several(wanted, options.seed, options.processes, options.seconds):
            with file.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
            shown = "  ".join(f"{key} {row[key]:.3f}" for key in ("accuracy", "best", "hdr"))
            print(f"{row['set']:<40} {shown}  {row['seconds']:.0f} s", flush=True)
    report(kept_rows(file), out, options.docs, options.seed)
    names = {name for _, name in names_of(only, options.seed)}
    kept = [r for r in kept_rows(file) if r["set"] in names and r["seed"] == options.seed]
    whole = len(kept) == len(names_of(NAMES, options.seed))
    write_bench_rows(options.json, bench_rows(kept, whole))


if __name__ == "__main__":
    main()
