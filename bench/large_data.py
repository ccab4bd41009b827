"""Measure whole sessions of `--model search` on large labelled data: `python bench/large_data.py [--texts 100000]
[--records 1000000] [--json FILE]`.

The data is made with a seed. A text has 100 words of a vocabulary of 20,000; thirty of its common words are a little
more frequent under one label. A record has ten columns; two conjunctions decide its label, and one label in twenty is
changed. Each session is one `peirce run` with its baselines, as a user starts it. The table gives seconds, CPU seconds,
the peak memory of all its processes (shared pages counted once, /proc/PID/smaps_rollup), the size of its store, and
the seconds of `peirce resume` after it. Without arguments, both are small.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peirce.reports.files.tables import Table, as_text
from table import Row, add_json_option, write_rows

LOOK_EVERY_S = 0.25
WORDS = 100
VOCABULARY = 20_000
TELLING = range(50, 80)  # ranks of the words that tell something about the label
GIB = 1024 * 1024  # KiB


def write_texts(count: int, path: Path) -> None:
    """Write a table of texts and labels."""
    drawn = np.random.default_rng(0)
    words = np.array(_invented_words())
    shares = 1 / np.arange(1, VOCABULARY + 1) ** 0.9
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "label"])
        for start in range(0, count, 5_000):
            size = min(5_000, count - start)
            ranks = drawn.choice(VOCABULARY, (size, WORDS), p=shares / shares.sum())
            labels = drawn.random(size) < 0.5
            for number, rank in enumerate(TELLING):
                likely = labels == (number % 2 == 0)
                rows = np.flatnonzero(drawn.random(size) < np.where(likely, 0.16, 0.10))
                ranks[rows, drawn.integers(0, WORDS, rows.size)] = rank
            for row, label in zip(ranks, labels, strict=True):
                table.writerow([" ".join(words[row]), "yes" if label else "no"])


def _invented_words() -> list[str]:
    consonants, vowels = "bcdfghjklmnprstvz", "aeiou"
    syllables = [first + second for first in consonants for second in vowels]
    return [
        syllables[n % 85] + syllables[n // 85 % 85] + (syllables[n // 7_225] if n >= 7_225 else "")
        for n in range(VOCABULARY)
    ]


def write_records(count: int, path: Path) -> None:
    """Write a table of ten columns and a label."""
    drawn = np.random.default_rng(0)
    columns = {
        "region": drawn.choice(["north", "south", "east", "west"], count),
        "plan": drawn.choice(["basic", "plus", "pro"], count),
        "age": drawn.integers(18, 90, count),
        "spend": np.round(drawn.gamma(2, 50, count), 2),
        "visits": drawn.poisson(6, count),
        "device": drawn.choice(["phone", "tablet", "desktop"], count),
        "member": drawn.choice(["yes", "no"], count),
        "score": np.round(drawn.normal(0, 1, count), 3),
        "months": drawn.integers(0, 60, count),
        "channel": drawn.choice(["web", "shop", "partner", "mail"], count),
    }
    left = (columns["region"] == "north") & (columns["age"] >= 60)
    left |= (columns["plan"] == "pro") & (columns["spend"] >= 120)
    left ^= drawn.random(count) < 0.05
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*columns, "label"])
        labels = np.where(left, "left", "stayed")
        table.writerows(zip(*columns.values(), labels, strict=True))


@dataclass(frozen=True)
class Measured:
    """What one command took: seconds, CPU seconds and the peak memory of its processes in KiB."""

    seconds: float
    cpu_s: float
    peak_kib: int


def measure(command: Sequence[str], env: dict[str, str]) -> Measured:
    """Run a command to its end and measure it.

    Raises:
        CalledProcessError: The command failed; its output is printed before.
    """
    used, began, peak = _children_cpu_s(), time.monotonic(), 0
    with tempfile.TemporaryFile("w+") as output:
        running = subprocess.Popen(command, stdout=output, stderr=output, env=env)
        while running.poll() is None:
            peak = max(peak, sum(map(_resident_kib, _family(running.pid))))
            time.sleep(LOOK_EVERY_S)
        if running.returncode:
            output.seek(0)
            print(output.read(), file=sys.stderr)
            raise subprocess.CalledProcessError(running.returncode, command)
    return Measured(time.monotonic() - began, _children_cpu_s() - used, peak)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _family(pid: int) -> set[int]:
    """A process and its descendants."""
    found = {pid}
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in listed.read_text().split()]
        except OSError:  # the thread has ended
            continue
        for child in children:
            found |= _family(child)
    return found


def _resident_kib(pid: int) -> int:
    """The memory of a process, with a page that n processes share counted as 1/n."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # the process has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def session(kind: str, write: Callable[[int, Path], None], count: int) -> list[Row]:
    """The figures of a session on so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        data, store = Path(folder, f"{kind}.csv"), Path(folder, "run.duckdb")
        write(count, data)
        peirce = [sys.executable, "-m", "peirce"]
        env = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        run = measure(
            [*peirce, "run", "labels", "--data", str(data), "--label", "label",
             "--model", "search", "--store", str(store)], env
        )  # fmt: skip
        size_mib = store.stat().st_size / 2**20
        resumed = measure([*peirce, "resume", "last", "--store", str(store)], env)
    work = f"a session on {count:,} {kind}"
    return [
        Row(f"{work}, time", run.seconds, "s"),
        Row(f"{work}, CPU", run.cpu_s, "s"),
        Row(f"{work}, memory of all processes", run.peak_kib / GIB, "GiB"),
        Row(f"{work}, store", size_mib, "MiB"),
        Row(f"{work}, resume of the ended session", resumed.seconds, "s"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", type=int, default=500, help="number of texts; 0 for none")
    parser.add_argument("--records", type=int, default=2_000, help="number of records; 0 for none")
    add_json_option(parser)
    options = parser.parse_args()
    rows = [
        *(session("texts", write_texts, options.texts) if options.texts else ()),
        *(session("records", write_records, options.records) if options.records else ()),
    ]
    body = tuple((row.work, f"{row.now:.2f}", row.unit) for row in rows)
    print(as_text(Table(("work", "figure", "unit"), body), None))
    write_rows(options.json, rows)


if __name__ == "__main__":
    main()
