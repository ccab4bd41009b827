"""What hostile hypotheses could harm, planted for real, and the look at it before and after each.

A hypothesis here is a file in a folder of this one. Its first lines say what it tries and what must
come of it (`Attack.read`); nothing imports these files. Words in @ are filled in by the scene.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from peirce.records import Batch, InputSet, Limits
from peirce.tests.hostile.snapshot import SIGNALS, Snapshot, marked_files, roots_of

HERE = Path(__file__).parent
INPUTS: tuple[list[int], ...] = ([3, 1, 2], [1], [], [5, 5])
LIMITS = Limits(
    loop_steps=2_000, input_cpu_s=0.1, cpu_s=1, wall_s=5, memory_mb=64, output_bytes=200_000
)
SPARE_S = 4.0  # beyond the wall time, for a busy machine
SETTLE_S = 5.0  # for what was killed to be gone

# --- the hypotheses ----------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """One file. verdicts and values: by layer ("else" without one); `needs`: layers without which
    it is not safe to run at all."""

    name: str
    source: str
    attack: str
    verdicts: Mapping[str, tuple[str, ...]]
    values: Mapping[str, list[Any]]
    limits: Limits
    seconds: float
    needs: tuple[str, ...] = ()

    @property
    def category(self) -> str:
        return self.name.split("/")[0]

    @classmethod
    def read(cls, path: Path) -> Attack:
        """Raises ValueError where its first lines are out of order."""
        told: dict[str, dict[str, str]] = {}
        text = path.read_text("utf-8")
        for line in text.splitlines():
            match = re.fullmatch(
                r"# (attack|verdict|values|limits|seconds|needs)(?:\[(\w+)\])?: (.+)", line
            )
            if not match:
                break
            key, layer, rest = match.groups()
            told.setdefault(key, {})[layer or "else"] = rest
        if "attack" not in told or "verdict" not in told:
            raise ValueError(f"{path} lacks an attack or a verdict in its first lines")
        changes = dict(pair.split("=") for pair in told.get("limits", {}).get("else", "").split())
        kinds = {f.name: type(getattr(LIMITS, f.name)) for f in fields(Limits)}
        limits = replace(LIMITS, **{name: float(v) for name, v in changes.items()})
        limits = replace(limits, **{n: kinds[n](getattr(limits, n)) for n in kinds if n in changes})
        return cls(
            path.relative_to(HERE).with_suffix("").as_posix(),
            text,
            told["attack"]["else"],
            {layer: tuple(v.split("|")) for layer, v in told["verdict"].items()},
            {layer: json.loads(v) for layer, v in told.get("values", {}).items()},
            limits,
            float(told.get("seconds", {}).get("else", limits.wall_s + SPARE_S)),
            tuple(told.get("needs", {}).get("else", "").split()),
        )

    def expected(self, layers: Mapping[str, bool]) -> tuple[tuple[str, ...], list[Any] | None]:
        """Allowed verdicts and the values, where they can be told, under these layers."""

        def pick(by_layer: Mapping[str, Any]) -> Any:
            held = [value for layer, value in by_layer.items() if layers.get(layer)]
            return held[0] if held else by_layer.get("else")

        return pick(self.verdicts) or ("ok",), pick(self.values)


def attacks() -> list[Attack]:
    return [Attack.read(path) for path in sorted(HERE.glob("*/*.py"))]


def agree(expected: Any, value: Any) -> bool:
    """Whether a value is the expected one, in which {"any": true} stands for anything."""
    if expected == {"any": True}:
        return True
    if type(expected) is list and type(value) is list and len(expected) == len(value):
        return all(map(agree, expected, value))
    if type(expected) is dict and type(value) is dict and expected.keys() == value.keys():
        return all(agree(expected[key], value[key]) for key in expected)
    return type(expected) is type(value) and bool(expected == value)


# --- the honest ones ---------------------------------------------------------

HONEST = "def f(x):\n    return [sorted(x), sum(x), len(x), str(x), max(x, default=None), x[::-1]]"
CURIOUS = """
import builtins, collections, itertools, json, math, os, random, re, string, sys
def f(x):
    fcntl = []
    for number in range(64):
        try:
            fcntl.append([number, os.fstat(number).st_mode, os.get_blocking(number)])
        except OSError:
            pass
    try:
        files = [name for name in os.listdir('.') if 'peirce' in name]
    except OSError as error:
        files = type(error).__name__
    try:
        with open('honest', 'w') as file:
            file.write('x' * 1000)
        os.unlink('honest')
        room = True
    except OSError as error:
        room = type(error).__name__
    return [json.loads(json.dumps(x)), math.sqrt(16), math.factorial(5), sorted(x), random.random(),
            re.sub('[0-9]', 'd', 'a1'), collections.Counter(x)[5], list(itertools.accumulate(x)),
            hasattr(builtins, 'peirce_hostile'), 'peirce_hostile' in sys.modules, hasattr(math, 'peirce_hostile'),
            sys.gettrace() is None, sys.getprofile() is None, sys.getrecursionlimit(), string.digits,
            dict(os.environ), list({'a', 'b', 'c'}), hash('a'), fcntl, files, room]
"""
NEEDLES = ("inline", "stage", "source", "environment", "home", "file", "answers")


@dataclass
class Room:
    """A sandbox with what is known of it: its layers, what honest hypotheses answered when it was
    new, and which processes it had."""

    sandbox: Any
    workers: int
    scene: Scene
    reopen: Callable[[], Awaitable[Any]] | None = None
    inputs: dict[str, InputSet] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    rest: Snapshot | None = None

    async def renew(self) -> None:
        """A new sandbox in the place of one that an attack spoiled, so that one finding is one."""
        await self.sandbox.close()
        if self.reopen is not None:
            self.sandbox = await self.reopen()
            self.rest = None
            await self.prepare()

    def look(self) -> Snapshot:
        return Snapshot.take(roots_of(self.sandbox), self.scene.folder)

    async def at_rest(self) -> Snapshot:
        """As it is when nothing runs; a child of the last batch may take a moment to go."""
        if self.rest is None:  # at first, and where a worker was replaced
            await self.spread()
            await asyncio.gather(self.honest(HONEST, "small"), self.honest(HONEST, "large"))
        for _ in range(100):
            if self.rest is not None:
                break
            before = self.look()
            await asyncio.sleep(0.05)
            self.rest = None if before.changes(self.look()) else before
        assert self.rest is not None, "the sandbox does not come to rest"
        return self.rest

    async def prepare(self) -> None:
        """Puts the input sets, and runs something of each kind on each worker."""
        filler = ([0] * 20_000,)  # so that the set is too large to travel with each request
        secret = ["inline", "stage"]
        for name, inputs in {
            "small": INPUTS,
            "large": (*INPUTS, *filler),
            "inline": tuple([self.scene.secrets["inline"], n] for n in range(4)),
            "stage": tuple([self.scene.secrets["stage"], n] for n in range(4)) + filler,
        }.items():
            self.inputs[name] = InputSet(name, inputs)
            await self.sandbox.put(self.inputs[name])
        await self.spread(secret)
        for name in ("small", "large"):
            batches = await self.honest(HONEST, name)
            assert batches[0].values is not None, batches[0]
            assert [v.get("value") for v in batches[0].values[:4]] == [
                [sorted(x), sum(x), len(x), str(x), max(x, default=None), x[::-1]] for x in INPUTS
            ]
            self.answers[HONEST + name] = batches[0].values
            batches = await self.honest(CURIOUS, name)
            self.answers[CURIOUS + name] = batches[0].values
            assert batches[0].verdict == "ok", batches[0]

    async def spread(self, names: list[str] | tuple[str, ...] = ("inline", "stage")) -> None:
        """Secrets of other hypotheses pass through every worker: in sources and in inputs."""
        source = f"hidden = {self.scene.secrets['source']!r}  # {self.scene.secrets['source']}\n"
        source += (
            "def f(x):\n    kept = hidden + str(x)[:80]\n    return [kept, len(kept)]\n"
            + "# "
            + "x" * 3000
        )
        for name in names:
            await asyncio.gather(*(self.run(source, name, Limits()) for _ in range(self.workers)))

    async def run(self, source: str, inputs: str, limits: Limits, keep: Any = "values") -> Batch:
        digest = self.inputs[inputs].digest
        return await self.sandbox.run(source, "f", digest, keep, limits)

    async def honest(self, source: str, inputs: str) -> list[Batch]:
        """One for each worker, at once."""
        return list(
            await asyncio.gather(*(self.run(source, inputs, Limits()) for _ in range(self.workers)))
        )


# --- the scene ---------------------------------------------------------------


class Scene:
    """Secrets, a victim, listeners, a decoy and handlers, for the time of a `with`."""

    def __init__(self) -> None:
        self.secrets = {name: f"peirce-secret-{name}-{secrets.token_hex(8)}" for name in NEEDLES}
        self.signals: list[int] = []
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._plant(self._ends)
        except BaseException:
            self._ends.close()
            raise
        return self

    def _plant(self, keep: contextlib.ExitStack) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="peirce-scene-"))
        keep.callback(self._remove, self.folder)
        self.folder.chmod(0o777)
        self.victim = self.folder / "victim"
        self.victim.write_text("unharmed")
        self.victim.chmod(0o666)
        self.file = self.folder / "secret"
        self.file.write_text(self.secrets["file"])
        self.file.chmod(0o644)
        self.home_file = self.file
        with contextlib.suppress(OSError):  # a home that cannot be written to
            number, name = tempfile.mkstemp(prefix=".peirce-scene-", dir=Path.home())
            self.home_file = Path(name)
            keep.callback(self.home_file.unlink, missing_ok=True)
            os.write(number, self.secrets["home"].encode())
            os.fchmod(number, 0o644)
            os.close(number)
        self.victim_was = self._victim()
        self.marked_before = set(marked_files([], self.folder))

        keep.callback(os.environ.pop, "PEIRCE_SCENE", None)
        os.environ["PEIRCE_SCENE"] = self.secrets["environment"]
        self.decoy = keep.enter_context(
            subprocess.Popen(  # setenv is not seen from outside; the environment of a start is
                [sys.executable, "-c", "input()", self.secrets["environment"]],
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        keep.callback(self.decoy.kill)

        self.tcp = keep.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port = self.tcp.getsockname()[1]
        self.udp = keep.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", self.port))
        self.listeners = [self.tcp, self.udp]
        self.abstract = f"peirce-listener-{secrets.token_hex(4)}"
        addresses = [str(self.folder / "listener")]
        if sys.platform.startswith("linux"):
            addresses.append("\0" + self.abstract)
        for address in addresses:
            one = keep.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            one.bind(address)
            one.listen()
            self.listeners.append(one)
        (self.folder / "listener").chmod(0o777)
        for one in self.listeners:
            one.setblocking(False)
        for number in SIGNALS:
            before = signal.signal(number, lambda got, _: self.signals.append(got))
            keep.callback(signal.signal, number, before)

    def __exit__(self, *_: object) -> None:
        for path in set(marked_files([], self.folder)) - self.marked_before:
            with contextlib.suppress(OSError):  # what an attack without a sandbox left, and no more
                os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
        self._ends.close()

    def source(self, attack: Attack, run: str = "") -> str:
        """The file with its words in @ filled in."""
        words = {
            "PID": str(os.getpid()), "UID": str(os.getuid()), "DECOY": str(self.decoy.pid),
            "PORT": str(self.port), "ABSTRACT": self.abstract, "HOST": socket.gethostname(),
            "HOME": str(Path.home()), "OPEN": str(self.folder), "VICTIM": str(self.victim),
            "FILE": str(self.file), "HOME_FILE": str(self.home_file), "RUN": run,
            "DYNLOAD": sysconfig.get_path("platstdlib") + "/lib-dynload", "ZERO": "\0", "HALF": "\ud800",
        }  # fmt: skip
        text = re.sub(
            r"@REPEAT (\d+) (.+?)@",
            lambda m: m[2].replace("~", "\n") * int(m[1]),
            attack.source,
        )
        return re.sub(r"@([A-Z_]+)@", lambda m: words[m[1]], text)

    def harm(self) -> list[str]:
        """What happened to what was planted, since the last look."""
        told = []
        if self._victim() != self.victim_was:
            told.append("the file that anybody may write was changed")
            self._restore()
        if self.decoy.poll() is not None:
            told.append("a process that nobody told to end has ended")
        for one in self.listeners:
            with contextlib.suppress(BlockingIOError):
                if one.type == socket.SOCK_DGRAM:
                    one.recv(100)
                else:
                    one.accept()[0].close()
                told.append("a message came to a listener")
        if self.signals:
            told.append(f"signals came: {sorted(set(self.signals))}")
            self.signals.clear()
        return told

    def leaks(self, batch: Batch) -> list[str]:
        """The secrets that a batch tells."""
        text = json.dumps([batch.values, batch.detail, batch.reason_names])
        return [
            f"told the secret of {name}" for name, secret in self.secrets.items() if secret in text
        ]

    def _victim(self) -> tuple[Any, ...] | None:
        try:
            about = self.victim.stat()
            return (
                self.victim.read_text(),
                about.st_mode,
                about.st_uid,
                about.st_mtime_ns,
                about.st_nlink,
            )
        except OSError:
            return None

    def _restore(self) -> None:
        self.victim.unlink(missing_ok=True)
        self.victim.write_text("unharmed")
        self.victim.chmod(0o666)
        self.victim_was = self._victim()

    def _remove(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            for inner in path.iterdir():
                self._remove(inner)
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


# --- one attack --------------------------------------------------------------


async def examine(
    room: Room, attack: Attack, inputs: str = "small", settle_s: float = SETTLE_S
) -> tuple[Batch, list[str]]:
    """Runs it beside an honest hypothesis, then honest ones on every worker: what came of it, and
    everything that is not as it must be."""
    told: list[str] = []
    if attack.category in ("reading", "frames", "formats"):
        await room.spread()
    room.scene.harm()
    before = await room.at_rest()
    source = room.scene.source(attack, secrets.token_hex(4))
    start = time.monotonic()
    async with asyncio.timeout(attack.seconds + 30):
        batch, beside = await asyncio.gather(
            room.run(source, inputs, attack.limits), room.run(HONEST, inputs, Limits())
        )
        took_s = time.monotonic() - start
        told += wrong(room, attack, batch)
        told += room.scene.leaks(batch)
        if took_s > attack.seconds:
            told.append(f"took {took_s:.1f} s of {attack.seconds:g}")
        if beside.values != room.answers[HONEST + inputs]:
            told.append(f"a hypothesis beside it: {beside.verdict} {beside.detail} {beside.values}")
        if took_s < 0.3 and batch.verdict == "ok":
            codes = await room.run(source, inputs, attack.limits, "codes")
            alike = codes.codes.tolist() == batch.codes.tolist() or attack.values == {}
            verdicts, _ = attack.expected(room.sandbox.layers())
            if codes.verdict not in verdicts or (codes.verdict == "ok" and not alike):
                told.append(f"other codes than of its values: {codes.verdict} {codes.detail}")
        for name in (HONEST, CURIOUS):
            for after in await room.honest(name, inputs):
                if after.values != room.answers[name + inputs]:
                    told.append(
                        f"the next hypothesis: {after.verdict} {after.detail} {difference(after, room.answers[name + inputs])}"
                    )
    told += room.scene.harm()
    deadline = time.monotonic() + settle_s
    while changes := before.changes(room.look()):
        if time.monotonic() > deadline:
            told += changes
            break
        await asyncio.sleep(0.02)
    if told:
        await room.renew()
    return batch, told


def wrong(room: Room, attack: Attack, batch: Batch) -> list[str]:
    verdicts, values = attack.expected(room.sandbox.layers())
    if batch.verdict not in verdicts:
        return [f"verdict {batch.verdict} ({batch.detail}), not {'|'.join(verdicts)}"]
    if batch.verdict != "ok" or values is None:
        return []
    got = [v.get("value") if "value" in v else dict(v) for v in (batch.values or ())[:4]]
    return (
        []
        if agree(values, got)
        else [f"values {json.dumps(got)[:400]}, not {json.dumps(values)[:400]}"]
    )


def difference(batch: Batch, expected: Any) -> str:
    return next((f"{got} not {want}"[:600] for got, want in zip(batch.values or (), expected, strict=False) if got != want), "")  # fmt: skip
