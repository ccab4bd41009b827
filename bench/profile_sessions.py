"""Where a CPU second of a session goes, for the main job of each family, and what limits it:

    pip install py-spy
    python bench/profile_sessions.py [--only list_functions,abd] [--out FILE.md] [--json FILE]

Each job is a session of the embedded search, except "model", whose answers come from an endpoint that
answers at once. Two tools watch each job:

- `perf record` samples every process, also those that live a few milliseconds, with the kernel. It gives
  the share of each process and the kind of work (interpreter, NumPy, page faults, …).
- `py-spy` reads the Python stacks of all processes, without stopping them. It tells which part of
  Peirce works. Threads that wait do not count. The children of the sandbox live too shortly for it, so
  for the sandbox the kinds of perf are printed instead.

py-spy is needed only here, so it is no dependency of the project. `perf` is a package of the system
(linux-perf on Debian); reading the kernel's stacks takes the right to (root, or
kernel.perf_event_paranoid = 1). The shares depend little on the load of the machine; the seconds do.
work_limits.py measures what each kind of work costs at least, in the same run.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import work_limits
from endpoint import served
from profile_parts import ROLES, SESSION, Samples, find_role, part_of_stack, read_perf, read_stacks
from table import Row, add_json_option, write_rows, write_skipped

TREE = Path(__file__).resolve().parents[1]
PERF_HZ, PY_SPY_HZ = 250, 50
SHOWN_PERCENT = 2.0  # smaller parts are added up
SEARCH = ("--model", "search")
JOBS: dict[str, tuple[str, ...]] = {
    "list_functions": ("list_functions", "--problems", "4", "--observations", "4", *SEARCH),
    "mini_arc": ("mini_arc", "--problems", "2", *SEARCH),
    "acre": ("acre", "--problems", "12", *SEARCH),
    "examples": ("examples", "--problems", "6", *SEARCH),
    "labels": ("labels:shoe", "--method", "hypogenic", *SEARCH),
    "laws": ("laws", "--problems", "2", *SEARCH),
    "abd": ("abd", "--problems", "3", *SEARCH),
    "model": ("list_functions", "--data", "{pairs}", "--max-answers", "10", "--model", "{endpoint}"),
}  # fmt: skip


@dataclass
class Profile:
    """Where the CPU time of one job went.

    Attributes:
        cpu_s: CPU seconds of all processes that perf saw.
        steps: Number of answers of the session.
        shares: Percent of the CPU time, by role of the process and part or kind of work.
        kinds: Percent of the CPU time by kind of work alone, over all processes.
        forks: Number of processes that the sandbox forked.
        syncs: Number of times that the session waited for the disk.
    """

    cpu_s: float
    steps: int
    shares: dict[str, dict[str, float]] = field(default_factory=dict)
    kinds: dict[str, float] = field(default_factory=dict)
    forks: int = 0
    syncs: int = 0

    def percent(self, role: str) -> float:
        """Return the percent of the CPU time that processes of a role took."""
        return sum(self.shares.get(role, {}).values())


@contextmanager
def watch_commands(root: int) -> Iterator[dict[int, str]]:
    """Collect the command lines of a process and its descendants by id, until the context ends."""
    commands: dict[int, str] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            for pid in list_descendants(root):
                with suppress(OSError):
                    text = Path(f"/proc/{pid}/cmdline").read_bytes()
                    if text:  # a process that ended has none
                        commands[pid] = text.replace(b"\0", b" ").decode(errors="replace")

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield commands
    finally:
        ended.set()
        thread.join()


def is_session(words: str) -> bool:
    """Return whether a command line is that of the session itself, not of the tool that starts it."""
    return find_role(words) == SESSION and "python" in words.partition(" ")[0]


def list_descendants(root: int) -> list[int]:
    """Return the ids of a process and of all processes below it."""
    found, left = [], [root]
    while left:
        found.append(left.pop())
        for file in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            with suppress(OSError):
                left += map(int, file.read_text().split())
    return found


def run_profiled(
    session: Sequence[str], py_spy: str, folder: Path
) -> tuple[Samples, Counter[tuple[str, str]], float, dict[str, Any]]:
    """Run a session under both tools.

    Returns:
        The samples of perf; the samples of py-spy by role of the process and part of the program; the
        CPU seconds of the session; and the JSON that it printed.
    """
    data, raw, log = (folder / name for name in ("perf.data", "stacks", "errors"))
    events = ("cpu-clock", "syscalls:sys_enter_fsync", "syscalls:sys_enter_fdatasync")
    chosen = [word for event in events for word in ("-e", event)]
    perf = ["perf", "record", "-q", "-g", "-F", str(PERF_HZ), *chosen, "-o", str(data), "--"]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*perf, *session], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""},
        )  # fmt: skip
        with watch_commands(process.pid) as commands:
            while not (found := [pid for pid, words in commands.items() if is_session(words)]):
                if process.poll() is not None:
                    break
                time.sleep(0.05)
            words = f"--subprocesses --nonblocking --format raw --rate {PY_SPY_HZ} --output {raw}"
            reader = subprocess.Popen(
                [py_spy, "record", *words.split(), "--pid", str(min(found, default=0))],
                stdout=errors, stderr=errors,
            )  # fmt: skip
            output, _ = process.communicate()
            reader.wait()
    if process.returncode or not raw.is_file():
        raise SystemExit(f"{' '.join(session)} could not be profiled: {log.read_text()[-600:]}")
    fields = "comm,pid,tid,time,event,ip,sym,dso"
    script = ["perf", "script", "-i", str(data), "--show-task-events", "-F", fields]
    text = subprocess.run(
        script, capture_output=True, text=True, check=True, errors="replace"
    ).stdout
    samples = read_perf(text.splitlines(), commands)
    parts: Counter[tuple[str, str]] = Counter()
    for name, frames, count in read_stacks(raw.read_text(errors="replace").splitlines()):
        pid, _, words = name.removeprefix("process ").partition(":")
        role = find_role(commands.get(int(pid or 0), "")) or find_role(words)
        part = part_of_stack(frames, TREE.name)
        if role is not None and part is not None:
            parts[role, part] += count
    return samples, parts, sum(samples.work.values()) / PERF_HZ, json.loads(output)


def combine_samples(
    samples: Samples, stacks: Counter[tuple[str, str]], cpu_s: float, steps: int
) -> Profile:
    """Return a profile: perf's share of each process, divided among parts as py-spy saw them."""
    total = sum(samples.work.values())
    profile = Profile(
        cpu_s, steps, forks=samples.forked["sandbox"], syncs=samples.synced["session"]
    )
    for role in [*(name for _, name in ROLES), "other"]:
        kinds = {kind: n for (of, kind), n in samples.work.items() if of == role}
        parts = {part: n for (of, part), n in stacks.items() if of == role}
        seen = parts if parts and role != "sandbox" else kinds
        percent, whole = 100 * sum(kinds.values()) / total, sum(seen.values())
        if whole:
            profile.shares[role] = {name: percent * n / whole for name, n in seen.items()}
    for (_, kind), n in samples.work.items():
        profile.kinds[kind] = profile.kinds.get(kind, 0.0) + 100 * n / total
    return profile


def format_shares(shares: dict[str, float]) -> str:
    """Return parts with their percent, the largest first; small ones are added up."""
    ordered = sorted(shares.items(), key=lambda one: -one[1])
    large = [(name, share) for name, share in ordered if share >= SHOWN_PERCENT]
    rest = sum(share for _, share in ordered) - sum(share for _, share in large)
    texts = [f"{name} {share:.0f}" for name, share in large]
    return ", ".join([*texts, *([f"rest {rest:.0f}"] if rest >= 0.5 else [])])


def format_page(profiles: dict[str, Profile], limits: dict[str, float]) -> str:
    """Return the tables in Markdown."""
    roles = [
        role for _, role in ROLES if any(one.percent(role) >= 0.5 for one in profiles.values())
    ]
    lines = [f"| job | CPU s | answers | CPU ms an answer | {' | '.join(roles)} |"]
    lines.append("|---" * (4 + len(roles)) + "|")
    for name, one in profiles.items():
        each = 1e3 * one.cpu_s / max(one.steps, 1)
        shares = " | ".join(f"{one.percent(role):.0f}%" for role in roles)
        lines.append(f"| {name} | {one.cpu_s:.1f} | {one.steps} | {each:,.0f} | {shares} |")
    lines += ["", "| job | process | percent of the CPU time of the job |", "|---|---|---|"]
    for name, one in profiles.items():
        for role, parts in one.shares.items():
            if sum(parts.values()) >= 1:
                lines.append(f"| {name} | {role} | {format_shares(parts)} |")
    lines += ["", "| job | kinds of work, all processes, percent |", "|---|---|"]
    lines += [f"| {name} | {format_shares(one.kinds)} |" for name, one in profiles.items()]
    heads = "forks of the sandbox | CPU ms a fork | commits | CPU ms of the store a commit"
    lines += ["", f"| job | {heads} |", "|---|---|---|---|---|"]
    for name, one in profiles.items():
        fork = 10 * one.cpu_s * one.percent("sandbox") / max(one.forks, 1)
        store = one.shares.get(SESSION, {}).get("journal and store", 0.0)
        commit = 10 * one.cpu_s * store / max(one.syncs, 1)
        forks = f"{one.forks} | {fork:.1f}" if one.forks else "none | -"
        lines.append(f"| {name} | {forks} | {one.syncs} | {commit:.1f} |")
    lines += ["", "| work of a bare loop | CPU ms |", "|---|---|"]
    lines += [f"| {name} | {value:,.2f} |" for name, value in limits.items()]
    return "\n".join(lines) + "\n"


def write_pairs(folder: Path) -> Path:
    """Write eight problems that the answers of the endpoint explain."""
    pairs = [{"input": str([n] * (n % 3)), "output": str([n] * (n % 3))} for n in range(12)]
    rows = [{"idx": n, "train": pairs[:8], "test": pairs[8:]} for n in range(8)]
    file = folder / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def profile_job(name: str, py_spy: str, folder: Path) -> Profile:
    """Run one job under both tools."""
    with served() if name == "model" else nullcontext("") as endpoint:
        fill = {"pairs": str(write_pairs(folder)), "endpoint": endpoint}
        words = [word.format(**fill) for word in JOBS[name]]
        session = [str(TREE / ".venv/bin/peirce"), "run", *words, "--json", "--quiet", "--no-cache"]
        store = ["--store", str(folder / "profiled.duckdb")]
        samples, stacks, cpu_s, found = run_profiled([*session, *store], py_spy, folder)
    return combine_samples(samples, stacks, cpu_s, found["steps"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(JOBS), help="jobs, separated by commas")
    parser.add_argument("--out", type=Path, help="write the tables to this file, too")
    parser.add_argument("--py-spy", default=shutil.which("py-spy"), help="the program py-spy")
    add_json_option(parser)
    options = parser.parse_args()
    missing = "py-spy (pip install py-spy)" if options.py_spy is None else "perf (linux-perf)"
    if options.py_spy is None or shutil.which("perf") is None:
        write_skipped(options.json, f"{missing} is not installed")
        return
    # Users have the bytecode of an earlier start; without it, imports would take a third longer.
    compileall.compile_dir(TREE, quiet=2, rx=re.compile(r"/\.|/tests/|/build/"))
    profiles = {}
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory(prefix="profile-") as folder:
            profiles[name] = profile_job(name, options.py_spy, Path(folder))
        print(f"{name}: {profiles[name].cpu_s:.1f} CPU s", file=sys.stderr, flush=True)
    limits = work_limits.measure_limits()
    page = format_page(profiles, limits)
    print(page)
    if options.out is not None:
        options.out.write_text(page)
    rows = [
        Row(f"CPU seconds of the profiled session {name}", one.cpu_s, "s")
        for name, one in profiles.items()
    ]
    details = {"profiles": {name: vars(one) for name, one in profiles.items()}, "limits": limits}
    write_rows(options.json, rows, **details)


if __name__ == "__main__":
    main()
