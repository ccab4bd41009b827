"""A small folder in the form of the published data of GEAR, and a script that answers its problems."""

from __future__ import annotations

import json
import random
from pathlib import Path

import peirce

FILES = {"list_functions": ("list_function", "list_function.jsonl"), "acre": ("acre", "acre.jsonl")}
TRAINING = "full: true\nlearning_rate: 6.0e-4\nbeta: 0.1\nbatch: 8\ndevice_batch: 8\nprobe_pairs: 6\nmax_length: 640\nkeep: 1\n"


def write_published(folder: Path, tasks=("list_functions", "acre"), problems=6, counts=(2, 3)):
    """Write data sets, their observations, script.json (two consistent hypotheses of each problem, one
    of the other task, and an answer that holds none) and train.yaml. All are of a seed."""
    (folder / "io_pairs").mkdir(parents=True)
    script: dict[str, list[str]] = {}
    for task in tasks:
        name, file = FILES[task]
        peirce.tasks_generate(task, folder / "made", problems=problems, seed=3, difficulty="easy")
        rows = [json.loads(line) for line in (folder / "made").read_text().splitlines()]
        (folder / "made").unlink()
        lines = [
            json.dumps({"idx": k, "train": r["train"], "test": r["test"]})
            for k, r in enumerate(rows)
        ]
        (folder / file).write_text("\n".join(lines) + "\n")
        shown: dict[int, dict[str, list]] = {n: {} for n in counts}
        for k, row in enumerate(rows):
            pool = [p for p in row["train"] + row["test"] if p["output"] != "undetermined"]
            random.Random(k).shuffle(pool)
            first = (
                [next(p for p in pool if p["output"] == one) for one in ("on", "off")]
                if task == "acre"
                else []
            )
            pool = [*first, *(p for p in pool if not any(p is one for one in first))]
            for n in counts:
                shown[n][str(k)] = [[p["input"], p["output"]] for p in pool[:n]]
            table = {str(p["input"]): p["output"] for p in pool}
            memory = f"def f(x):\n    t = {table!r}\n    return t.get(str(x), x[:1])"
            script.setdefault(str(k), []).extend(
                [str(("the rule", row["secret"]["rule"])), str(("a table", memory))]
            )
        for n, one in shown.items():
            (folder / "io_pairs" / f"{name}_{n}.json").write_text(json.dumps(one))
    for answers in script.values():
        answers.append("I do not know.")
    (folder / "script.json").write_text(json.dumps(script))
    (folder / "train.yaml").write_text(TRAINING)
    return folder
