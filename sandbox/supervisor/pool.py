"""A fair pool of zygotes behind one interface, whatever started them.

A backend gives a way to start a `Link`: a byte stream to a zygote (inside/harness.py) and a way to
end it. What a zygote says comes from next to untrusted code: supervisor/zygote.py checks it.

Runs of one function that share a child: over what was shown, what is hidden and S, which a judge
asks for at one moment. A child costs milliseconds, most functions take microseconds.

Only where that changes nothing: the source is one whose calls leave nothing behind (state.Reach,
which the stage tells before any of it runs), and no limit is met on the way. Else each runs alone.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import Batch, Digest, InputSet, Json, Keep, Limits, SandboxUnavailable, UsageError
from ..inside.frames import PROTOCOL
from ..inside.trial import LIMIT_REASONS
from .zygote import Job, Link, Lost, Reply, failed, most_bytes, received_batches

if TYPE_CHECKING:
    from .zygote import Job

REQUIRED = ("process_group", "rlimits", "empty_environment", "closed_descriptors")
# Without privileges no other user can be had, nor a group; what they would do, these do.
STANDS_IN = {"own_user": "user_namespace", "cgroup": "process_namespace"}
MOST_WORKERS = 256
SOURCE_BYTES = 2**20
STORED_BYTES = 256 * 2**20  # of input sets as JSON, kept here for zygotes that lack them
INLINE_BYTES = 16 * 2**10  # smaller sets go with each request: a stage for each costs more
ROOM_MB = 768  # of a zygote's whole group beyond one hypothesis: its stages and their input sets
STATELESS, BEYOND = 0, 2  # state.Reach
START_S = 30.0  # for a zygote's first word
GRACE_S = 15.0  # beyond a batch's wall time, before the zygote itself is given up
CANARY = b"def f(x):\n    return x\n"


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


TURNS = 2  # of the loop, in which those that are asked for at one moment have all come
FURTHER = 3  # sets beside the first: many would wait for each other on one worker
OF_THE_SOURCE = ("ok", "syntax", "no_function")  # verdicts that more input sets cannot bring about


@dataclass
class Trip:
    """Those that ask for one function, each with the batch that it waits for; None: run it alone."""

    asked: list[tuple[Job, asyncio.Future[Batch | None]]] = field(default_factory=list)

    def join(self, job: Job) -> asyncio.Future[Batch | None]:
        waiting: asyncio.Future[Batch | None] = asyncio.get_running_loop().create_future()
        self.asked.append((job, waiting))
        return waiting

    def together(self, most_bytes: int) -> Job | None:
        """One job for all, the largest set with those of at most so many bytes beside it; None
        where there is nothing to share."""
        self.asked.sort(key=lambda one: -len(one[0].text))
        few = [one for one in self.asked[1:] if len(one[0].text) <= most_bytes][:FURTHER]
        for one in self.asked[1:]:
            if one not in few and not one[1].done():
                one[1].set_result(None)
        self.asked[1:] = few
        return replace(self.asked[0][0], also=tuple(job for job, _ in few)) if few else None

    def land(self, batch: Batch, further: Sequence[Batch]) -> None:
        """What came of the job for all."""
        if batch.verdict not in OF_THE_SOURCE:
            return
        for (_, waiting), found in zip(self.asked, [batch, *further], strict=False):
            if not waiting.done():
                waiting.set_result(found)

    def end(self) -> None:
        """Nobody waits any longer."""
        for _, waiting in self.asked:
            if not waiting.done():
                waiting.set_result(None)
