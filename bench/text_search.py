"""Measure the cost of the search on labelled text: `python bench/text_search.py [--rows 200 800] [--docs]
[--json FILE]`.

Texts have about 100 words, drawn with a seed from a vocabulary with the word frequencies of English (Zipf). The
label depends on how many words of two short lists a text contains, and one label in ten is changed. Records have
columns of choices, counts and truth values, and two conjunctions decide the label.

Each cell of the table is measured in a separate process, which asks for the complete answer once, with the
expansions of the preset `standard`. It gives CPU seconds, and the peak memory of the process minus what it held
after its imports and with the rows loaded. "Different" is the number of different words in the texts, or of columns.
--docs writes the tables and the figure of docs/results/text-search-cost.md.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peirce.reports.files import plotting
from peirce.reports.files.tables import Table, as_markdown, as_text
from peirce.search.budget import PRESETS
from peirce.search.text.engine import Problem
from table import Row, add_json_option, write_rows

DOCS = Path(__file__).resolve().parents[1] / "docs"
ROWS = (200, 800, 3200)
VOCABULARIES = (1_000, 5_000, 20_000)
COLUMNS = (5, 10, 20)
KINDS = {"texts": "vocabulary", "records": "columns"}
LABELS = ["deceptive", "truthful"]
CHANGED = 0.1
MIB = 1024  # KiB, the unit of ru_maxrss on Linux

Shown = list[list[Any]]
Cell = dict[str, float]
BLUES, REDS = ("#9ecae1", "#4292c6", "#08519c"), ("#fcae91", "#fb6a4a", "#a50f15")


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


def one(kind: str, count: int, size: int) -> Cell:
    """seconds, mib, terms, sentences of one cell."""
    shown = (drawn_fields if kind == "records" else drawn_texts)(count, size, seed=0)
    told = public_of(shown)
    terms = size
    if kind == "texts":
        terms = len({word for row, _ in shown for word in row["text"].lower().strip(".").split()})
    before, began = peak(), time.process_time()
    answer = Problem(shown, [], PRESETS["standard"].expansions, told).propose([], frozenset())
    seconds = time.process_time() - began
    return {
        "seconds": round(seconds, 2),
        "mib": round((peak() - before) / MIB, 1),
        "terms": terms,
        "sentences": 0 if answer is None else len(answer.source.splitlines()),
    }


def cells(kind: str, rows: Sequence[int], sizes: Sequence[int]) -> Iterator[Cell]:
    """Each in a process of its own."""
    for count in rows:
        for size in sizes:
            command = [sys.executable, __file__, "--cell", kind, str(count), str(size)]
            made = subprocess.run(command, check=True, capture_output=True, text=True)
            found: Cell = {"rows": count, "size": size, **json.loads(made.stdout)}
            print(f"{kind:<8} {count:>6,} rows {size:>7,}: {found['seconds']:.2f} s", flush=True)
            yield found


def table(kind: str, some: Sequence[Cell]) -> Table:
    heads = ("rows", KINDS[kind], "different", "CPU seconds", "MiB", "sentences")
    return Table(
        heads,
        tuple(
            (
                int(cell["rows"]), int(cell["size"]), int(cell["terms"]), f"{cell['seconds']:.2f}",
                f"{cell['mib']:.0f}", int(cell["sentences"]),
            )
            for cell in some
        ),
    )  # fmt: skip


def draw(found: dict[str, list[Cell]]) -> Any:
    figure = plotting.create_figure(7.5, 3.2)
    axes = figure.subplots(1, 2)
    order = []
    for kind, some in found.items():
        for n, size in enumerate(sorted({cell["size"] for cell in some})):
            own = [cell for cell in some if cell["size"] == size]
            label = f"{kind}, {KINDS[kind]} {size:,.0f}"
            order.append(label)
            look = {"ls": "-" if kind == "texts" else "--", "marker": "o^s"[n % 3], "ms": 4, "lw": 1.2,
                    "color": (BLUES if kind == "texts" else REDS)[n % 3]}  # fmt: skip
            for axis, key in zip(axes, ("seconds", "mib"), strict=True):
                axis.plot([c["rows"] for c in own], [c[key] for c in own], label=label, **look)
    for axis, title in zip(axes, ("CPU seconds of one answer", "MiB at the peak"), strict=True):
        axis.set_xscale("log")
        axis.set_yscale("log")
        rows = sorted({cell["rows"] for some in found.values() for cell in some})
        axis.set_xticks(rows, [f"{int(count):,}" for count in rows])
        least, most = axis.get_ylim()
        tens = [10.0**n for n in range(-3, 6) if least <= 10.0**n <= most]
        axis.set_yticks(tens, [f"{ten:,g}" for ten in tens])
        axis.minorticks_off()
        axis.set_xlabel("shown rows")
        axis.set_title(title, fontsize=9)
        axis.grid(alpha=0.2)
    plotting.add_legend_below(figure, list(axes), order)
    return figure


def page(found: dict[str, list[Cell]]) -> str:
    told = "\n\n".join(
        f"## {kind.capitalize()}\n\n{as_markdown(table(kind, some))}"
        for kind, some in found.items()
    )
    rows = " ".join(f"{int(count)}" for count in sorted({cell["rows"] for cell in found["texts"]}))
    return f"""# The cost of the search on labelled text

This page gives the time and memory of one answer of `--model search` (up to 20 sentences) by the number of shown rows,
with the expansions of the preset `standard`.

    python bench/text_search.py --rows {rows} --docs

The texts have 40 to 160 words, drawn with the word frequencies of English. The records have columns of three kinds:
choices, counts and truth values. Times are CPU seconds on one thread. Memory is the peak above what the process held
before the answer was requested. "Different" is the number of different words in the texts, or of columns.

![seconds and memory](../figures/text-search.svg)

{told}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--vocabulary", type=int, nargs="+", default=list(VOCABULARIES))
    parser.add_argument("--columns", type=int, nargs="+", default=list(COLUMNS))
    parser.add_argument(
        "--docs", action="store_true", help="write docs/results/text-search-cost.md"
    )
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    add_json_option(parser)
    options = parser.parse_args()
    if options.cell:
        kind, count, size = options.cell
        print(json.dumps(one(kind, int(count), int(size))))
        return
    sizes = {"texts": options.vocabulary, "records": options.columns}
    found = {kind: list(cells(kind, options.rows, some)) for kind, some in sizes.items()}
    for kind, some in found.items():
        print(as_text(table(kind, some), None))
    rows = []
    for kind, some in found.items():
        for cell in some:
            work = f"one answer on {cell['rows']:,} {kind}, {KINDS[kind]} {cell['size']:,}"
            rows += [
                Row(f"{work}, CPU", cell["seconds"], "s"),
                Row(f"{work}, memory", cell["mib"], "MiB"),
            ]
    write_rows(options.json, rows)
    if options.docs:
        (DOCS / "results" / "text-search-cost.md").write_text(page(found))
        made = plotting.render_figure(lambda: draw(found), (".svg",)) or {}
        (DOCS / "figures" / "text-search.svg").write_bytes(made[".svg"])


if __name__ == "__main__":
    main()
