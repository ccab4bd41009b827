"""The bench scripts with short settings, and how one of them is run.

`make bench` (run_all.py) runs each script of `SCRIPTS` with the settings there. They are kept small, so that
all scripts together end within 40 minutes on two quiet cores (they took some seven minutes of CPU time on
2026-11-23); the docstring of a script says how it is run in full. `make bench-compare` (compare.py) runs those of `COMPARED`, once a round and tree, with settings
that are smaller still.

In arguments, {shared} stands for the folder of the published data and {folder} for one that is kept
between runs of the same tree.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from table import PROTOCOL, Row

HERE = Path(__file__).resolve().parent
SCRIPTS: dict[str, tuple[str, ...]] = {
    "trace_proposal.py": (),
    "step.py": (),
    "sandbox.py": (),
    "gear.py": (),
    "abd.py": ("--no-z3",),
    "pairs.py": ("--problems", "5"),
    "journal.py": ("--steps", "80"),
    "tokens.py": ("--problems", "1", "--answers", "4", "--only", "list_functions"),
    "agent.py": ("--problems", "2", "--seeds", "1", "--strengths", "weakest", "strongest"),
    "stopping_advice.py": ("--sessions", "10", "--problems", "50"),
    "agents.py": ("--problems", "16", "--concurrency", "16"),
    "flight.py": ("--flights", "1", "50", "--problems", "100"),
    "grids.py": (),
    "reading.py": ("--shapes", "think tags,combining marks,pairs of texts,numbered list,clauses"),
    "text.py": (),
    "protocols.py": ("--problems", "2"),
    "judges.py": ("--rows", "30", "--sentences", "4", "--rounds", "1"),
    "text_search.py": ("--rows", "200", "--vocabulary", "1000", "5000", "--columns", "5", "10"),
    "large_data.py": (),
    "studies.py": ("--problems", "100", "--contexts", "2", "--stored", "10"),
    "report.py": ("--problems", "200", "--loads", "3"),
    "search.py": ("list_functions", "--problems", "10", "--answers", "5", "--budgets", "20000"),
    "search_speed.py": (),
    "plain_enumeration.py": (),
    "strings.py": ("--seconds", "1"),
    "laws.py": ("--seconds", "1", "--noise", "0.001"),
    "search_memory.py": ("--presets", "standard"),
    "learn_prices.py": ("--seeds", "1", "--held-out", "1", "--expansions", "2000"),
    "pair_expansions.py": ("--problems", "10", "--expansions", "30000"),
    "abd_checks.py": ("--rounds", "3"),
    "abd_search.py": ("--sample", "6", "--budgets", "5000", "20000", "--workers", "2"),
    "abd_tradeoff.py": ("--sample", "6", "--expansions", "5000", "--workers", "2"),
    "ranking.py": ("--problems", "8"),
    "example_kinds.py": ("--problems", "2"),
    "hypobench_grid.py": (),
    "hypobench_banks.py": ("{shared}/data/text", "--out", "{folder}", "--only", "shoe"),
    "hypobench_sets.py": ("--only", "shoe", "marine"),
    "local.py": ("--rounds", "2"),
    "train.py": ("--examples", "96", "--repeats", "1"),
    "train_large.py": ("--updates", "3"),
    "momentum.py": (),
    "cluster.py": ("--rounds", "2", "--work-ms", "50", "--problems", "1", "--sleepers", "50"),
}
COMPARED: dict[str, tuple[str, ...]] = {
    "sandbox.py": ("--rounds", "2", "--backends", "process"),
    "gear.py": ("--hypotheses", "60", "--repeats", "5"),
    "abd.py": ("--rows", "60", "--no-z3"),
    "abd_checks.py": ("--rounds", "3"),
    "abd_search.py": ("--sample", "6", "--budgets", "150000"),
    "pairs.py": ("--problems", "3", "--store", "{folder}/pairs.duckdb"),
    "step.py": ("--rounds", "3"),
    "report.py": ("--problems", "60", "--loads", "3", "--store", "{folder}/report.duckdb"),
    "search_speed.py": ("--problems", "2", "--expansions", "20000"),
    "journal.py": ("--steps", "80"),
}
# Needed and absent: the script is skipped. What else a script lacks it says itself.
NEEDS = {"hypobench_banks.py": "data/text"}
# These measure nothing that `make bench` reports: parts of scripts, and what has a target of its own.
PARTS = (
    "abd_curve.py", "abd_instances.py", "beside_plain.py", "stand_in_server.py", "cluster_driver.py", "cluster_overhead.py",
    "gear_store.py", "hypobench_curves.py", "hypobench_page.py", "momentum_cells.py", "mutations.py",
    "process_times.py", "profile_parts.py", "protocol_models.py", "scripts.py", "session_driver.py", "stand_ins.py",
    "law_data.py", "table.py", "text_sources.py", "work_limits.py",
)  # fmt: skip
APART = {
    "cluster_digests.py": "python bench/cluster_digests.py",
    "run_all.py": "make bench",
    "compare.py": "make bench-compare A=DIR B=DIR",
    "mutants.py": "python bench/mutants.py",
    "profile_sessions.py": "python bench/profile_sessions.py",
    "package_texts.py": "python bench/package_texts.py OUT",
    "text_sets.py": "python bench/text_sets.py OUT/dev/*",
}
TIMEOUT_S = 1_200


@dataclass
class Result:
    """What one run of a script came to. failed: why it has no rows; skipped: why it measured nothing."""

    script: str
    arguments: list[str]
    seconds: float = 0.0
    load: tuple[float, ...] = ()
    rows: list[Row] = field(default_factory=list)
    skipped: str | None = None
    failed: str | None = None
    output: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "script": self.script, "arguments": self.arguments, "seconds": round(self.seconds, 1),
            "load": self.load, "skipped": self.skipped, "failed": self.failed,
            "rows": [row.as_json() for row in self.rows], "output": self.output,
        }  # fmt: skip

    @property
    def left_out(self) -> list[str]:
        """The parts that the script says it could not measure."""
        lines = self.output.splitlines()
        return [line for line in lines if line.startswith("NOT MEASURED: ")]


def choose_scripts(only: str | None, usual: Sequence[str]) -> list[str]:
    """Return the scripts that a list of names means, such as `step,gear`; the usual ones without it.

    Raises:
        SystemExit: There is no script of a name.
    """
    names = [f"{one.removesuffix('.py')}.py" for one in only.split(",")] if only else list(usual)
    for name in names:
        if name not in SCRIPTS:
            known = ", ".join(one.removesuffix(".py") for one in SCRIPTS)
            raise SystemExit(f"There is no bench script {name}; choose from {known}.")
    return names


def shared_folder() -> Path:
    """Return where the published data are looked for."""
    return Path(os.environ.get("PEIRCE_SHARED", HERE.parents[1] / "shared"))


def fill_in(arguments: Sequence[str], folder: Path) -> list[str]:
    return [one.format(shared=shared_folder(), folder=folder) for one in arguments]


def run_script(
    script: Path,
    arguments: Sequence[str],
    folder: Path,
    python: Path | str = sys.executable,
    timeout_s: float = TIMEOUT_S,
) -> Result:
    """Run one script in a process group of its own, which ends with it.

    Args:
        script: The file to run.
        arguments: Its arguments, without `--json`.
        folder: What {folder} stands for.
        python: The interpreter, whose `peirce` is measured.
        timeout_s: After so many seconds the script and all its processes are killed.
    """
    words = fill_in(arguments, folder)
    result = Result(script.name, words, load=os.getloadavg())
    need = NEEDS.get(script.name)
    if need is not None and not (shared_folder() / need).exists():
        result.skipped = f"no {need} here: set PEIRCE_SHARED"
        return result
    environment = {**os.environ, "PEIRCE_SHARED": str(shared_folder())}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        file, log = Path(place) / "rows.json", Path(place) / "output"
        command = [str(python), str(script), *words, "--json", str(file)]
        began = time.perf_counter()
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=environment, start_new_session=True,
            )  # fmt: skip
            try:
                status = wait_for(process, timeout_s)
            finally:
                kill_group(process)
        result.seconds = time.perf_counter() - began
        result.output = log.read_text("utf-8", "replace")
        if status is None:
            result.failed = f"it was killed after {timeout_s:.0f} s"
        elif status or not file.is_file():
            result.failed = f"exit code {status}: {result.output.strip()[-400:]}"
        else:
            found = json.loads(file.read_text())
            assert found["protocol"] == PROTOCOL, found["protocol"]
            result.skipped = found["skipped"]
            result.rows = [Row.from_json(row) for row in found["rows"]]
    return result


def end_on_sigterm() -> None:
    """Let SIGTERM end this process as an exception does, so that what it started ends with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def wait_for(process: subprocess.Popen[bytes], timeout_s: float) -> int | None:
    """Return the exit code of a process, or None after so many seconds.

    Time in which this process was stopped, as by Ctrl-Z, does not count.
    """
    waited, before = 0.0, time.monotonic()
    while process.poll() is None and waited < timeout_s:
        time.sleep(0.02)
        now = time.monotonic()
        waited, before = waited + min(now - before, 1.0), now
    return process.poll()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that has a session of its own, with all that is still in it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def describe_tree(tree: Path) -> str:
    """Return the short commit of a working tree, with "-changed" where files differ from it."""

    def ask(*words: str) -> str | None:
        command = ["git", "--no-optional-locks", "-C", str(tree), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    commit = ask("rev-parse", "--short", "HEAD")
    if commit is None:
        return "no-commit"
    return f"{commit}-changed" if ask("status", "--porcelain") else commit
