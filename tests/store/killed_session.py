"""A session of scripted answers that is killed (SIGKILL) at every journal boundary in turn; run as
a program by test_kills.py, in a process without threads of its own so that it can fork.

    python killed_session.py FOLDER [METHOD [EVERY]]

For each n (from 1, in steps of EVERY) it forks a child that runs the session and dies right before the n-th change is
queued for the writer, right after it, or as soon as it is durable; another child resumes the same store and replays it. Two lanes, children too, take
every other one of these until no write is left to die at, which the first side shows. Prints one JSON object:
{"reference": digest, "runs": [{"boundary", "side", "killed", "digest", "differences"}]}. METHOD:
abduce, t3 in two rounds, or refine, where a script repairs what the first answer gets wrong.

Internals: a process dies before or after a change that it counts in the store's one writer.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from peirce.agents.scripted import ScriptedProposer
from peirce.graphs import find_method
from peirce.graphs.runtime.replay import replay_session
from peirce.graphs.runtime.runner import run_session
from peirce.records import InputSet, Observation, OracleSettings, Problem, Reply, ToolCall, View
from peirce.store import Store
from peirce.store.writer import Writer
from peirce.tasks import load_family
from peirce.tools.execute import EXECUTE

LANES = 2
SIDES = ("before", "queued", "durable")
SPACE = InputSet("singletons", tuple([n] for n in range(10)))
SHOWN = (Observation([3], [3]), Observation([5], [5]))
HIDDEN = (Observation([7], [8]),)
CALL = {"tool": "execute", "arguments": {"code": "def f(x):\n    return [4]"}}
SOURCES = (
    "def f(x):\n    return x",
    "def f(x):\n    return x if x[0] in (3, 5) else [x[0] + 1]",
)


def replies() -> list[Any]:
    call = Reply(tool_calls=(ToolCall("a", CALL["tool"], CALL["arguments"]),), finish="tool_calls")
    first, second = (repr(("a rule", source)) for source in SOURCES)
    return [[call, first], "no tuple at all", second]


class Repairs:
    """Makes a function of it that is wrong too."""

    def settings(self) -> Any:
        return {"model": "script"}

    async def repair(self, view: View, text: str) -> Reply:
        if len(view.past_answers) > 1:
            return Reply(finish="exhausted")
        return Reply(repr(("mended", text.replace("[4]", "[8]"))))

    async def close(self) -> None:
        return None


def told(method: str) -> list[Any]:
    """What the model says."""
    if method in ("abduce", "t3"):
        return replies()
    wrong = repr(("a rule", CALL["arguments"]["code"]))
    return [wrong, "no tuple at all", replies()[0][1]]


def new_session(path: Path, method: str) -> None:
    settings = {
        "task": "examples", "method": method, "model": "scripted", "seed": 0,
        "model_settings": ScriptedProposer(told(method)).settings(),
    }  # fmt: skip
    if method == "refine":
        settings |= {"repair": "script", "repairer_settings": Repairs().settings(), "tool_calls": 0}
    if method == "t3":
        settings |= {"rounds": 2, "feedback": False}
    problems = [Problem(name, "examples", "programs", SHOWN, HIDDEN) for name in ("one", "two")]
    with Store.open(path, write=True) as store:
        store.create_session(settings, [(problem, SPACE) for problem in problems])


async def drive(path: Path) -> None:
    with Store.open(path, write=True) as store:
        sandbox = await EXECUTE.open(OracleSettings(workers=1))
        try:
            session = store.find_session("last")
            method = store.session(session)["settings"]["method"]
            await run_session(
                store, session, proposer=ScriptedProposer(told(method)), oracle=sandbox, concurrency=2,
                repairer=Repairs(),
            )  # fmt: skip
        finally:
            await sandbox.close()


def dying_at(boundary: int, side: str) -> None:
    """From here on the n-th change of a session that this process queues is its last, or the one before it was."""
    submit, count = Writer.submit, 0

    def counted(self: Writer, change: Any, **options: Any) -> Any:
        nonlocal count
        if change.chain is None:  # not a call, a step or the end of a problem
            return submit(self, change, **options)
        count += 1
        mine = count == boundary  # others may write while this one waits
        if mine and side == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = submit(self, change, **options)
        if mine and side == "durable":
            done.result()
        if mine:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    Writer.submit = counted  # type: ignore[method-assign]


def start(work: Any, *arguments: Any) -> tuple[int, int]:
    """A forked child that does `work`: its id, and the pipe for what it returns as JSON."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        code = 1
        try:
            with os.fdopen(write, "wb") as pipe:
                pipe.write(json.dumps(work(*arguments)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    return pid, read


def end(pid: int, read: int) -> tuple[int, Any]:
    """(wait status, what the child returned or None)."""
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(pid, 0)
    return status, json.loads(told) if told else None


def in_child(work: Any, *arguments: Any) -> tuple[int, Any]:
    return end(*start(work, *arguments))


def run(path: Path, boundary: int = 0, side: str = "") -> None:
    if boundary:
        dying_at(boundary, side)
    asyncio.run(drive(path))


def look(path: Path) -> Any:
    with Store.open(path, write=False) as store:
        session = store.find_session("last")
        replay = asyncio.run(replay_session(store, session))
        return {"digest": store.digest(session), "differences": replay["differences"],
                "steps": replay["steps"]}  # fmt: skip


def run_and_look(path: Path) -> Any:
    run(path)
    return look(path)


def lane(folder: Path, new: Path, first: int, every: int) -> list[Any]:
    """Boundaries first, first + LANES * every, …, to the first one that is not there."""
    runs = []
    for boundary in itertools.count(first, LANES * every):
        for side in SIDES:
            path = folder / f"{boundary}{side}.duckdb"
            shutil.copyfile(new, path)
            status, _ = in_child(run, path, boundary, side)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            _, seen = in_child(run_and_look, path)
            runs.append({"boundary": boundary, "side": side, "killed": killed, **(seen or {})})
            if not killed:
                return runs
    raise AssertionError("unreachable")


def import_all(name: str) -> None:
    """What every child would import for itself. None of it may start a thread."""
    import duckdb  # noqa: F401
    from langchain_core.tools import StructuredTool  # noqa: F401

    find_method(name, "programs")
    load_family("programs")
    if os.path.isdir("/proc/self/task"):
        assert len(os.listdir("/proc/self/task")) == 1


def main(folder: Path, method: str = "abduce", every: int = 1) -> None:
    import_all(method)
    new, reference = folder / "new.duckdb", folder / "reference.duckdb"
    in_child(new_session, new, method)
    shutil.copyfile(new, reference)
    _, whole = in_child(run_and_look, reference)
    lanes = [start(lane, folder, new, 1 + n * every, every) for n in range(LANES)]
    runs = [one for started in lanes for one in end(*started)[1]]
    print(json.dumps({"reference": whole, "runs": runs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3], *map(int, sys.argv[3:]))
