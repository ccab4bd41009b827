"""Hostile hypotheses on every backend that can be had here, with no static check before them: the
verdict is right, the time is bounded, the parent unharmed, no secret told, nothing left behind, and
the next hypothesis on the same pool is served as if nothing had been.

Run one by `pytest tests/hostile -k reading/objects`. The attacks are in the folders beside this file,
what they could harm in scene.py. Not covered: attacks on the kernel itself, and on other tenants of
the processor (timing, caches).
"""

from __future__ import annotations

import asyncio
import builtins
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peirce.records import Batch, InputSet, SandboxUnavailable
from peirce.sandbox import backend_names, open_sandbox
from peirce.tests.hostile.scene import HERE, Attack, Room, Scene, attacks, examine
from peirce.tests.hostile.snapshot import MARK, machine

ATTACKS = {attack.name: attack for attack in attacks()}
CATEGORIES = {
    "frames", "formats", "memory", "cpu", "recursion", "forks", "threads", "files", "sockets", "signals", "output",
    "numbers", "regexes", "results", "equality", "builtins", "exits", "survivors", "state", "compile", "reading",
}  # fmt: skip
# where it matters whether the inputs travel with the request or lie in a process of their own
TWICE = {"frames", "forks", "files", "signals", "survivors", "reading", "exits", "threads"}
CASES = [(name, "small") for name in ATTACKS]
CASES += [(name, "large") for name in ATTACKS if name.split("/")[0] in TWICE]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def room(request: pytest.FixtureRequest, loop: asyncio.Runner) -> Iterator[Room]:
    with Scene() as scene:

        async def open_two() -> Any:
            return await open_sandbox(request.param, workers=2)

        lacking = ""
        try:
            sandbox = loop.run(open_two())
        except SandboxUnavailable as error:
            lacking = str(error)
        gc.collect()  # sockets of the search for an engine, which are counted in the rooms that follow
        if lacking:
            pytest.skip(f"NO HOSTILE TESTS ON {request.param.upper()}: {lacking}")
        opened = Room(sandbox, 2, scene, open_two)
        try:
            loop.run(opened.prepare())
            yield opened
        finally:
            loop.run(opened.sandbox.close())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every attack on every backend. On Docker, where each costs several times as much, the first
    attack of each category runs with every change and the others by `make soak`. On processes, every
    attack runs with every change on small inputs; on large inputs the first of each category and
    every fifth one do."""
    if "inputs" not in metafunc.fixturenames:
        return
    first: dict[str, str] = {}
    for name in sorted(ATTACKS):
        first.setdefault(ATTACKS[name].category, name)
    sample = {(name, "small") for name in first.values()}
    large = [case for case in CASES if case[1] == "large"]
    chosen = {(name, "large") for name in first.values()} | {*large[::5]}
    usual = {"docker": sample, "process": {*CASES} - {*large} | chosen}
    metafunc.parametrize(
        ("room", "name", "inputs"),
        [
            pytest.param(backend, *case, id="-".join((backend, *case)), marks=marks)
            for backend in backend_names()
            for case in CASES
            for marks in [[] if case in usual.get(backend, CASES) else [pytest.mark.soak]]
        ],
        indirect=["room"],
        scope="module",
    )


def test_a_hostile_hypothesis_gets_its_verdict_and_nothing_else(
    loop: asyncio.Runner, room: Room, name: str, inputs: str
) -> None:
    attack = ATTACKS[name]
    lacking = [layer for layer in attack.needs if not room.sandbox.layers().get(layer)]
    if lacking:
        pytest.skip(f"{name} is not safe to run without {', '.join(lacking)}")
    batch, told = loop.run(examine(room, attack, inputs))
    assert not told, f"{attack.attack}: {'; '.join(told)} [{batch.verdict}: {batch.detail}]"


def test_there_are_hostile_hypotheses_of_every_category_and_pytest_collects_none() -> None:
    assert len(ATTACKS) >= 75
    assert {attack.category for attack in ATTACKS.values()} == CATEGORIES
    for attack in ATTACKS.values():
        assert attack.limits.cpu_s <= 30 and attack.limits.memory_mb <= 512, attack.name
        assert not attack.name.split("/")[1].startswith("test_"), attack.name
        for values in attack.values.values():
            assert len(values) in (0, 4), attack.name
    assert sorted(p.name for p in HERE.glob("*.py")) == [
        "scene.py",
        "snapshot.py",
        "test_hostile.py",
    ]


# --- the checks can fail -----------------------------------------------------


class Naive:
    """A backend as it should not be: a child process and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.inputs: dict[str, InputSet] = {}
        self.folder = folder

    async def put(self, inputs: InputSet) -> str:
        self.inputs[inputs.digest] = inputs
        return inputs.digest

    async def run(self, source: str, entry: str, inputs: str, keep: str, limits: Any) -> Batch:
        given = self.inputs[inputs].inputs
        zeros = np.zeros(len(given), np.int64), np.zeros(len(given), np.uint8), ()
        with tempfile.TemporaryFile("w+") as said:  # not a pipe: what survives would hold it open
            done = subprocess.run(
                [sys.executable, "-S", "-c", NAIVE], text=True, stdout=said, stderr=subprocess.DEVNULL,
                input=json.dumps([source, entry, given]), start_new_session=True,
                cwd=self.folder,
            )  # fmt: skip
            said.seek(0)
            if done.returncode:
                return Batch("crashed", *zeros)
            values = tuple({"value": value} for value in json.loads(said.read().splitlines()[-1]))
        return Batch("ok", *zeros, values)

    def layers(self) -> dict[str, bool]:
        return {"seccomp": True, "landlock": True}  # it lies

    async def close(self) -> None:
        pass


NAIVE = """
import json, sys
source, entry, given = json.loads(sys.stdin.read())
space = {}
exec(source, space)
values = [space[entry](x) for x in given]
print(json.dumps(values))
"""


class Leaking(Naive):
    async def run(self, *arguments: Any) -> Batch:
        self.kept = [*getattr(self, "kept", []), os.open(os.devnull, 0)]
        return await super().run(*arguments)


class Patching(Naive):
    async def run(self, *arguments: Any) -> Batch:
        if "touch" in arguments[0]:
            builtins.peirce_hostile = True  # type: ignore[attr-defined]
        return await super().run(*arguments)


class Forgetful(Naive):
    """Whatever was asked before is answered again."""

    last: Batch | None = None

    async def run(self, *arguments: Any) -> Batch:
        if "touch" in arguments[0]:
            self.last = await super().run(*arguments)
        return self.last or await super().run(*arguments)


def inline(source: str, **changes: Any) -> Attack:
    return replace(
        ATTACKS["state/changed_inputs"], name="frames/inline", source=source, values={}, **changes
    )


CAUGHT: dict[str, tuple[type[Naive], Attack, str]] = {
    "a mark in a folder": (Naive, ATTACKS["forks/shells"], "files left behind"),
    "a victim": (Naive, ATTACKS["files/the_victim"], "may write was changed"),
    "the environment": (Naive, ATTACKS["reading/environment"], "the secret of environment"),
    "a file": (Naive, ATTACKS["reading/files"], "the secret of file"),
    "a file at home": (Naive, ATTACKS["reading/files"], "the secret of home"),
    "the network": (Naive, ATTACKS["sockets/loopback"], "came to a listener"),
    "a listener": (Naive, ATTACKS["sockets/unix"], "came to a listener"),
    "a socket that stays": (Naive, ATTACKS["sockets/unix"], "files left behind"),
    "a process that stays": (Naive, ATTACKS["forks/spawn"], "processes"),
    "a signal": (Naive, inline("import os\ndef f(x):\n    os.kill(@PID@, 10)"), "signals came: [10]"),
    "a death": (Naive, inline("import os\ndef f(x):\n    os.kill(@DECOY@, 9) if x == [1] else 0"), "nobody told to end"),
    "a name of a socket": (Naive, inline(
        "import socket, subprocess\ndef f(x):\n    s = socket.socket(1, 1)\n    s.set_inheritable(True)\n    if x == [1]:\n"
        "        s.bind('\\0peirce-hostile-name')\n        subprocess.Popen(['sleep', '20'], pass_fds=[s.fileno()], stdout=-3)"
    ), "sockets left behind"),
    "a verdict": (Naive, inline("def f(x): return x", verdicts={"else": ("too_slow",)}), "not too_slow"),
    "values": (Naive, replace(inline("def f(x): return x"), values={"else": [1, 2, 3, 4]}), "not [1, 2, 3, 4]"),
    "time": (Naive, inline("import time\ndef f(x): time.sleep(0.1)", seconds=0.2), "s of 0.2"),
    "descriptors": (Leaking, inline("def f(x): return x"), "descriptors of the parent"),
    "a patched parent": (Patching, inline("def f(x): return 'touch'"), "the parent's builtins changed"),
    "the next hypothesis": (Forgetful, inline("def f(x): return 'touch'"), "the next hypothesis"),
}  # fmt: skip


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Room:
    """A room without a sandbox: its input sets, and what honest hypotheses answer."""

    async def prepare() -> Room:
        with Scene() as scene:
            room = Room(Naive(tmp_path_factory.mktemp("prepared")), 1, scene)
            await room.prepare()
            return room

    return asyncio.run(prepare())


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks into /proc")
@pytest.mark.parametrize("name", CAUGHT)
def test_what_an_attack_does_without_a_sandbox_is_seen(
    name: str, prepared: Room, tmp_path: Path
) -> None:
    kind, attack, complaint = CAUGHT[name]

    async def session() -> list[str]:
        with Scene() as scene:
            room = Room(kind(tmp_path), 1, scene, None, prepared.inputs, prepared.answers)
            for inputs in prepared.inputs.values():
                await room.sandbox.put(inputs)
            return (await examine(room, attack, settle_s=0.2))[1]

    known = set(machine())
    try:
        told = asyncio.run(session())
    finally:
        vars(builtins).pop("peirce_hostile", None)
        end_strays(known)
    assert any(complaint in one for one in told), told


@pytest.mark.parametrize("room", backend_names(), indirect=True, scope="module")
def test_an_honest_hypothesis_gives_no_complaint(loop: asyncio.Runner, room: Room) -> None:
    for inputs in ("small", "large"):
        batch, told = loop.run(
            examine(room, inline("def f(x):\n    return x", verdicts={"else": ("ok",)}), inputs)
        )
        assert batch.verdict == "ok" and not told


def end_strays(known: set[int]) -> None:
    """What an attack without a sandbox started."""
    for pid, one in machine().items():
        if pid not in known and MARK in one.command:
            os.kill(pid, signal.SIGKILL)
