"""A session of scripted answers that is killed (SIGKILL) at every journal boundary in turn; run as
a program by test_kills.py, in a process without threads of its own so that it can fork.

    python killed_session.py FOLDER

For each n it forks a child that runs the session and dies right before, or right after, the n-th
durable write; another child resumes the same store and another replays it. Prints one JSON object:
{"reference": digest, "runs": [{"boundary", "side", "killed", "digest", "differences"}]}.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from peirce.agents.scripted import Scripted
from peirce.graphs.replay import replay_session
from peirce.graphs.runner import run_session
from peirce.records import InputSet, Observation, Problem
from peirce.sandbox import open_sandbox
from peirce.store import Store
from peirce.store.writing import Writer

SPACE = InputSet("singletons", tuple([n] for n in range(10)))
SHOWN = (Observation([3], [3]), Observation([5], [5]))
HIDDEN = (Observation([7], [8]),)
CALL = {"tool": "execute", "arguments": {"code": "def f(x):\n    return [4]"}}
SOURCES = (
    "def f(x):\n    return x",
    "def f(x):\n    return x if x[0] in (3, 5) else [x[0] + 1]",
)


def replies() -> list[Any]:
    from peirce.records import Reply, ToolCall

    call = Reply(tool_calls=(ToolCall("a", CALL["tool"], CALL["arguments"]),), finish="tool_calls")
    first, second = (repr(("a rule", source)) for source in SOURCES)
    return [[call, first], "no tuple at all", second]


def new_session(path: Path) -> None:
    proposer = Scripted(replies())
    settings = {
        "task": "examples", "method": "abduce", "model": "scripted", "seed": 0,
        "model_settings": proposer.settings(),
    }  # fmt: skip
    problems = [Problem(name, "examples", "programs", SHOWN, HIDDEN) for name in ("one", "two")]
    with Store.open(path, write=True) as store:
        store.create_session(settings, [(problem, SPACE) for problem in problems])


async def drive(path: Path) -> None:
    with Store.open(path, write=True) as store:
        sandbox = await open_sandbox("process", workers=1)
        try:
            session = store.find("last")
            await run_session(
                store, session, proposer=Scripted(replies()), sandbox=sandbox, concurrency=2
            )
        finally:
            await sandbox.close()


def dying_at(boundary: int, side: str) -> None:
    """From here on the n-th write of this process is its last, or the one before it was."""
    write, count = Writer.write, 0

    async def counted(self: Writer, change: Any) -> None:
        nonlocal count
        count += 1
        mine = count == boundary  # others may write while this one waits
        if mine and side == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await write(self, change)
        if mine and side == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    Writer.write = counted  # type: ignore[method-assign]


def in_child(work: Any, *arguments: Any) -> tuple[int, Any]:
    """(wait status, what `work` returned as JSON or None) of a forked child."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        code = 1
        try:
            os.write(write, json.dumps(work(*arguments)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(pid, 0)
    return status, json.loads(told) if told else None


def run(path: Path, boundary: int = 0, side: str = "") -> None:
    if boundary:
        dying_at(boundary, side)
    asyncio.run(drive(path))


def look(path: Path) -> Any:
    with Store.open(path, write=False) as store:
        session = store.find("last")
        replay = asyncio.run(replay_session(store, session))
        return {"digest": store.digest(session), "differences": replay["differences"],
                "steps": replay["steps"]}  # fmt: skip


def main(folder: Path) -> None:
    reference = folder / "reference.duckdb"
    in_child(new_session, reference)
    in_child(run, reference)
    _, whole = in_child(look, reference)
    runs = []
    boundary, ended = 0, False
    while not ended:
        boundary += 1
        for side in ("before", "after"):
            path = folder / f"{boundary}{side}.duckdb"
            in_child(new_session, path)
            status, _ = in_child(run, path, boundary, side)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            in_child(run, path)
            _, seen = in_child(look, path)
            runs.append({"boundary": boundary, "side": side, "killed": killed, **(seen or {})})
            ended = not killed
    print(json.dumps({"reference": whole, "runs": runs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
