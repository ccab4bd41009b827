"""The experiment of bench/momentum.py: fixed mixes, momentum and remaining loss at equal numbers of updates.

    python bench/momentum.py --experiment OUT

 1. bases      the base that comes with Peirce, and a gpt_neox pretrained here with the same settings
 2. problems   easy ACRE problems; held-out problems have rules that no other problem has
 3. pairs      of other problems: parsing and consistency of the first base's answers, gear mostly of the search's
 4. cells      for each base, schedule and seed: one training, then one session on the held-out problems

Everything in OUT is made once. Started again after it was stopped, it continues with the next cell. A cell
is one JSON file in OUT/cells. The held-out problems decide nothing: all settings were set before the first
cell, with a look at validation pairs only.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import peirce

TASK = "acre"
BASES = ("llama", "gpt_neox")
SEEDS = (0, 1, 2)
SCHEDULES: Mapping[str, Mapping[str, Any]] = {
    "equal (1:1:1)": {"schedule": "fixed"},
    "parsing-heavy (3:1:1)": {"schedule": "fixed", "mix": "3:1:1"},
    "consistency-heavy (1:3:1)": {"schedule": "fixed", "mix": "1:3:1"},
    "gear-heavy (1:1:3)": {"schedule": "fixed", "mix": "1:1:3"},
    "without much gear (2:2:1)": {"schedule": "fixed", "mix": "2:2:1"},
    "momentum": {"schedule": "momentum"},
    "remaining-loss": {"schedule": "remaining-loss"},
}
BASE = "base"
TRAINING = {
    "full": True, "learning_rate": 3e-4, "beta": 0.1, "examples": 480, "period": 48, "batch": 16,
    "device_batch": 16, "probe_pairs": 30, "max_length": 640, "save_every": 1_000, "keep": 1,
    "sample_answers": 0,
}  # fmt: skip
A_SEED = 40  # problems of one seed of the generator
SEEDS_OF_PAIRS = range(310, 320)  # seeds of the generator; the pretraining and --quick use others
SEEDS_HELD_OUT = range(710, 714)
PROBLEMS_FILE, HELD_OUT_FILE = "problems.jsonl", "held-out.jsonl"
# Where each part of the rules ends. The last part of the problems was the held-out one of a first version of
# this experiment (LOG.md), and is not used any more.
PARTS = {"train": 0.5, "validation": 0.6, "held-out": 1.0}
INPUTS = 200  # of the sample space, by which predictions are compared
OBSERVATIONS = 3
COLLECT_ROUNDS, ROUNDS = 2, 1
METRICS = ("instruction_following", "consistency", "beta", "test_pass", "top1", "top3")


class Cell(NamedTuple):
    """One training of the experiment, or the evaluation of a base (schedule `BASE`)."""

    base: str
    schedule: str
    seed: int

    @property
    def slug(self) -> str:
        """The name of its files."""
        words = "".join(c if c.isalnum() else "-" for c in self.schedule)
        return f"{self.base}-{words}-{self.seed}"


def cells() -> Iterator[Cell]:
    """Yield all cells. All schedules of one seed come before the next seed."""
    for seed in SEEDS:
        for base in BASES:
            for schedule in (BASE, *SCHEDULES):
                yield Cell(base, schedule, seed)


def run_experiment(out: Path, limit: int | None = None) -> None:
    """Run the cells that have no result yet, at most `limit` of them."""
    warnings.filterwarnings("ignore", message="--observations")
    out.mkdir(parents=True, exist_ok=True)
    (out / "cells").mkdir(exist_ok=True)
    make_problems(out)
    digest = make_pairs(out)
    left = [cell for cell in cells() if not result_file(out, cell).exists()]
    for cell in left[:limit]:
        began, processor = time.monotonic(), time.process_time()
        row = run_cell(out, cell, digest)
        row["seconds"] = round(time.monotonic() - began, 1)
        row["processor_seconds"] = round(time.process_time() - processor, 1)
        write_json(result_file(out, cell), row)
        print(f"{cell.base} {cell.schedule} {cell.seed}: {row['seconds']:.0f} s", file=sys.stderr)
    print(f"{len(left[limit:]) if limit is not None else 0} cells left", file=sys.stderr)


def read_rows(out: Path) -> list[dict[str, Any]]:
    """Return the results of all finished cells, in the order of `cells`."""
    files = (result_file(out, cell) for cell in cells())
    return [json.loads(file.read_text()) for file in files if file.exists()]


def result_file(out: Path, cell: Cell) -> Path:
    return out / "cells" / f"{cell.slug}.json"


# --- bases, problems and pairs --------------------------------------------------


def make_base(out: Path, name: str) -> Path:
    """Return the folder of a base.

    The first base comes with Peirce. The other is pretrained with the same settings except architecture and
    seed.
    """
    from peirce.commands.train.record_quick_base import PRETRAINING, TOKENS
    from peirce.training import quick
    from peirce.training.pretrain import run

    folder = out / "bases" / name
    if name == BASES[0]:
        if not folder.exists():
            quick.write_base(folder)
    elif run.read_finished(folder) is None:
        settings = {"architecture": name, "seed": 1, "tokens": TOKENS}
        run.pretrain(PRETRAINING.model_copy(update=settings), folder)
    return folder


def make_problems(out: Path) -> None:
    """Generate the problems, their sample space and their split by rule."""
    folder = out / "problems"
    folder.mkdir(exist_ok=True)
    if not (folder / PROBLEMS_FILE).exists():
        write_lines(folder / PROBLEMS_FILE, generate(folder, SEEDS_OF_PAIRS, TASK))
    known = set(read_rules(out, PROBLEMS_FILE).values())
    if not (folder / HELD_OUT_FILE).exists():
        new = generate(folder, SEEDS_HELD_OUT, "new")
        write_lines(
            folder / HELD_OUT_FILE, [row for row in new if row["secret"]["rule"] not in known]
        )
    if not (folder / "space.jsonl").exists():
        peirce.tasks_space(TASK, folder / "all", data=folder / PROBLEMS_FILE)
        inputs = (folder / "all").read_text().splitlines(keepends=True)
        (folder / "all").unlink()
        drawn = random.Random(0).sample(inputs, min(INPUTS, len(inputs)))
        write_text(folder / "space.jsonl", "".join(drawn))
    splits: dict[str, list[str]] = {name: [] for name in PARTS}
    for problem, rule in read_rules(out, PROBLEMS_FILE).items():
        place = int(hashlib.sha256(rule.encode()).hexdigest()[:8], 16) / 16**8
        splits[next(name for name, end in PARTS.items() if place < end)].append(problem)
    splits["held-out"] += read_rules(out, HELD_OUT_FILE)
    write_json(folder / "splits.json", splits)


def generate(folder: Path, seeds: Iterable[int], prefix: str) -> list[dict[str, Any]]:
    """Return generated problems of some seeds, named by a prefix and a number."""
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        part = folder / "part"
        peirce.tasks_generate(TASK, part, problems=A_SEED, seed=seed, difficulty="easy")
        rows += map(json.loads, part.read_text().splitlines())
        part.unlink()
    return [row | {"idx": f"{prefix}-{number}"} for number, row in enumerate(rows)]


def read_rules(out: Path, name: str = HELD_OUT_FILE) -> dict[str, str]:
    """Return the rule of each problem in a file, by the name of the problem."""
    lines = (out / "problems" / name).read_text().splitlines()
    return {row["idx"]: row["secret"]["rule"] for row in map(json.loads, lines)}


def make_pairs(out: Path) -> str:
    """Collect answers of the first base and of the search, build the pairs, and return their digest.

    Pairs are built of each session alone: parsing and consistency compare answers of the base only. Most gear
    pairs compare answers of the search, which are all consistent.
    """
    from peirce.store import Store
    from peirce.training.pair_table import read_table, save_table
    from peirce.training.pairs.report import count_table
    from peirce.training.quick import join_tables

    file = out / "pairs.json"
    if file.exists():
        return str(json.loads(file.read_text())["digest"])
    store, splits = out / "collected.duckdb", out / "problems" / "splits.json"
    store.unlink(missing_ok=True)  # of a run that was stopped
    reports = []
    for model, rounds in ((f"hf:{make_base(out, BASES[0])}", COLLECT_ROUNDS), ("search", 1)):
        session = run_session(out, store, model, 0, rounds, PROBLEMS_FILE, ["train", "validation"])
        reports.append(
            peirce.pairs(
                session, seed=0, limit=8_000, contexts=(1, 3, 3), fixed=splits, store=store
            )
        )
    with Store.open(store, write=True) as opened:
        table = join_tables(*(read_table(opened, str(one["digest"])) for one in reports))
        counts = count_table(table)
        save_table(opened, table, {**reports[0].to_dict(), **counts})
    write_json(file, {"digest": table.digest, "by_split": counts["by_split"]})
    return table.digest


def run_session(
    out: Path, store: Path, model: str, seed: int, rounds: int, problems: str, subset: list[str]
) -> str:
    """Run three answers in each round to each problem of the subsets, and return the session's id."""
    folder = out / "problems"
    ended = peirce.run(
        TASK, data=folder / problems, space=folder / "space.jsonl", model=model,
        method="t3", template="compact", seed=seed, store=store, cache=False,
        fixed=folder / "splits.json", observations=OBSERVATIONS, rounds=rounds, subset=subset,
        **({} if model == "search" else {"temperature": 1.0, "max_tokens": 128}),
    )  # fmt: skip
    if ended.status != "done":
        sys.exit(f"the session with {model} ended as {ended.status} {ended.cause or ''}")
    return str(ended.session)


# --- one cell -------------------------------------------------------------------


def run_cell(out: Path, cell: Cell, digest: str) -> dict[str, Any]:
    """Train and evaluate one cell, and return its row."""
    row: dict[str, Any] = {**cell._asdict(), "probes": {}, "used": {}, "training": {}}
    model = make_base(out, cell.base)
    place = out / "trainings" / cell.slug
    if cell.schedule != BASE:
        shutil.rmtree(place, ignore_errors=True)  # of a run that was stopped
        settings = {**TRAINING, **SCHEDULES[cell.schedule]}
        record = peirce.train(
            model,
            pairs=digest,
            out=place,
            seed=cell.seed,
            store=out / "collected.duckdb",
            **settings,
        )
        if record.status != "done":
            sys.exit(f"{place}: {record.status}; start again to continue")
        fields = json.loads((place / "training.json").read_text())["fields"]
        row |= {"probes": fields["probes"], "used": fields["used"], "training": settings}
        row["weights"] = read_weights(place / "log.jsonl")
        model = place / "model"
    store = out / "evaluated.duckdb"
    store.unlink(missing_ok=True)
    session = run_session(out, store, f"hf:{model}", cell.seed, ROUNDS, HELD_OUT_FILE, ["held-out"])
    (found,) = peirce.evaluate(session, name="t3", by_problem=True, store=store)["sessions"]
    row["held_out"] = {
        one["problem"]: {name: one[name] for name in METRICS} for one in found["by_problem"]
    }
    shutil.rmtree(place, ignore_errors=True)
    return row


def read_weights(file: Path) -> dict[str, list[float]]:
    """Return the weights of each stage in all periods."""
    from peirce.training.durable_log import read_points

    weights: dict[str, list[float]] = {}
    for point in read_points(file):
        if point.name == "weight":
            weights.setdefault(point.stage, []).append(round(point.value, 4))
    return weights


def write_json(file: Path, value: Any) -> None:
    write_text(file, json.dumps(value, indent=1))


def write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_text(file, "".join(json.dumps(row) + "\n" for row in rows))


def write_text(file: Path, text: str) -> None:
    """Write the whole file or nothing."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(text)
    new.rename(file)
