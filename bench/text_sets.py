"""Measure the search on folders with labelled text sets, next to baselines on the same rows:

    python bench/package_texts.py OUT
    python bench/text_sets.py OUT/dev/* [--rows 200 all] [--write docs/results/text-sets.md]

Each set and number of rows is one session: the task labels, the default method, model search, seed 0. The rows are
the first of the training rows in an order that the seed draws. The baselines are trained on the rows that the session
was shown and tested on the same rows (reports/papers/hypobench/baseline_models.py). The interval of a difference is
that of a mean of differences over rows (normal approximation, 95%).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import peirce
from peirce.records.private_files import write_atomically
from peirce.reports.files.tables import Table, as_markdown
from peirce.reports.papers.hypobench.baseline_models import fit_baselines
from peirce.reports.papers.hypobench.metrics import label_scores, read_predictions
from peirce.store import Store

TITLE = "## Accuracy / macro F1 on"  # of each table
SPLITS = {"ind": "test rows", "ood": "rows of other sources"}
BASELINES = ("tfidf", "tree", "ebm")
ALL = 1_000_000
Z = 1.96  # standard errors of a 95% interval
Row = Mapping[str, Any]


def measure_set(data: Path, rows: int) -> list[Row]:
    """Run one session on a set, and return its scores on each split next to the baselines."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "sets.duckdb"
        session = peirce.run(
            "labels", data=data, observations=str(rows), model="search", store=store
        )
        if session.failed:
            raise SystemExit(f"{data}: {session.failed}")
        seconds = time.perf_counter() - began
        bank = [str(row["text"]) for row in peirce.bank(session.session, store=store)]
        opened = Store.open(store, write=False)
        problem = opened.problems(session.session)[0].problem
        steps = list(opened.steps(session.session, problem.id))
        opened.close()
    found = read_predictions(problem, steps)
    models = fit_baselines(problem)
    rows_found: list[Row] = []
    for one in found.splits if found is not None else ():
        if one.split not in SPLITS:
            continue
        start, _ = problem.secret["splits"][one.split]
        inputs = [problem.hidden[start + place].input for place in one.rows]
        labels = {"search": list(one.labels)}
        labels |= {name: models[name](inputs) for name in BASELINES if name in models}
        scores = {name: label_scores(one.gold, said) for name, said in labels.items()}
        gaps = [
            float(mine == gold) - float(other == gold)
            for mine, other, gold in zip(labels["search"], labels["tfidf"], one.gold, strict=True)
        ]
        rows_found.append({
            "set": data.name, "shown": len(problem.shown), "split": one.split, "n": len(inputs),
            "scores": scores, "gap": fmean(gaps), "error": stdev(gaps) / len(gaps) ** 0.5,
            "sentences": len(bank), "weak": sum(text.startswith("Weak") for text in bank),
            "seconds": seconds,
        })  # fmt: skip
    return rows_found


def write_tables(found: Sequence[Row]) -> str:
    """Return the tables as Markdown, one for each split."""
    parts = []
    for split, about in SPLITS.items():
        rows = [row for row in found if row["split"] == split]
        cells = [
            (
                row["set"], row["shown"], row["n"],
                f"{row['sentences']} ({row['weak']})",
                *(
                    "{:.3f} / {:.3f}".format(*row["scores"][name]) if name in row["scores"] else "–"
                    for name in ("search", *BASELINES)
                ),
                "{:+.1f} [{:+.1f}, {:+.1f}]".format(
                    *(100 * (row["gap"] + sign * Z * row["error"]) for sign in (0, -1, 1))
                ),
                round(row["seconds"]),
            )
            for row in rows
        ]  # fmt: skip
        heads = ("set", "rows shown", "n", "sentences (weak)", "search", *BASELINES,
                 "search less tfidf", "seconds")  # fmt: skip
        table = Table(heads, tuple(cells))
        parts.append(f"{TITLE} {about}\n\n{as_markdown(table)}")
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", type=Path, nargs="+", help="folders, each with one set")
    parser.add_argument("--rows", nargs="+", default=["200", "all"])
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="write the tables of this page; what stands before them is kept")  # fmt: skip
    given = parser.parse_args()
    found: list[Row] = []
    for rows in given.rows:
        for data in given.sets:
            found += measure_set(data, ALL if rows == "all" else int(rows))
            print(found[-1], flush=True)
    text = write_tables(found)
    if given.write is None:
        print(text)
        return
    head = given.write.read_text().partition(f"\n{TITLE}")[0]
    write_atomically({given.write: f"{head.rstrip()}\n\n{text}\n".encode()})


if __name__ == "__main__":
    main()
