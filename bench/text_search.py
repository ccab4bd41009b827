"""What the search on labelled text costs: `python bench/text_search.py [--rows 200 800] [--fields]`.

Texts of some 100 words of a vocabulary with frequencies as in English (Zipf), drawn by a seed; the
label hangs on how many words of two short lists a text holds, and one label in ten is changed. Each
cell of the table is a process of its own: the whole answer is asked for once, with the expansions of
the preset `standard`, and the process's peak of memory is read off, less what it held after its
imports and the texts were there. Terms are the different words of the texts. `--fields`: records of
choices, counts and truth values instead of texts, over the number of columns.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from peirce.agents.search import PRESETS
from peirce.agents.search.text.engine import Problem

ROWS = (200, 800, 3200)
VOCABULARIES = (1_000, 5_000, 20_000)
COLUMNS = (5, 10, 20)
LABELS = ["deceptive", "truthful"]
CHANGED = 0.1
MIB = 1024  # KiB, the unit of ru_maxrss on Linux

Shown = list[list[Any]]


def drawn_texts(count: int, vocabulary: int, seed: int) -> Shown:
    """Rows of a text of 40 to 160 words with its label."""
    draw = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = [
        "".join(draw.choices(letters, k=3 + min(n, 600) % 7)) + "aeiou"[n % 5]
        for n in range(vocabulary)
    ]
    shares = 1 / (np.arange(vocabulary) + 10.0)
    drawn = np.random.default_rng(seed)
    ranks = drawn.choice(vocabulary, count * 160, p=shares / shares.sum())
    own, other = set(words[5:25]), set(words[25:45])
    found: Shown = []
    for n in range(count):
        some = [words[rank] for rank in ranks[n * 160 : n * 160 + draw.randint(40, 160)]]
        more = sum(word in own for word in some) > sum(word in other for word in some)
        found.append([{"text": " ".join(some).capitalize() + "."}, _label(more, draw)])
    return found


def drawn_fields(count: int, columns: int, seed: int) -> Shown:
    """Rows of so many columns, a third of each kind; two conjunctions decide."""
    draw = random.Random(seed)
    found: Shown = []
    for _ in range(count):
        row: dict[str, Any] = {}
        for n in range(columns):
            kinds = (draw.choice("ABCDF"), draw.randint(0, 10), draw.random() < 0.5)
            row[f"column_{n}"] = kinds[n % 3]
        said = (row["column_0"] == "A" and row["column_1"] > 2) or (
            row["column_3"] == "B" and bool(row["column_2"])
        )
        found.append([row, _label(said, draw)])
    return found


def _label(first: bool, draw: random.Random) -> str:
    return LABELS[int(first) ^ int(draw.random() < CHANGED)]


def public_of(shown: Shown) -> dict[str, Any]:
    first = shown[0][0]
    if "text" in first:
        columns: dict[str, Any] = {"text": {"kind": "text", "about": ""}}
        return {"labels": LABELS, "columns": columns, "shape": "text"}
    kinds = {str: "choice", int: "number", bool: "truth"}
    columns = {name: {"kind": kinds[type(value)], "about": ""} for name, value in first.items()}
    return {"labels": LABELS, "columns": columns, "shape": "fields"}


def peak() -> int:
    """KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def one(kind: str, count: int, size: int) -> dict[str, float]:
    """seconds, mib, terms, sentences of one cell."""
    shown = (drawn_fields if kind == "fields" else drawn_texts)(count, size, seed=0)
    told = public_of(shown)
    terms = size
    if kind == "texts":
        terms = len({word for row, _ in shown for word in row["text"].lower().strip(".").split()})
    before, began = peak(), time.perf_counter()
    answer = Problem(shown, [], PRESETS["standard"].expansions, told).next([], frozenset())
    seconds = time.perf_counter() - began
    return {
        "seconds": round(seconds, 2),
        "mib": round((peak() - before) / MIB, 1),
        "terms": terms,
        "sentences": 0 if answer is None else len(answer.source.splitlines()),
    }


def table(kind: str, rows: Sequence[int], sizes: Sequence[int]) -> None:
    what = "columns" if kind == "fields" else "vocabulary"
    print(f"{'rows':>6} {what:>11} {'different':>10} {'seconds':>9} {'MiB':>8} {'sentences':>10}")
    for count in rows:
        for size in sizes:
            command = [sys.executable, __file__, "--cell", kind, str(count), str(size)]
            made = subprocess.run(command, check=True, capture_output=True, text=True)
            cell = json.loads(made.stdout)
            print(
                f"{count:>6,} {size:>11,} {cell['terms']:>10,} {cell['seconds']:>9.2f}"
                f" {cell['mib']:>8.1f} {cell['sentences']:>10}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--vocabulary", type=int, nargs="+", default=list(VOCABULARIES))
    parser.add_argument("--columns", type=int, nargs="+", default=list(COLUMNS))
    parser.add_argument("--fields", action="store_true", help="records instead of texts")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        kind, count, size = options.cell
        print(json.dumps(one(kind, int(count), int(size))))
    elif options.fields:
        table("fields", options.rows, options.columns)
    else:
        table("texts", options.rows, options.vocabulary)


if __name__ == "__main__":
    main()
