"""Whether sessions have one digest on one machine and on a cluster whose nodes die: `python
bench/cluster_digests.py --shared DIR [--seed 0] [--moments 10] [--sessions abd,labels] [--out FILE]`.

Starts a head and four raylets on this machine, each with one core, with Ray's own command line, as on
five machines. Three sessions run: 40 list functions, 20 instances of abd and a data set of labelled
rows. Each runs once on this machine and once on the cluster. Then sessions run in turn, `--moments` of
them: in each, two raylets are killed and one is started, each at a moment that the seed draws. At last,
each session's driver is killed at a drawn moment and the session is resumed. All digests of a session
must be equal; the exit code is 1 if they are not. Takes some 25 minutes on two cores. Needs the extra
`cluster`, and no other Ray on port 6399.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BIN = Path(sys.executable).parent
PORT = 6399


class Cluster:
    """A head without cores, and raylets with one core each, as processes of this machine."""

    def __init__(self, folder: Path) -> None:
        # Ray 2.60 makes a token for each user, which all its processes need once it exists.
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ADDRESS": f"127.0.0.1:{PORT}",
            "OMP_NUM_THREADS": "1",
        }
        subprocess.run(
            [BIN / "ray", "get-auth-token", "--generate"], env=self.environment, capture_output=True
        )
        self.raylets: list[subprocess.Popen[bytes]] = []
        self.folder = folder
        self._started = 0
        self.head = self._start(
            "--head",
            "--node-ip-address=127.0.0.1",
            f"--port={PORT}",
            "--num-cpus=0",
            "--include-dashboard=false",
        )
        for _ in range(4):
            self.add()

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        log = open(self.folder / f"ray-{len(self.raylets)}.log", "ab")  # noqa: SIM115
        command = [BIN / "ray", "start", "--block", *options]
        environment = {k: v for k, v in self.environment.items() if k != "RAY_ADDRESS"}
        process = subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        time.sleep(12)
        return process

    def add(self) -> None:
        """Start a raylet that may run untrusted code."""
        # Each raylet has an address of its own, so that the driver belongs to the head, as on a machine
        # of its own: Ray ends a driver together with the raylet that it belongs to.
        self._started += 1
        options = (
            f"--address=127.0.0.1:{PORT}",
            f"--node-ip-address=127.0.1.{self._started}",
            "--num-cpus=1",
            '--resources={"sandbox": 1}',
        )
        self.raylets.append(self._start(*options))

    def kill(self) -> None:
        """Kill the oldest raylet with all its processes."""
        os.killpg(self.raylets.pop(0).pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop all raylets and the head."""
        for process in (*self.raylets, self.head):
            os.killpg(process.pid, signal.SIGKILL)


def run_session(name: str, options: list[str], store: Path, environment: dict[str, str]) -> dict:
    """Run a session from the command line, and return what it prints as JSON."""
    command = [BIN / "peirce", "run", name, *options, "--model", "search", "--store", store]
    started = time.monotonic()
    ended = subprocess.run(
        [*command, "--json", "--quiet"], env=environment, capture_output=True, text=True
    )
    if ended.returncode or not ended.stdout:
        raise SystemExit(f"{name}: exit code {ended.returncode}: {ended.stderr[-500:]}")
    found = json.loads(ended.stdout)
    return {**found, "wall_s": time.monotonic() - started}


def kill_driver(
    name: str,
    options: list[str],
    folder: Path,
    environment: dict[str, str],
    draw: random.Random,
    usual: float,
) -> tuple[Path, float]:
    """Kill the driver of a session in the middle, and return its store and the moment in seconds.

    A session that ends before is run again and killed earlier.
    """
    command = [BIN / "peirce", "run", name, *options, "--model", "search", "--quiet"]
    moment = draw.uniform(0.6, 0.95) * usual
    while True:
        store = folder / f"driver-{name}-{moment:.0f}.duckdb"
        driver = subprocess.Popen(
            [*command, "--store", store], env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            driver.wait(moment)
        except subprocess.TimeoutExpired:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
            return store, moment
        moment *= 0.7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--shared", required=True, type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--sessions", default="list_functions,abd,labels")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    shared, draw = given.shared / "data", random.Random(given.seed)
    lists = next((shared / "gear").rglob("list_function*.jsonl*"))
    sessions = {
        "list_functions": ["--data", str(lists), "--problems", "40", "--observations", "4"],
        "abd": ["--data", str(shared / "abd"), "--problems", "20", "--method", "refine"],
        "labels": ["--seed", "3"],
    }
    sessions = {name: sessions[name] for name in given.sessions.split(",")}
    rows: list[dict[str, object]] = []
    wanted: dict[str, str] = {}
    usual: dict[str, float] = {}

    def note(name: str, what: str, found: dict) -> None:
        digest = found["digest"]
        equal = wanted.setdefault(name, digest) == digest
        rows.append({"session": name, "what": what, "seconds": round(found["wall_s"], 1),
                     "digest": digest[:12], "equal": equal, "status": found["status"]})  # fmt: skip
        print(*rows[-1].values(), sep="\t", flush=True)
        if given.out:
            given.out.write_text("".join(json.dumps(row) + "\n" for row in rows))

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        local = {**os.environ, "OMP_NUM_THREADS": "1"}
        for name, options in sessions.items():
            note(name, "one machine", run_session(name, options, folder / "local.duckdb", local))
        cluster = Cluster(folder)
        try:
            remote = {**cluster.environment, "PEIRCE_CLUSTER": "ray"}
            for name, options in sessions.items():
                found = run_session(name, options, folder / "whole.duckdb", remote)
                usual[name] = found["wall_s"]
                note(name, "four raylets", found)
            for number in range(given.moments):
                name = list(sessions)[number % len(sessions)]
                # Ray takes some seconds to connect before the work begins.
                moments = sorted(draw.uniform(0.3, 0.9) * usual[name] for _ in range(3))
                events = [cluster.kill, cluster.kill, cluster.add]
                draw.shuffle(events)
                timers = [threading.Timer(*pair) for pair in zip(moments, events, strict=True)]
                for timer in timers:
                    timer.start()
                found = run_session(name, sessions[name], folder / f"killed{number}.duckdb", remote)
                for timer in timers:
                    timer.join()
                said = ", ".join(
                    f"{event.__name__} at {moment:.0f} s"
                    for moment, event in zip(moments, events, strict=True)
                )
                note(name, said, found)
                while len(cluster.raylets) < 4:
                    cluster.add()
            for name, options in sessions.items():
                store, moment = kill_driver(name, options, folder, remote, draw, usual[name])
                started = time.monotonic()
                ended = subprocess.run(
                    [BIN / "peirce", "resume", "last", "--store", store, "--json", "--quiet"],
                    env=remote, capture_output=True, text=True,
                )  # fmt: skip
                if not ended.stdout:
                    raise SystemExit(f"{name}, resumed: {ended.stderr[-500:]}")
                found = {**json.loads(ended.stdout), "wall_s": time.monotonic() - started}
                note(name, f"driver killed at {moment:.0f} s, resumed", found)
        finally:
            cluster.stop()
    raise SystemExit(not all(row["equal"] for row in rows))


if __name__ == "__main__":
    main()
