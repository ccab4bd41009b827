"""The memory of the search's worker processes over a session: `python bench/search_memory.py [FILE]
[--half even|odd] [--presets standard thorough] [--workers 1] [--answers 3] [--json FILE]`.

FILE has a problem per line, as the task `examples` reads it; without it, the task generates problems.
`--half` takes the problems at even or odd places of the file. The session is `peirce run examples
--model search` in a process of its own, with one search worker, so that this worker sees all problems
and keeps the latest of them as it does in every session. Printed is the most resident memory that a
worker had at any time (VmHWM of /proc, which needs Linux), and the seconds of the session. At most
1 GB a worker is the aim.

Not measured: the sandbox's workers, which have a limit of their own, and the session's process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peirce.search.budget import PRESETS
from table import Row, add_json_option, format_table, write_rows, write_skipped

MODULE = "peirce.search.worker"
GENERATED = 12
LIMIT_MB = 1_000
INTERVAL_S = 0.05


def peaks_mb(session: int) -> dict[int, float]:
    """Return the most memory so far of each search worker below a process, by its number."""
    parents: dict[int, int] = {}
    peaks: dict[int, float] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            status = (place / "status").read_text()
            title = (place / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        parents[int(place.name)] = int(fields["PPid"])
        if MODULE.encode() in title and "VmHWM" in fields:
            peaks[int(place.name)] = int(fields["VmHWM"].split()[0]) / 1024
    return {number: peak for number, peak in peaks.items() if session in _above(number, parents)}


def _above(number: int, parents: dict[int, int]) -> list[int]:
    found = []
    while number := parents.get(number, 0):
        found.append(number)
    return found


def run_session(words: list[str]) -> tuple[dict[int, float], float]:
    """Return the most memory of each search worker of a session in MB, and the seconds it took.

    Raises:
        SystemExit: The session failed.
    """
    peaks: dict[int, float] = {}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        session = subprocess.Popen(
            [sys.executable, "-m", "peirce", "run", *words], stdout=log, stderr=subprocess.STDOUT
        )
        while session.poll() is None:
            for number, peak in peaks_mb(session.pid).items():
                peaks[number] = max(peak, peaks.get(number, 0.0))
            time.sleep(INTERVAL_S)
        seconds = time.perf_counter() - began
        if session.returncode or not peaks:
            log.seek(0)
            raise SystemExit(f"the session failed: {log.read().decode(errors='replace')[-400:]}")
    return peaks, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="problems (default: generated)")
    parser.add_argument("--half", choices=("even", "odd"), help="of the places in the file")
    parser.add_argument(
        "--presets", nargs="+", choices=sorted(PRESETS), default=["standard", "thorough"]
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--answers", type=int, default=3, help="at most so many per problem")
    add_json_option(parser)
    given = parser.parse_args()
    if not Path("/proc/self/status").exists():
        write_skipped(given.json, "no /proc here")
        return
    rows, body = [], []
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        data = ["--problems", str(GENERATED)]
        if given.file is not None:
            lines = given.file.read_text("utf-8").splitlines()
            chosen = lines[given.half == "odd" :: 2] if given.half else lines
            copy = Path(folder) / "problems.jsonl"
            copy.write_text("".join(f"{line}\n" for line in chosen), "utf-8")
            data = ["--data", str(copy)]
        for preset in given.presets:
            settings = ["--preset", preset, "--max-answers", str(given.answers)]
            workers = ["--workers", str(given.workers)]
            store = ["--store", f"{folder}/{preset}.duckdb", "--quiet"]
            words = ["examples", *data, "--model", "search", *settings, *workers, *store]
            peaks, seconds = run_session(words)
            most = max(peaks.values())
            body.append((preset, str(len(peaks)), f"{most:.0f} MB", f"{seconds:.0f}"))
            rows.append(
                Row(f"memory of a search worker, {preset} preset", most, "MB", limit=LIMIT_MB)
            )
            rows.append(Row(f"a session of the search, {preset} preset", seconds, "s"))
    print(format_table(("preset", "workers", "most memory of one", "s"), body))
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()
