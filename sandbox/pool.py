"""A fair pool of zygotes behind one interface, whatever started them.

A backend gives a way to start a `Link`: a byte stream to a zygote (harness.py) and a way to end
it. Everything a zygote says comes from next to untrusted code, so it is checked here once more:
lengths, types and ranges; nothing is ever unpickled.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ..records import (
    Batch,
    Digest,
    InputSet,
    Json,
    Keep,
    Limits,
    SandboxUnavailable,
    UsageError,
)
from .inside.canonical import Unrepresentable, code_of_stored
from .inside.frames import HEAD, HEADER_BYTES, MAGIC, PROTOCOL, frame
from .inside.trial import LIMIT_REASONS
from .together import TURNS, Trip

REQUIRED = ("process_group", "rlimits", "empty_environment", "closed_descriptors")
VERDICTS = frozenset({"ok", "syntax", "no_function", "too_slow", "memory", "output_too_large",
                      "protocol", "crashed", "cancelled"})  # fmt: skip
# Without privileges no other user can be had, nor a group; what they would do, these do.
STANDS_IN = {"own_user": "user_namespace", "cgroup": "process_namespace"}
MOST_WORKERS = 256
SOURCE_BYTES = 2**20
STORED_BYTES = 256 * 2**20  # of input sets as JSON, kept here for zygotes that lack them
INLINE_BYTES = 16 * 2**10  # smaller sets go with each request: a stage for each costs more
ROOM_MB = 768  # of a zygote's whole group beyond one hypothesis: its stages and their input sets
HELD_BYTES, HELD_SETS = 32 * 2**20, 8  # of larger ones, by each zygote
JSON_BYTES = 8  # for each byte of a canonical form, at most
STATELESS, BEYOND = 0, 2  # state.Reach
START_S = 30.0  # for a zygote's first word
GRACE_S = 15.0  # beyond a batch's wall time, before the zygote itself is given up
CANARY = b"def f(x):\n    return x\n"
_REASON = re.compile(r"[A-Za-z_]{1,64}")


Reply = tuple[dict[str, Any], bytes]


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
    """A started zygote with the stream to it; `held` are the input sets it keeps, with their
    sizes, the latest used last; `adds` are layers that hold around it besides those it tells of."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        zygote: Zygote,
        adds: Mapping[str, bool] | None = None,
    ) -> None:
        self.reader, self.writer, self.zygote = reader, writer, zygote
        self.adds = dict(adds or {})
        self.held: OrderedDict[Digest, int] = OrderedDict()
        self.memory_mb = 0
        self.running = 0  # the id of the latest run
        self.reply: asyncio.Future[Reply] | None = None

    async def kill(self) -> None:
        self.writer.transport.abort()  # ends the reading of a reply as well
        await self.zygote.kill()

    async def close(self) -> None:
        self.writer.close()  # at the end of its stream a zygote ends its child and itself
        await self.zygote.end()

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        self.writer.write(frame(header, body))

    def expect(self, reply: Coroutine[Any, Any, Reply]) -> asyncio.Future[Reply]:
        """Reads the reply in a task of its own: a run that is cancelled in the middle of a frame
        leaves the rest of it to be read."""
        self.reply = asyncio.ensure_future(reply)
        self.reply.add_done_callback(lambda read: read.cancelled() or read.exception())
        return self.reply

    def hold(self, digest: Digest, text: bytes) -> None:
        """Makes the zygote keep this set, whatever its size, and of the others the latest used."""
        if digest not in self.held:
            while self.held and (
                len(self.held) >= HELD_SETS or sum(self.held.values()) + len(text) > HELD_BYTES
            ):
                self.send({"op": "drop", "digest": self.held.popitem(last=False)[0]})
            self.send({"op": "put", "digest": digest}, text)
            self.held[digest] = len(text)
        self.held.move_to_end(digest)

    async def receive(self, most_bytes: int) -> Reply:
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


@dataclass(frozen=True)
class Job:
    """One hypothesis and its function's name, as UTF-8, over one input set, as a JSON list of
    `count`; also: over further sets in the same child, where calls leave nothing behind."""

    code: bytes
    entry: bytes
    digest: Digest
    text: bytes
    count: int
    keep: Keep
    limits: Limits
    equality: Json = None
    also: tuple[Job, ...] = ()
    further: list[Batch] = field(default_factory=list)  # of `also`: all of them, or none


class Slot:
    """A place in the pool; its zygote is started when first needed and replaced when lost."""

    link: Link | None = None


class PooledSandbox:
    """records.Sandbox over zygotes. Batches wait in order of arrival for a free one."""

    def __init__(self, start: Callable[[], Awaitable[Link]], workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise UsageError(f"workers is {workers}; give 1 or more")
        if workers is not None and workers > MOST_WORKERS:
            raise UsageError(f"workers is {workers}; give {MOST_WORKERS} or fewer")
        self.workers = workers or usable_cores()
        self._start_link = start
        self._slots = [Slot() for _ in range(self.workers)]
        self._free: asyncio.Queue[Slot] = asyncio.Queue()
        self._inputs: OrderedDict[Digest, tuple[bytes, int]] = OrderedDict()
        self._stored_bytes = 0
        self._layers: dict[str, bool] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._next_id = 0
        self._trips: dict[tuple[bytes, bytes, Limits], Trip] = {}
        self._closed = False
        for slot in self._slots:
            self._free.put_nowait(slot)

    async def start(self, strict: bool = False) -> None:
        """Starts every zygote and learns its layers. Raises SandboxUnavailable."""
        try:
            starts = [self._linked(slot) for slot in self._slots]
            for failure in await asyncio.gather(*starts, return_exceptions=True):
                if isinstance(failure, BaseException):  # after all have ended, one way or another
                    raise failure
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
        self,
        source: str,
        entry: str,
        inputs: Digest,
        keep: Keep,
        limits: Limits,
        equality: Json = None,
    ) -> Batch:
        """One hypothesis over an input set that was `put`. A batch lost with its zygote is
        tried again on two that were started for it. equality: of the codes (inside/tolerance.py).
        Raises SandboxUnavailable."""
        if inputs not in self._inputs:
            raise UsageError(f"no input set {inputs[:12]!r} was put into this sandbox")
        self._inputs.move_to_end(inputs)
        text, count = self._inputs[inputs]
        code = source.encode("utf-8", "surrogatepass")
        if len(code) > SOURCE_BYTES:
            return failed("syntax", count, f"a source of {len(code):,} bytes, over 1 MiB")
        if len(entry) > 1_000:
            return failed("no_function", count, "a function's name of over 1,000 characters")
        name = entry.encode("utf-8", "surrogatepass")
        job = Job(code, name, inputs, text, count, keep, limits, equality)
        together = None if equality is not None else await self._together(job)
        return await self._alone(job) if together is None else together

    async def _together(self, job: Job) -> Batch | None:
        """The batch of a job that shared a child with the others that ask for the same function at
        the same time: over what was shown, what is hidden and S. None where it has to run alone."""
        who = (job.code, job.entry, job.limits)
        if (trip := self._trips.get(who)) is not None:
            return await trip.join(job)
        trip = self._trips[who] = Trip()
        mine = trip.join(job)
        try:
            try:
                for _ in range(TURNS):
                    await asyncio.sleep(0)
            finally:
                del self._trips[who]
            if (whole := trip.together(INLINE_BYTES)) is not None:
                trip.land(await self._alone(whole), whole.further)
        finally:
            trip.end()
        return mine.result()

    async def _alone(self, job: Job) -> Batch:
        causes = []
        for fresh in (False, True, True):  # a zygote that served others may have been dying
            try:
                return await self._once(job, fresh)
            except Lost as lost:
                causes.append(str(lost))
        try:  # does any hypothesis get through, or this one not?
            await self._once(Job(CANARY, b"f", "canary", b"[0]", 1, "codes", Limits()), True)
        except Lost as lost:
            raise SandboxUnavailable(
                f"the sandbox lost four batches in a row ({lost}); run `peirce doctor`"
            ) from lost
        return failed("crashed", job.count, f"took its worker down twice: {causes[-1]}")

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

    async def _once(self, job: Job, fresh: bool) -> Batch:
        """One attempt, on a zygote of its own if `fresh`. Raises Lost."""
        slot = await self._free.get()
        held = True
        try:
            if fresh:
                await self._discard(slot)
            link = await self._linked(slot)
            try:
                if job.limits.memory_mb > link.memory_mb:
                    await link.zygote.allow(job.limits.memory_mb)
                    link.memory_mb = job.limits.memory_mb
                batch, reach = await self._exchange(link, job, None)
                if reach == BEYOND and batch.verdict == "ok":
                    again, _ = await self._exchange(link, job, shuffle=len(job.code))
                    batch = same(batch, again)
                return batch
            except asyncio.CancelledError:
                if link.reply is None or link.reply.done():
                    raise
                held = False
                self._in_background(self._abandon(slot, link, link.reply))
                raise
            except (Lost, TimeoutError, OSError) as error:
                await self._discard(slot)
                self._refuse_when_closed()
                raise Lost(str(error) or type(error).__name__) from error
        finally:
            if held:
                self._free.put_nowait(slot)

    async def _exchange(self, link: Link, job: Job, shuffle: int | None) -> tuple[Batch, int]:
        """One pass over the inputs, as they stand or shuffled: the batch and the reach of its
        source. Raises Lost, TimeoutError, OSError."""
        self._next_id += 1
        nonce = os.urandom(8).hex()
        inline = b""
        if len(job.text) <= INLINE_BYTES:
            inline = job.text
        else:
            link.hold(job.digest, job.text)
        also = job.also if shuffle is None else ()
        request = {"op": "run", "id": self._next_id, "digest": "" if inline else job.digest,
                   "keep": job.keep, "equality": job.equality, "limits": asdict(job.limits),
                   "nonce": nonce,
                   "shuffle": shuffle, "entry_bytes": len(job.entry),
                   "source_bytes": len(job.code), "inputs_bytes": len(inline),
                   "also": [[one.keep, len(one.text)] for one in also]}  # fmt: skip
        link.send(request, b"".join([job.entry, job.code, inline, *(one.text for one in also)]))
        link.running = self._next_id
        reply = link.expect(self._reply(link, link.running, most_bytes(job.limits)))
        async with asyncio.timeout(job.limits.wall_s + GRACE_S):
            await link.writer.drain()
            header, body = await asyncio.shield(reply)
        reach = header.get("reach")
        parts = also if reach == STATELESS else ()
        batch, job.further[:] = received_batches(header, body, nonce, job, parts)
        return batch, reach if type(reach) is int else BEYOND

    async def _reply(self, link: Link, number: int, most: int) -> Reply:
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
        found.update(link.adds)
        for name, other in STANDS_IN.items():  # what is not needed here is absent, and not missing
            if found.get(other) and not found.get(name):
                found.pop(name, None)
            elif name == "own_user" and found.get(name):
                found.pop(other, None)
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

    async def _abandon(self, slot: Slot, link: Link, reply: asyncio.Future[Reply]) -> None:
        """After a cancelled run: the child is killed, the zygote stays, the slot comes back."""
        try:
            link.send({"op": "cancel", "id": link.running})
            async with asyncio.timeout(GRACE_S):
                await reply
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


def most_bytes(limits: Limits) -> int:
    """Of a reply's body: a child's whole frame."""
    return HEAD.size + HEADER_BYTES + limits.output_bytes


def received_batches(
    header: Mapping[str, Any], body: bytes, nonce: str, job: Job, also: Sequence[Job]
) -> tuple[Batch, list[Batch]]:
    """The batch of a stage's reply: what the stage says of a child that gave no result, or what is
    in the child's frame, which is its body; and those of further jobs, all or none. Raises Lost
    where the harness itself failed."""
    count, keep, limits = job.count, job.keep, job.limits
    ending = header.get("ending")
    if ending == "fault":
        raise Lost(str(header.get("detail")))
    if ending != "ok":
        return checked_batch({**header, "verdict": ending}, b"", count, keep, limits), []
    magic, header_bytes, body_bytes = (
        HEAD.unpack_from(body) if len(body) >= HEAD.size else (0, 0, 0)
    )
    if magic != MAGIC or HEAD.size + header_bytes + body_bytes != len(body):
        return failed("protocol", count, "its result is no frame of ours"), []
    try:
        inner = json.loads(body[HEAD.size : HEAD.size + header_bytes])
    except (ValueError, RecursionError):
        return failed("protocol", count, "its result has no header"), []
    if type(inner) is not dict or inner.get("nonce") != nonce:
        return failed("protocol", count, "its result has another header"), []
    if inner.get("verdict") in ("protocol", "crashed", "cancelled"):
        return failed("protocol", count, "a verdict that is not its own to give"), []
    body = body[HEAD.size + header_bytes :]
    parts = inner.get("parts", [])
    sizes = part_sizes(parts)
    if sizes is None or sum(sizes) > len(body):
        return failed("protocol", count, "parts out of order"), []
    at = len(body) - sum(sizes)
    batch = checked_batch(inner, body[:at], count, keep, limits)
    if len(parts) != len(also):
        return batch, []
    further = []
    for one, part, size in zip(also, parts, sizes, strict=True):
        further.append(checked_batch(part, body[at : at + size], one.count, one.keep, limits))
        at += size
    whole = all(one.verdict == "ok" and not one.limited for one in [batch, *further])
    return batch, further if whole else []


def part_sizes(parts: Any) -> list[int] | None:
    """The bytes of each part's body; None where that is not what is told."""
    if type(parts) is not list or not all(type(one) is dict for one in parts):
        return None
    sizes = [one.get("bytes") for one in parts]
    return sizes if all(type(size) is int and size >= 0 for size in sizes) else None


def same(first: Batch, second: Batch) -> Batch:
    """The one batch of two passes over the same inputs in different orders: verdict
    "nondeterministic" where they differ, but for inputs that a limit ended in either."""
    if second.verdict != "ok":
        return second
    reasons = [np.array([None, *batch.reason_names], object)[batch.reasons] for batch in (first, second)]  # fmt: skip
    limits = np.array([r in LIMIT_REASONS for r in reasons[0]], bool)
    cut = np.array([r in LIMIT_REASONS for r in reasons[1]], bool)
    differ = (first.codes != second.codes) | (reasons[0] != reasons[1])
    if bool((differ & ~limits & ~cut).any()):
        place = int(np.flatnonzero(differ & ~limits & ~cut)[0])
        return failed("nondeterministic", len(first.codes), f"another value for input {place} when run again in another order")  # fmt: skip
    limited = first.limited or second.limited
    cpu_s = first.cpu_s + second.cpu_s
    if bool((cut & ~limits).any()):
        return replace(second, limited=limited, cpu_s=cpu_s)
    return replace(first, limited=limited, cpu_s=cpu_s)


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
    """`text`: 4 bytes for the length of each value's JSON, then the values. Each is bounded before
    it is parsed. Codes are computed here from the values, so the two always agree. Raises
    ValueError."""
    count = len(reasons)
    lengths = np.frombuffer(text, "<u4", count).astype(np.int64)  # ValueError where too short
    if 4 * count + int(lengths.sum()) != len(text):
        raise ValueError("not one value for each input")
    if count and int(lengths.max()) > JSON_BYTES * limits.value_bytes + 64:
        raise ValueError("a value beyond the limits")
    codes = np.zeros(count, np.int64)
    values: list[Mapping[str, Any]] = []
    at = 4 * count
    for index, (length, reason) in enumerate(zip(lengths.tolist(), reasons.tolist(), strict=True)):
        at += length
        if reason:
            values.append({"undefined": names[reason - 1]})
            continue
        value = json.loads(text[at - length : at])
        try:
            codes[index] = code_of_stored(value, limits.value_bytes)
        except Unrepresentable:
            raise ValueError("a value beyond the limits") from None
        values.append({"value": value})
    return codes, tuple(values)
