"""Compare the speed of two working trees side by side: `make bench-compare A=DIR B=DIR`, or

    python bench/compare.py A B [--only step,gear] [--rounds 7] [--scripts DIR] [--out FILE]

A and B are checkouts, each with its own .venv. In every round each chosen script (by default sandbox,
gear, abd, pairs and step, with the settings in scripts.py) runs once with A's Python and once with B's,
in an order that alternates from round to round, so that other work on the machine and slow changes of its
speed meet both. One more round before them warms caches and is not counted.

A row of a script gives one pair of figures a round, and from it the ratio B/A. The table shows the median
ratio with its interval: the sign test's interval of order statistics for the median, with a confidence of
at least 95%, which supposes nothing about how the ratios are distributed except that rounds are
independent. It needs six rounds; with six to eight it reaches from the least ratio to the greatest. A row
is marked better or worse where the interval excludes 1. Rows are not corrected for their number: among
rows without a difference, one in twenty at most is expected to be marked by chance.

Each tree is measured by its own script where it has one that writes rows (bench/table.py is its mark),
else by the script of --scripts, by default the tree that this file is in. So that a later tree can still be
compared with one from before that protocol, give --scripts a checkout whose scripts import what the older
tree has; or compare with the commit that introduced bench/table.py. Where the two scripts of a row
differ, the table says so, because they may not measure the same work. A row that only one tree has is
listed and not compared. Only the figure `now` of a row is compared; references are not used here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

from scripts import (
    COMPARED,
    HERE,
    SCRIPTS,
    Result,
    choose_scripts,
    describe_tree,
    end_on_sigterm,
    run_script,
)
from table import Row, format_figure, format_table

CONFIDENCE = 0.95
LEAST_ROUNDS = 6  # with fewer no interval for the median has that confidence
SIDES = ("A", "B")


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the interval of order statistics for the median, and its confidence.

    Of n sorted values the interval reaches from the k-th to the (n + 1 - k)-th, with the largest k for
    which a sign test at the level 1 - CONFIDENCE rejects no median within. Its confidence is
    1 - 2 * P(Binomial(n, 1/2) < k).

    Raises:
        ValueError: There are fewer than LEAST_ROUNDS values.
    """
    count = len(values)
    if count < LEAST_ROUNDS:
        raise ValueError(f"{count} values: an interval needs {LEAST_ROUNDS}")
    tail, place = 0.0, 0
    while 2 * (tail + comb(count, place) / 2**count) <= 1 - CONFIDENCE:
        tail += comb(count, place) / 2**count
        place += 1
    ordered = sorted(values)
    return ordered[place - 1], ordered[count - place], 1 - 2 * tail


@dataclass(frozen=True)
class Comparison:
    """One row of both trees. a, b: medians of `now`. ratio: the median of B/A over the rounds, with its
    interval. verdict: better, worse or "" for tree B."""

    script: str
    work: str
    unit: str
    better: str
    a: float
    b: float
    ratio: float
    low: float
    high: float
    verdict: str
    pairs: tuple[tuple[float, float], ...]


def compare_row(script: str, row: Row, pairs: Sequence[tuple[float, float]]) -> Comparison | None:
    """Return the comparison of one row over all rounds; None where a figure of A is 0.

    Args:
        script: The script that the row is from.
        row: Any of its rows, for work, unit and the better direction.
        pairs: The figures of A and B, a round each.
    """
    if any(a == 0 for a, _ in pairs):
        return None
    ratios = [b / a for a, b in pairs]
    low, high, _ = median_interval(ratios)
    verdict = ""
    if low > 1 or high < 1:
        verdict = "better" if (high < 1) == (row.better == "lower") else "worse"
    return Comparison(
        script, row.work, row.unit, row.better, median(a for a, _ in pairs),
        median(b for _, b in pairs), median(ratios), low, high, verdict, tuple(pairs),
    )  # fmt: skip


def compare_results(
    rounds: Sequence[dict[str, dict[str, Result]]],
) -> tuple[list[Comparison], list[str]]:
    """Pair the rows of all rounds.

    Args:
        rounds: Of each round by side ("A", "B") and script what the run came to.

    Returns:
        The comparisons in the order of the scripts, and what could not be compared, in words.
    """
    figures: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    rows: dict[tuple[str, str], Row] = {}
    notes: dict[str, None] = {}
    for one in rounds:
        here: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
        for side in SIDES:
            for script, result in one[side].items():
                reason = result.failed or result.skipped
                if reason:
                    notes[f"{script} in {side}: {reason}"] = None
                for row in result.rows:
                    rows.setdefault((script, row.work), row)
                    here[script, row.work][side] = row.now
        for key, both in here.items():
            figures[key].append(both)
    found = []
    for key, row in rows.items():
        pairs = [(both["A"], both["B"]) for both in figures[key] if len(both) == 2]
        sides = {side for both in figures[key] for side in both}
        if len(sides) == 1:
            notes[f"{key[0]}: only {sides.pop()} has the row: {row.work}"] = None
        elif len(pairs) < LEAST_ROUNDS:
            notes[f"{key[0]}: only {len(pairs)} rounds have both figures of: {row.work}"] = None
        elif (one_row := compare_row(key[0], row, pairs)) is None:
            notes[f"{key[0]}: no ratio to 0: {row.work}"] = None
        else:
            found.append(one_row)
    return found, list(notes)


def print_comparisons(found: Sequence[Comparison]) -> None:
    heads = ("script", "work", "A", "B", "B/A", "interval", "B is")
    body = [
        (
            one.script.removesuffix(".py"), one.work, format_figure(one.a, one.unit),
            format_figure(one.b, one.unit), f"{one.ratio:.3f}", f"[{one.low:.3f}, {one.high:.3f}]",
            one.verdict,
        )
        for one in found
    ]  # fmt: skip
    print(format_table(heads, body))


def script_of(tree: Path, name: str, others: Path) -> Path:
    """Return the script that measures a tree: its own if it writes rows, else that of `others`."""
    own = tree / "bench" / name
    return own if own.is_file() and (tree / "bench" / "table.py").is_file() else others / name


def python_of(tree: Path) -> Path:
    """Return the interpreter of a tree.

    Raises:
        SystemExit: The tree has none.
    """
    python = tree / ".venv" / "bin" / "python"
    if not python.is_file():
        sys.exit(f"{tree} has no .venv: make one there, for example with `make .venv/.core`.")
    return python.absolute()


def same_text(first: Path, second: Path) -> bool:
    return first == second or first.read_bytes() == second.read_bytes()


def measure_round(
    number: int, names: Sequence[str], trees: dict[str, Path], others: Path, folder: Path
) -> dict[str, dict[str, Result]]:
    """Run every script on both trees, B first in odd rounds."""
    found: dict[str, dict[str, Result]] = {side: {} for side in SIDES}
    order = SIDES[::-1] if number % 2 else SIDES
    for name in names:
        for side in order:
            tree, own = trees[side], folder / side
            own.mkdir(exist_ok=True)
            script = script_of(tree, name, others)
            arguments = COMPARED.get(name, SCRIPTS[name])
            result = run_script(script, arguments, own, python_of(tree))
            found[side][name] = result
            state = result.failed or result.skipped or f"{result.seconds:.0f} s"
            print(f"round {number}, {side}: {name}: {state}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("a", type=Path, metavar="A")
    parser.add_argument("b", type=Path, metavar="B")
    parser.add_argument("--only", metavar="NAME,NAME", help="these scripts")
    parser.add_argument("--rounds", type=int, default=7, help="six or more (default 7)")
    parser.add_argument("--scripts", type=Path, default=HERE.parent, metavar="DIR")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="else runs/bench/compare-DATE.json"
    )
    options = parser.parse_args()
    end_on_sigterm()
    if options.rounds < LEAST_ROUNDS:
        sys.exit(f"--rounds {options.rounds}: an interval needs at least {LEAST_ROUNDS} rounds.")
    names, others = (
        choose_scripts(options.only, list(COMPARED)),
        options.scripts.resolve() / "bench",
    )
    trees = {"A": options.a.resolve(), "B": options.b.resolve()}
    for side, tree in trees.items():
        print(f"{side}: {tree} at {describe_tree(tree)}, {python_of(tree)}")
    began, load = datetime.now(UTC), os.getloadavg()
    rounds = []
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        for number in range(options.rounds + 1):  # round 0 warms
            rounds.append(measure_round(number, names, trees, others, Path(folder)))
    found, notes = compare_results(rounds[1:])
    print_comparisons(found)
    for name in names:
        if not same_text(*(script_of(tree, name, others) for tree in trees.values())):
            notes.append(f"{name}: A and B were measured by scripts that differ")
    for note in notes:
        print(f"NOTE {note}")
    marked = {
        verdict: sum(one.verdict == verdict for one in found) for verdict in ("better", "worse")
    }
    print(
        f"{len(found)} rows over {options.rounds} rounds: {marked['better']} better, {marked['worse']}"
        f" worse; at most {(1 - CONFIDENCE) * len(found):.1f} would be marked by chance on average"
    )
    out = options.out or HERE.parent / "runs" / "bench" / f"compare-{began:%Y-%m-%d-%H%M}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report(trees, began, load, found, notes, rounds), indent=1) + "\n")
    print(f"stored in {out}")
    failed = any(one.failed for some in rounds for side in some.values() for one in side.values())
    sys.exit(failed)


def report(
    trees: dict[str, Path],
    began: datetime,
    load: tuple[float, ...],
    found: Sequence[Comparison],
    notes: Sequence[str],
    rounds: Sequence[dict[str, dict[str, Result]]],
) -> dict[str, Any]:
    """Return what is stored. The first of the runs warmed and was not counted."""
    return {
        "date": f"{began:%Y-%m-%dT%H:%M:%SZ}",
        "trees": {side: describe_tree(tree) for side, tree in trees.items()},
        "load_before": load, "load_after": os.getloadavg(), "confidence": CONFIDENCE,
        "rows": [asdict(one) for one in found], "notes": list(notes),
        "runs": [
            {side: [one.as_json() for one in some.values()] for side, some in one_round.items()}
            for one_round in rounds
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main()
