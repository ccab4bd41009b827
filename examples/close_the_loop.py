"""The loop closed from nothing on one machine: two small proposers, their sessions, pairs, trainings,
and what the tuned ones are worth on problems whose rules no pair is of.

    python examples/close_the_loop.py OUT            # hours of two cores
    python examples/close_the_loop.py OUT --quick    # small enough to say nothing, to try it

 1. problems   new easy ones of the four program tasks; a hash of a rule says whether its problems are
               held out, for a generator gives a rule again under another seed
 2. pretrain   two base proposers of different architecture
 3. collect    sessions of both on the other problems, one set of random numbers a seed
 4. pairs      of both proposers' answers together
 5. train      each base by each schedule: same pairs, examples, settings
 6. evaluate   three answers in each of five rounds to each held-out problem
 7. tables     OUT/tables.md and OUT/tables.json: values and differences, intervals over rules

Steps 3 to 6 are done once for each seed, each seed in a process of its own. Started again after it
was stopped, it goes on where it was: finished steps stand in OUT/seed-N.json, an unfinished session
or training is resumed, a base that is there is used.

One file, though long: the whole experiment, read from top to bottom.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import peirce
from numpy.typing import NDArray
from peirce.records import PeirceError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TASKS = ("list_functions", "acre", "mini_arc", "arc")
ARCHITECTURES = ("llama", "gpt_neox")
# The labelled extra run: where a period brings little, epsilon .1 keeps all weights near 1 and no bound
# is ever reached, so epsilon and alpha are changed with the bounds.
WIDE = {"w_min": 0.3, "w_max": 2.0, "epsilon": 0.002, "alpha": 0.3}
SCHEDULES: dict[str, dict[str, Any]] = {
    "fixed": {"schedule": "fixed"},
    "momentum": {"schedule": "momentum"},
    "parsing": {"schedule": "single:parsing"},
    "consistency": {"schedule": "single:consistency"},
    "gear": {"schedule": "single:gear"},
    "momentum, wide bounds": {"schedule": "momentum", **WIDE},
}
BASE, EXTRA = "base", "momentum, wide bounds"  # the extra run is one of the first base alone
DIFFERENCES = (
    *((one, BASE) for one in SCHEDULES), *((one, "fixed") for one in SCHEDULES if one != "fixed"),
)  # fmt: skip
RESAMPLES = 2_000
# Problems of one seed of a generator, which gives no rule twice: the more of one seed, the rarer the rules.
A_SEED = 40
PARTS = {"train": 0.5, "validation": 0.6, "held-out": 1.0}  # of the rules: where each part ends
COLUMNS = (
    "instruction_following", "consistency", "generalizability", "beta", "gamma", "train_pass",
    "test_pass", "top1", "top2", "top3", "constant", "narrow",
)  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """What makes the difference between a trial and a result. Lists and scenes are many, since models
    of a million parameters hardly learn grids in the time; of lists and scenes they learned one to
    four observations, so no more are shown."""

    problems: Mapping[str, int]  # of each task; about 40% of them are held out
    collected: Mapping[str, tuple[int, ...]]  # observations shown when pairs are collected
    shown: Mapping[str, int]  # … of held-out problems
    inputs: int = 200  # of S, by which predictions are compared
    minutes: float = 21.0  # of pretraining, each base
    tokens: int | None = None  # of pretraining, instead of the minutes
    collect_rounds: int = 2
    rounds: int = 5
    pairs: int = 8_000  # of each stage in each split, tasks alike: most would be of ACRE
    contexts: tuple[int, ...] = (1, 3, 3)  # of 0, 1, 2 hypotheses: most would be of 2
    examples: int = 1_344
    period: int = 64
    batch: int = 16
    probe_pairs: int = 40
    max_tokens: int = 128


FULL = Sizes(
    {"list_functions": 760, "acre": 760, "mini_arc": 60, "arc": 60},
    {"list_functions": (2, 3), "acre": (2, 3), "mini_arc": (1, 2), "arc": (1, 2)},
    {"list_functions": 3, "acre": 3, "mini_arc": 2, "arc": 2},
)
QUICK = Sizes(
    dict.fromkeys(TASKS, 16), dict.fromkeys(TASKS, (2,)), dict.fromkeys(TASKS, 2),
    inputs=40, tokens=1_000_000, rounds=2, examples=64, period=32, probe_pairs=8, max_tokens=64,
)  # fmt: skip
# One set of them for both bases and all schedules.
TRAINING = {
    "full": True, "learning_rate": 1e-4, "beta": 0.1, "device_batch": 16, "sample_every": 3,
    "sample_answers": 64, "sample_tokens": 128,
}  # fmt: skip


def main() -> None:
    warnings.filterwarnings("ignore", message="--observations")  # of how ARC's pairs are drawn
    told = arguments()
    out = told.out.expanduser().resolve()
    sizes = settled(out, QUICK if told.quick else FULL)
    if told.seed is not None:
        course(out, sizes, told.seed)
    elif told.base is not None:
        pretrain(out, sizes, told.base)
    else:
        write_problems(out, sizes)
        run_concurrently([[*myself(told), "--base", name] for name in ARCHITECTURES], told.jobs)
        run_concurrently([[*myself(told), "--seed", str(seed)] for seed in told.seeds], told.jobs)
        print(tables(out, told.seeds))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="pretrain, run, pairs, train, evaluate, table")
    parser.add_argument("out", type=Path, help="folder of all that it makes")
    parser.add_argument("--quick", action="store_true", help="small: to see that it works")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--seed", type=int, help="steps 3 to 6 of this seed alone")
    parser.add_argument("--base", choices=ARCHITECTURES, help="pretrain this base alone")
    told = parser.parse_args()
    if told.jobs < 1:
        parser.error("--jobs: at least 1 process is needed")
    if len(set(told.seeds)) < len(told.seeds):
        parser.error("--seeds: each seed once; two processes would share its files")
    return told


def settled(out: Path, sizes: Sizes) -> Sizes:
    """The sizes, kept beside what they make: a folder never mixes two."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "sizes.json"
    wanted = json.loads(json.dumps(asdict(sizes)))
    if not path.exists():
        replace(path, wanted)
    elif (kept := json.loads(path.read_text())) != wanted:
        other = [one.name for one in fields(Sizes) if kept.get(one.name) != wanted[one.name]]
        sys.exit(f"{out} was begun with other sizes ({', '.join(other)}): name another folder")
    return sizes


def myself(told: argparse.Namespace) -> list[str]:
    return [sys.executable, __file__, str(told.out), *(["--quick"] if told.quick else [])]


def run_concurrently(commands: list[list[str]], jobs: int) -> None:
    """Runs them, `jobs` at a time, each on one thread: threads of small models wait for each other."""
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    waiting, running = list(commands), []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(subprocess.Popen(waiting.pop(0), env=alone))
            for one in [one for one in running if one.poll() is not None]:
                running.remove(one)
                if one.returncode:
                    sys.exit(f"stopped: {' '.join(one.args)} failed; start again to go on")
            time.sleep(0.5)
    finally:
        for one in running:
            one.terminate()


# --- problems and bases ---------------------------------------------------------


def write_problems(out: Path, sizes: Sizes) -> None:
    folder = out / "problems"
    folder.mkdir(exist_ok=True)
    for task in TASKS:
        data, space = data_of(out, task), space_of(out, task)
        if not data.exists():
            made = []
            for k in range(-(-sizes.problems[task] // A_SEED)):
                peirce.tasks_generate(
                    task, folder / "part", problems=A_SEED, seed=1 + k, difficulty="easy"
                )
                made += map(json.loads, (folder / "part").read_text().splitlines())
                (folder / "part").unlink()
            some = [row | {"idx": f"{task}-{k}"} for k, row in enumerate(made)]
            lines = (json.dumps(row) + "\n" for row in some[: sizes.problems[task]])
            (folder / "new").write_text("".join(lines))
            (folder / "new").rename(data)
        if not space.exists():
            peirce.tasks_space(task, folder / "whole", data=data)
            lines = (folder / "whole").read_text().splitlines(keepends=True)
            (folder / "whole").unlink()
            drawn = random.Random(0).sample(lines, min(sizes.inputs, len(lines)))
            (folder / "new").write_text("".join(drawn))
            (folder / "new").rename(space)
    splits: dict[str, list[str]] = {name: [] for name in PARTS}
    for problem, rule in rules_of(out).items():
        place = int(hashlib.sha256(rule.encode()).hexdigest()[:8], 16) / 16**8
        splits[next(name for name, end in PARTS.items() if place < end)].append(problem)
    replace(splits_of(out), splits)


def rules_of(out: Path) -> dict[str, str]:
    """The rule of each problem, by its name; the two kinds of grids have rules in common."""
    lines = [line for task in TASKS for line in data_of(out, task).read_text().splitlines()]
    return {row["idx"]: row["secret"]["rule"] for row in map(json.loads, lines)}


def splits_of(out: Path) -> Path:
    return out / "problems" / "splits.json"


def data_of(out: Path, task: str) -> Path:
    return out / "problems" / f"{task}.jsonl"


def space_of(out: Path, task: str) -> Path:
    return out / "problems" / f"{task}.space.jsonl"


def base_of(out: Path, name: str) -> Path:
    return out / "bases" / name


def pretrain(out: Path, sizes: Sizes, name: str) -> None:
    peirce.pretrain(
        base_of(out, name), architecture=name, minutes=sizes.minutes, tokens=sizes.tokens
    )


# --- one seed ------------------------------------------------------------------


class Done:
    """What a seed has finished, by name, in a file that is replaced whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def record_once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._found:
            start = time.monotonic()
            self._found[name] = make()
            replace(self._path, self._found)
            print(f"{self._path.stem}: {name}, {time.monotonic() - start:.0f} s", flush=True)
        return self._found[name]


def course(out: Path, sizes: Sizes, seed: int) -> None:
    """Steps 3 to 6 of one seed: of the sampling, of the pairs and of the training."""
    store = out / f"seed-{seed}.duckdb"
    done = Done(out / f"seed-{seed}.json")

    def session(name: str, task: str, model: Path, **options: Any) -> str:
        def make() -> str:
            left = unfinished(store)
            if left is not None:
                ended = peirce.resume(left, store=store)
            else:
                ended = peirce.run(
                    task, data=data_of(out, task), space=space_of(out, task), model=f"hf:{model}",
                    method="t3", template="compact", temperature=1.0, max_tokens=sizes.max_tokens,
                    seed=seed, store=store, cache=False, fixed=splits_of(out), **options,
                )  # fmt: skip
            if ended.status != "done":
                why = f" ({ended.cause})" if ended.cause else ""
                sys.exit(f"{name}: {ended.status}{why}; start again to go on")
            return str(ended.session)

        return str(done.record_once(name, make))

    collected = [
        session(
            f"collect {base} {task} {shown}", task, base_of(out, base), observations=shown,
            rounds=sizes.collect_rounds, subset=["train", "validation"],
        )
        for base in ARCHITECTURES for task in TASKS for shown in sizes.collected[task]
    ]  # fmt: skip
    pairs = done.record_once("pairs", lambda: peirce.pairs(
        *collected, seed=seed, limit=sizes.pairs, contexts=sizes.contexts, fixed=splits_of(out),
        store=store,
    )["digest"])  # fmt: skip
    for base, schedule, model in models(out, seed):
        if schedule != BASE:
            done.record_once(
                f"train {base} {schedule}",
                lambda base=base, schedule=schedule, model=model: trained(peirce.train(
                    base=base_of(out, base), pairs=pairs, out=model, seed=seed, store=store,
                    resume=model.exists(), examples=sizes.examples, period=sizes.period,
                    batch=sizes.batch, probe_pairs=sizes.probe_pairs,
                    **TRAINING, **SCHEDULES[schedule],
                )),
            )  # fmt: skip
        for task in TASKS:
            session(
                f"evaluate {base} {schedule} {task}", task,
                model if schedule == BASE else model / "model", observations=sizes.shown[task],
                rounds=sizes.rounds, subset=["held-out"],
            )  # fmt: skip


def trained(record: Mapping[str, Any]) -> str:
    if record["status"] != "done":
        sys.exit(f"{record['out']}: {record['status']}; start again to go on")
    return str(record["training"])


def models(out: Path, seed: int) -> Iterator[tuple[str, str, Path]]:
    """Base, schedule and folder of each model of a seed."""
    for base in ARCHITECTURES:
        yield base, BASE, base_of(out, base)
        for schedule in schedules(base):
            name = schedule.replace(", ", "-").replace(" ", "-")
            yield base, schedule, out / f"seed-{seed}" / f"{base}-{name}"


def schedules(base: str) -> list[str]:
    return [name for name in SCHEDULES if base == ARCHITECTURES[0] or name != EXTRA]


def unfinished(store: Path) -> str | None:
    """The session that was under way when the last run of this seed was stopped: they are made one
    after the other."""
    if not store.exists():
        return None
    rows = peirce.sessions(store=store)
    return rows[-1]["session"] if rows and rows[-1]["status"] != "done" else None


# --- the tables ----------------------------------------------------------------


def tables(out: Path, seeds: list[int]) -> str:
    """Markdown: a row a model, then a row a difference of two of one base. A problem's value is its
    mean over the seeds. Intervals draw rules, with all their problems: problems of one rule hang
    together; they know nothing of other seeds or other pretrained bases."""
    rules = rules_of(out)
    measured = {
        (base, name): [of_problems(out, seed, base, name) for seed in seeds]
        for base, name, _ in models(out, 0)
    }
    problems = sorted({one for by_seed in measured.values() for of in by_seed for one in of})
    names = sorted({rules[one] for one in problems})
    rule = np.array([names.index(rules[one]) for one in problems])
    drawn = np.random.default_rng(0).integers(len(names), size=(RESAMPLES, len(names)))
    values = {
        model: {column: np.array([[value(of, one, column) for one in problems] for of in by_seed])
                for column in COLUMNS}
        for model, by_seed in measured.items()
    }  # fmt: skip

    def row(title: list[str], found: Mapping[str, FloatArray]) -> dict[str, Any]:
        cells = {column: interval(found[column], rule, drawn) for column in COLUMNS}
        return {"title": title, "problems": len(problems), "rules": len(names), **cells}

    rows = [row(list(model), found) for model, found in values.items()]
    differences = [
        row([base, f"{one} − {other}"],
            {column: values[base, one][column] - values[base, other][column] for column in COLUMNS})
        for base in ARCHITECTURES for one, other in DIFFERENCES if one in schedules(base)
    ]  # fmt: skip
    replace(out / "tables.json", {"models": rows, "differences": differences})
    text = f"{markdown(rows)}\n{markdown(differences)}"
    (out / "tables.md").write_text(text)
    return text


def of_problems(out: Path, seed: int, base: str, schedule: str) -> dict[str, dict[str, Any]]:
    """What the problems of all tasks came to under one seed, by their names."""
    store = out / f"seed-{seed}.duckdb"
    done = json.loads((out / f"seed-{seed}.json").read_text())
    sessions = [done[f"evaluate {base} {schedule} {task}"] for task in TASKS]
    told = peirce.evaluate(*sessions, name="t3", by_problem=True, store=store)["sessions"]
    return {one["problem"]: one for session in told for one in session["by_problem"]}


def value(of: Mapping[str, Mapping[str, Any]], problem: str, column: str) -> float:
    found = of.get(problem, {}).get(column)  # a problem whose call failed for good has no values
    return float("nan") if found is None else float(found)


def interval(found: FloatArray, rule: IntArray, drawn: IntArray) -> dict[str, Any]:
    """found: (seeds, problems), NaN where a problem has no value under a seed. rule: (problems,).
    drawn: (resamples, rules)."""
    known = ~np.isnan(found)
    of_problem = np.nansum(found, axis=0) / np.maximum(known.sum(axis=0), 1)
    there = known.any(axis=0)
    sums = np.bincount(rule, of_problem * there, drawn.shape[1])
    counts = np.bincount(rule, there, drawn.shape[1])
    means = sums[drawn].sum(axis=1) / np.maximum(counts[drawn].sum(axis=1), 1)
    low, high = np.quantile(means, [0.025, 0.975])
    by_seed = [float(np.nanmean(one)) if (~np.isnan(one)).any() else None for one in found]
    return {"mean": sums.sum() / max(counts.sum(), 1), "low": low, "high": high,
            "seeds": by_seed, "problems": int(there.sum())}  # fmt: skip


def markdown(rows: list[dict[str, Any]]) -> str:
    head = ["base", "trained by", *COLUMNS]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [f"{c['mean']:.3f} [{c['low']:.3f}, {c['high']:.3f}]" if c["problems"] else ""
                 for c in (row[column] for column in COLUMNS)]  # fmt: skip
        lines.append(f"| {' | '.join([*row['title'], *cells])} |")
    return "\n".join(lines) + "\n"


def replace(path: Path, value: Any) -> None:
    """Whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(value, indent=1))
    new.rename(path)


if __name__ == "__main__":
    try:
        main()
    except PeirceError as error:
        sys.exit(str(error))
