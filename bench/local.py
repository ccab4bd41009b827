"""What a batch is worth: `python bench/local.py [--tokens 64] [--rounds 5] [--json FILE]`,
with the extras `local` and `serve`.

Tokens a second of a tiny model (a Qwen2 of 2 layers, made here) for one request after the other, for
8 that wait at a moment, which is one batch, and for 8 side by side at `transformers serve`, which
answers one after the other. Ratios of rounds taken in turn, on a machine that may do other work. A
tiny model shows what Python costs a token; with a large one on an accelerator a batch is worth more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peirce.agents import open_model
from peirce.records import InputSet, View
from table import Row, add_json_option, write_rows, write_skipped

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "agents"))
from tiny_model import NEEDED, make_model

VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))
PROMPT = [{"role": "user", "content": "What explains the data? " * 20}]
WAITING = 8


@contextlib.contextmanager
def served(home: Path) -> Iterator[str]:
    """The URL of a `transformers serve`."""
    (home / "hub").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()",
               "serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]  # fmt: skip
    process = subprocess.Popen(
        command, env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


async def tokens_a_second(proposer: Any, side_by_side: bool) -> float:
    """Of `WAITING` answers, made one after the other or asked for at one moment."""
    began = time.perf_counter()
    if side_by_side:
        asked = (proposer.propose(VIEW, PROMPT, (), n) for n in range(WAITING))
        replies = await asyncio.gather(*asked)
    else:
        replies = [await proposer.propose(VIEW, PROMPT, (), n) for n in range(WAITING)]
    made = sum(reply.usage.tokens_out for reply in replies)
    return made / (time.perf_counter() - began)


async def measured(local: str, served: str, tokens: int, rounds: int) -> dict[str, list[float]]:
    settings = {"max_tokens": tokens, "temperature": 0}
    here, there = await open_model(local, settings), await open_model(served, settings)
    ways = {"alone": (here, False), "one batch": (here, True), "server": (there, True)}
    found: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for number in range(rounds + 1):
            for name, (proposer, side_by_side) in ways.items():
                speed = await tokens_a_second(proposer, side_by_side)
                if number:  # the first round loads and warms
                    found[name].append(speed)
    finally:
        await here.close()
        await there.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    add_json_option(parser)
    given = parser.parse_args()
    absent = [
        name for name in (*NEEDED, "fastapi", "uvicorn") if not importlib.util.find_spec(name)
    ]
    if absent:
        why = f"{', '.join(absent)} absent; pip install 'peirce[local,serve]'"
        write_skipped(given.json, why)
        return
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(Path(folder) / "model")
        with served(Path(folder)) as url:
            work = measured(f"hf:{model}", f"{url}#{model}", given.tokens, given.rounds)
            found = asyncio.run(work)
    for name, speeds in found.items():
        print(f"{name:10} {statistics.median(speeds):7.0f} tokens a second")
    rows = []
    for name in ("alone", "server"):
        pairs = zip(found["one batch"], found[name], strict=True)
        ratios = sorted(batch / other for batch, other in pairs)
        print(f"one batch of {WAITING} to {name}: {statistics.median(ratios):.1f} times as fast"
              f" ({ratios[0]:.1f} to {ratios[-1]:.1f})")  # fmt: skip
        batch, other = statistics.median(found["one batch"]), statistics.median(found[name])
        way = "one request after the other" if name == "alone" else "transformers serve"
        rows.append(Row(f"a batch of {WAITING} in process, beside {way}", batch, "tokens/s",
                        "higher", other, way))  # fmt: skip
    write_rows(given.json, rows)


if __name__ == "__main__":
    main()
