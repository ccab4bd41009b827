"""A fair pool of zygotes behind one interface, whatever started them.

A backend gives a way to start a `Link`: a byte stream to a zygote (harness.py) and a way to end
it. Everything a zygote says comes from next to untrusted code, so it is checked here once more:
lengths, types and ranges; nothing is ever unpickled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from ..records import (
    Batch,
    Digest,
    InputSet,
    Keep,
    Limits,
    SandboxUnavailable,
    UsageError,
)
from .canonical import Unrepresentable, code_of, restore
from .frames import HEAD, HEADER_BYTES, MAGIC, PROTOCOL, frame

REQUIRED = ("process_group", "rlimits", "empty_environment", "closed_descriptors")
VERDICTS = frozenset({"ok", "syntax", "no_function", "too_slow", "memory", "output_too_large",
                      "protocol", "crashed"})  # fmt: skip
STORED_BYTES = 256 * 2**20  # of input sets as JSON, kept here for zygotes that lack them
START_S = 30.0  # for a zygote's first word
GRACE_S = 15.0  # beyond a batch's wall time, before the zygote itself is given up
CANARY = "def f(x):\n    return x\n"
_REASON = re.compile(r"[A-Za-z_]{1,64}")


class Lost(Exception):
    """The zygote died or broke the protocol of the stream: not a result of any hypothesis."""


class Zygote(Protocol):
    """What a backend starts: harness.py, running somewhere."""

    async def allow(self, memory_mb: int) -> None:
        """Before a hypothesis with a higher memory limit than any before it: the memory limit of
        the whole group, where there is one, is raised to leave it room."""

    async def kill(self) -> None:
        """At once, and gone with all that it started when this returns."""

    async def end(self) -> None:
        """After its stream was closed: waits a moment for it to go by itself, then kills it."""


class Link:
    """A started zygote with the stream to it; `held` are the input sets it was sent."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, zygote: Zygote
    ) -> None:
        self.reader, self.writer, self.zygote = reader, writer, zygote
        self.held: set[Digest] = set()
        self.memory_mb = 0

    async def kill(self) -> None:
        self.writer.transport.abort()
        await self.zygote.kill()

    async def close(self) -> None:
        self.writer.close()  # at the end of its stream a zygote ends its child and itself
        await self.zygote.end()

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        self.writer.write(frame(header, body))

    async def receive(self, most_bytes: int) -> tuple[dict[str, Any], bytes]:
        """One frame. Raises Lost."""
        try:
            head = await self.reader.readexactly(HEAD.size)
            magic, header_size, body_size = HEAD.unpack(head)
            if magic != MAGIC or header_size > HEADER_BYTES or body_size > most_bytes:
                raise Lost("a frame out of bounds")
            header = json.loads(await self.reader.readexactly(header_size))
            body = await self.reader.readexactly(body_size)
        except (EOFError, OSError, ValueError, RecursionError) as error:
            raise Lost(f"{type(error).__name__}: {error}") from error
        if type(header) is not dict:
            raise Lost("a header that is no object")
        return header, body


class Slot:
    """A place in the pool; its zygote is started when first needed and replaced when lost."""

    link: Link | None = None


class PooledSandbox:
    """records.Sandbox over zygotes. Batches wait in order of arrival for a free one."""

    def __init__(self, start: Callable[[], Awaitable[Link]], workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise UsageError(f"workers is {workers}; give 1 or more")
        self.workers = workers or usable_cores()
        self._start_link = start
        self._slots = [Slot() for _ in range(self.workers)]
        self._free: asyncio.Queue[Slot] = asyncio.Queue()
        self._inputs: OrderedDict[Digest, tuple[bytes, int]] = OrderedDict()
        self._stored_bytes = 0
        self._layers: dict[str, bool] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._next_id = 0
        self._closed = False
        for slot in self._slots:
            self._free.put_nowait(slot)

    async def start(self, strict: bool = False) -> None:
        """Starts every zygote and learns its layers. Raises SandboxUnavailable."""
        try:
            await asyncio.gather(*(self._linked(slot) for slot in self._slots))
            missing = [name for name in REQUIRED if not self._layers.get(name)]
            if missing:
                raise SandboxUnavailable(f"the sandbox lacks required layers: {', '.join(missing)}")
            wanted = [name for name, active in self._layers.items() if not active]
            if strict and wanted:
                raise SandboxUnavailable(
                    f"the sandbox lacks wanted layers ({', '.join(wanted)}); "
                    "leave out --strict-sandbox to go on without them"
                )
        except BaseException:
            await self.close()
            raise

    def layers(self) -> Mapping[str, bool]:
        return dict(self._layers)

    async def put(self, inputs: InputSet) -> Digest:
        digest = inputs.digest
        if digest not in self._inputs:
            text = json.dumps(inputs.inputs).encode()
            self._inputs[digest] = (text, len(inputs))
            self._stored_bytes += len(text)
            while len(self._inputs) > 1 and self._stored_bytes > STORED_BYTES:
                _, (forgotten, _) = self._inputs.popitem(last=False)
                self._stored_bytes -= len(forgotten)
        self._inputs.move_to_end(digest)
        return digest

    async def run(
        self, source: str, entry: str, inputs: Digest, keep: Keep, limits: Limits
    ) -> Batch:
        """One hypothesis over an input set that was `put`. Raises SandboxUnavailable; a batch
        lost with its zygote is run once more before that."""
        if inputs not in self._inputs:
            raise UsageError(f"no input set {inputs[:12]!r} was put into this sandbox")
        self._inputs.move_to_end(inputs)
        text, count = self._inputs[inputs]
        causes = []
        for _ in range(2):
            try:
                return await self._once(source, entry, inputs, text, count, keep, limits)
            except Lost as lost:
                causes.append(str(lost))
        try:  # does any hypothesis get through, or this one not?
            await self._once(CANARY, "f", "canary", b"[0]", 1, "codes", Limits())
        except Lost as lost:
            raise SandboxUnavailable(
                f"the sandbox lost three batches in a row ({lost}); run `peirce doctor`"
            ) from lost
        return failed("crashed", count, f"took its worker down twice: {causes[-1]}")

    async def close(self) -> None:
        """Ends every zygote with its child; batches still waiting raise SandboxUnavailable."""
        self._closed = True
        links = [slot.link for slot in self._slots if slot.link is not None]
        for slot in self._slots:
            slot.link = None
        await asyncio.gather(*(link.close() for link in links))
        if self._background:
            await asyncio.gather(*self._background, return_exceptions=True)

    async def __aenter__(self) -> PooledSandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- one batch on one zygote ---

    async def _once(
        self,
        source: str,
        entry: str,
        digest: Digest,
        text: bytes,
        count: int,
        keep: Keep,
        limits: Limits,
    ) -> Batch:
        slot = await self._free.get()
        held = True
        try:
            link = await self._linked(slot)
            self._next_id += 1
            number = self._next_id
            request = {"op": "run", "id": number, "digest": digest, "entry": entry, "keep": keep,
                       "limits": asdict(limits)}  # fmt: skip
            code = source.encode("utf-8", "surrogatepass")
            most = limits.output_bytes + 2**20
            try:
                for _ in range(2):
                    if digest not in link.held:
                        link.send({"op": "put", "digest": digest}, text)
                        link.held.add(digest)
                    link.send(request, code)
                    async with asyncio.timeout(limits.wall_s + GRACE_S):
                        await link.writer.drain()
                        header, body = await self._reply(link, number, most)
                    if header.get("verdict") != "unknown_inputs":
                        break
                    link.held.discard(digest)  # the zygote forgot it for others
            except asyncio.CancelledError:
                held = False
                self._in_background(self._abandon(slot, link, number, most))
                raise
            except (Lost, TimeoutError, OSError) as error:
                await self._discard(slot)
                self._refuse_when_closed()
                raise Lost(str(error) or type(error).__name__) from error
            return checked_batch(header, body, count, keep, limits)
        finally:
            if held:
                self._free.put_nowait(slot)

    async def _reply(self, link: Link, number: int, most: int) -> tuple[dict[str, Any], bytes]:
        while True:
            header, body = await link.receive(most)
            if header.get("id") == number:
                return header, body

    async def _linked(self, slot: Slot) -> Link:
        self._refuse_when_closed()
        if slot.link is not None:
            return slot.link
        link = await self._start_link()
        try:
            async with asyncio.timeout(START_S):
                hello, _ = await link.receive(0)
        except (Lost, TimeoutError) as error:
            await link.kill()
            raise SandboxUnavailable(
                "the sandbox's worker ended before its first word; run `peirce doctor`"
            ) from error
        except BaseException:
            await link.kill()
            raise
        if hello.get("protocol") != PROTOCOL or type(hello.get("layers")) is not dict:
            await link.kill()
            raise SandboxUnavailable(f"the sandbox's worker speaks another protocol: {hello}")
        try:
            self._refuse_when_closed()
        except SandboxUnavailable:
            await link.kill()
            raise
        found = {str(name): active is True for name, active in hello["layers"].items()}
        # a layer counts where every zygote has it
        self._layers = {n: on and self._layers.get(n, True) for n, on in found.items()}
        slot.link = link
        return link

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise SandboxUnavailable("the sandbox was closed")

    async def _discard(self, slot: Slot) -> None:
        link, slot.link = slot.link, None
        if link is not None:
            await link.kill()

    async def _abandon(self, slot: Slot, link: Link, number: int, most: int) -> None:
        """After a cancelled run: the child is killed, the zygote stays, the slot comes back."""
        try:
            link.send({"op": "cancel", "id": number})
            async with asyncio.timeout(GRACE_S):
                await self._reply(link, number, most)
        except (Lost, TimeoutError, OSError):
            await self._discard(slot)
        finally:
            self._free.put_nowait(slot)

    def _in_background(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# --- checking what came back -------------------------------------------------


def failed(verdict: str, count: int, detail: str = "", limited: bool = False, cpu_s: float = 0.0) -> Batch:  # fmt: skip
    """A batch without a result: every input undefined for the one reason `verdict`."""
    return Batch(
        verdict,
        np.zeros(count, np.int64),
        np.ones(count, np.uint8),
        (verdict,),
        None,
        detail[:500],
        limited,
        cpu_s,
    )


def checked_batch(
    header: Mapping[str, Any], body: bytes, count: int, keep: Keep, limits: Limits
) -> Batch:
    """The batch that a frame tells of, or verdict "protocol" where anything is out of order."""
    verdict, detail = header.get("verdict"), header.get("detail", "")
    cpu = header.get("cpu_s")
    cpu_s = cpu if type(cpu) is float and 0.0 <= cpu <= limits.wall_s else 0.0
    limited = header.get("limited") is True
    if verdict not in VERDICTS or type(detail) is not str:
        return failed("protocol", count, "a verdict or detail out of order", cpu_s=cpu_s)
    detail = detail.encode("utf-8", "replace").decode()  # no lone surrogates
    if verdict != "ok":
        return failed(verdict, count, detail, limited, cpu_s)
    names = header.get("reason_names")
    if (
        type(names) is not list
        or len(names) > 200
        or not all(type(n) is str and _REASON.fullmatch(n) for n in names)
        or len(set(names)) != len(names)
    ):
        return failed("protocol", count, "reasons out of order", cpu_s=cpu_s)
    if len(body) < count or (keep == "codes" and len(body) != 9 * count):
        return failed("protocol", count, f"{len(body)} bytes for {count} inputs", cpu_s=cpu_s)
    reasons = np.frombuffer(body, np.uint8, count)
    if count and int(reasons.max()) > len(names):
        return failed("protocol", count, "a reason out of range", cpu_s=cpu_s)
    values = None
    if keep == "codes":
        codes = np.frombuffer(body, "<i8", count, count).astype(np.int64)
        codes[reasons > 0] = 0
    else:
        try:
            codes, values = checked_values(body[count:], reasons, names, limits)
        except (ValueError, RecursionError, TypeError) as error:
            return failed("protocol", count, f"values out of order: {error}", cpu_s=cpu_s)
    return Batch("ok", codes, reasons, tuple(names), values, detail[:500], limited, cpu_s)


def checked_values(
    text: bytes, reasons: np.ndarray[Any, np.dtype[np.uint8]], names: list[str], limits: Limits
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[Mapping[str, Any], ...]]:
    """Codes are computed here from the values, so the two always agree. Raises ValueError."""
    raw = json.loads(text)
    if type(raw) is not list or len(raw) != len(reasons):
        raise ValueError("not one value for each input")
    codes = np.zeros(len(raw), np.int64)
    values: list[Mapping[str, Any]] = []
    for index, (value, reason) in enumerate(zip(raw, reasons.tolist(), strict=True)):
        if reason:
            values.append({"undefined": names[reason - 1]})
            continue
        with contextlib.suppress(Unrepresentable):
            codes[index] = code_of(restore(value), limits.value_bytes)
            values.append({"value": value})
            continue
        raise ValueError("a value beyond the limits")
    return codes, tuple(values)
