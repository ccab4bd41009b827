"""A pool of zygotes that serves batches in order, with the same interface for every backend.

A zygote is a process that forks a child for every hypothesis (inside/zygotes.py). A backend
provides a function that starts a zygote and returns a `Link`, which is a byte stream to the zygote
with a method to end it. The output of a zygote comes from a process near untrusted code, so
supervisor/zygote.py checks the output.

Runs of one function on several input sets (shown, hidden and the sample space S) are requested at
the same moment and share a child process, because starting a child takes milliseconds while most
functions take microseconds. Runs share a child only if this cannot change a result: calls of the
source must keep no state (state.Reach, which is reported before any of the source runs), and no
limit may be reached. Otherwise each run gets a separate child.
"""

from __future__ import annotations

import asyncio
import json
import os
import warnings
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import Batch, Digest, InputSet, Json, Keep, Limits, SandboxUnavailable, UsageError
from ..inside.frames import PROTOCOL
from ..inside.trial import LIMIT_REASONS
from .zygote import Job, Link, Reply, ZygoteLost, failed_batch, max_reply_bytes, parse_batches

if TYPE_CHECKING:
    from .zygote import Job

REQUIRED = ("process_group", "rlimits", "empty_environment", "closed_descriptors")
# Without privileges there is no separate user and no control group; these layers replace them.
REPLACEMENT_LAYERS = {"own_user": "user_namespace", "cgroup": "process_namespace"}
MOST_WORKERS = 256
SOURCE_BYTES = 2**20
STORED_BYTES = 256 * 2**20  # input sets as JSON, kept here for zygotes that lack them
# Smaller sets go with each request, because a stage for each would cost more.
INLINE_BYTES = 16 * 2**10
# memory of a zygote's group in addition to one hypothesis: its stages and their input sets
ROOM_MB = 768
STATELESS, BEYOND = 0, 2  # values of state.Reach
START_S = 30.0  # for a zygote's first message
GRACE_S = 15.0  # beyond a batch's wall time, before the zygote itself is given up
CANARY = b"def f(x):\n    return x\n"


class Slot:
    """A place for one zygote in the pool.

    The zygote is started when it is first needed, and replaced when it dies.
    """

    link: Link | None = None


class PooledSandbox:
    """A sandbox (`records.Sandbox`) that runs hypotheses in several zygotes at the same time.

    A zygote is a process that forks a child for every hypothesis. A batch waits if no zygote is
    free. Waiting batches are served in their order of arrival.
    """

    def __init__(self, start: Callable[[], Awaitable[Link]], workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise UsageError(f"workers is {workers}: it must be at least 1")
        if workers is not None and workers > MOST_WORKERS:
            raise UsageError(f"workers is {workers}: it must be at most {MOST_WORKERS}")
        self.workers = workers or usable_cores()
        self._start_link = start
        self._slots = [Slot() for _ in range(self.workers)]
        # The slot that was used last comes first: a zygote that nobody needs is never started.
        self._free: asyncio.LifoQueue[Slot] = asyncio.LifoQueue()
        self._inputs: OrderedDict[Digest, tuple[bytes, int]] = OrderedDict()
        self._stored_bytes = 0
        self._layers: dict[str, bool] = {}
        self._strict = False
        self._background: set[asyncio.Task[None]] = set()
        self._trips: dict[tuple[bytes, bytes, Limits], RequestBatcher] = {}
        self._closed = False
        for slot in self._slots:
            self._free.put_nowait(slot)

    async def start(self, strict: bool = False) -> None:
        """Start the first zygote and record its isolation layers.

        Each of the others is started when a batch finds no zygote free. If it cannot be started, or
        lacks a layer that the first one has, the pool goes on without it.

        Raises:
            SandboxUnavailable: The zygote cannot be started, or a required layer is missing. With
                `strict`, no layer may be missing.
        """
        try:
            self._strict = strict
            await self._linked(self._slots[-1])
        except BaseException:
            await self.close()
            raise

    def layers(self) -> Mapping[str, bool]:
        """Return each isolation layer, and whether it is active: in the first zygote, and thus in all."""
        return dict(self._layers)

    async def put(self, inputs: InputSet) -> Digest:
        """Store an input set and return its digest.

        If the stored sets become too large together, the sets that were not used for the longest
        time are dropped.
        """
        digest = inputs.digest
        if digest not in self._inputs:
            # Escapes would make one character of two surrogates that stand side by side.
            text = json.dumps(inputs.inputs, ensure_ascii=False).encode("utf-8", "surrogatepass")
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
        """Run one hypothesis on an input set that `put` has stored.

        If a zygote dies during the run, the run is repeated on up to two newly started zygotes.

        Args:
            source: The source code of the hypothesis.
            entry: Name of the function to call.
            inputs: Digest of the input set, as `put` returned it.
            keep: Whether to return "codes" or "values" of the predictions.
            limits: Limits on time, memory and output.
            equality: The equality rule for codes (inside/tolerance.py); None for the default rule.

        Raises:
            SandboxUnavailable: Not even a trivial hypothesis can be run.
            UsageError: The input set was not stored.
        """
        if inputs not in self._inputs:
            raise UsageError(f"no input set {inputs[:12]!r} was put into this sandbox")
        self._inputs.move_to_end(inputs)
        text, count = self._inputs[inputs]
        code = source.encode("utf-8", "surrogatepass")
        if len(code) > SOURCE_BYTES:
            return failed_batch("syntax", count, f"a source of {len(code):,} bytes, over 1 MiB")
        if len(entry) > 1_000:
            return failed_batch("no_function", count, "a function's name of over 1,000 characters")
        name = entry.encode("utf-8", "surrogatepass")
        job = Job(code, name, inputs, text, count, keep, limits, equality)
        together = None if equality is not None else await self._together(job)
        return await self._alone(job) if together is None else together

    async def _together(self, job: Job) -> Batch | None:
        """Return the batch of a job that shared a child with jobs of the same function.

        Jobs share a child if they arrive at the same time: over the shown and hidden inputs and S.
        None means that the job has to run alone.
        """
        who = (job.code, job.entry, job.limits)
        if (trip := self._trips.get(who)) is not None:
            return await trip.join(job)
        trip = self._trips[who] = RequestBatcher()
        mine = trip.join(job)
        try:
            try:
                for _ in range(LOOP_TURNS):
                    await asyncio.sleep(0)
            finally:
                del self._trips[who]
            if (whole := trip.combine(INLINE_BYTES)) is not None:
                trip.deliver(await self._alone(whole), whole.further_batches)
        finally:
            trip.release()
        return mine.result()

    async def _alone(self, job: Job) -> Batch:
        causes = []
        # A zygote that served others may have been dying, so later attempts use a new one.
        for fresh in (False, True, True):
            try:
                return await self._attempt(job, fresh)
            except ZygoteLost as lost:
                causes.append(str(lost))
        try:  # A trivial hypothesis shows whether the sandbox or this hypothesis is at fault.
            await self._attempt(Job(CANARY, b"f", "canary", b"[0]", 1, "codes", Limits()), True)
        except ZygoteLost as lost:
            raise SandboxUnavailable(
                f"the sandbox lost four batches in a row ({lost}); run `peirce doctor`"
            ) from lost
        return failed_batch("crashed", job.count, f"took its worker down twice: {causes[-1]}")

    async def close(self) -> None:
        """End every zygote with its child. Batches that still wait raise SandboxUnavailable."""
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

    # --- One batch on one zygote ---

    async def _attempt(self, job: Job, fresh: bool) -> Batch:
        """Make one attempt, on a newly started zygote if `fresh`. Raises ZygoteLost."""
        slot = await self._free.get()
        held = True
        try:
            if fresh:
                await self._discard(slot)
            try:
                link = await self._linked(slot)
            except SandboxUnavailable as error:
                self._refuse_when_closed()
                if all(one.link is None for one in self._slots):
                    raise
                held = False
                self._slots.remove(slot)
                warnings.warn(
                    f"the sandbox goes on with fewer workers ({len(self._slots)}): {error}",
                    stacklevel=2,
                )
                return await self._attempt(job, fresh)
            try:
                if job.limits.memory_mb > link.memory_mb:
                    await link.zygote.raise_memory_limit(job.limits.memory_mb)
                    link.memory_mb = job.limits.memory_mb
                batch, reach = await self._exchange(link, job, again=False)
                if reach == BEYOND and batch.verdict == "ok":
                    again, _ = await self._exchange(link, job, again=True)
                    batch = merge_passes(batch, again)
                return batch
            except asyncio.CancelledError:
                if link.reply is None or link.reply.done():
                    raise
                held = False
                self._in_background(self._abandon(slot, link, link.reply))
                raise
            except (ZygoteLost, TimeoutError, OSError) as error:
                await self._discard(slot)
                self._refuse_when_closed()
                raise ZygoteLost(str(error) or type(error).__name__) from error
        finally:
            if held:
                self._free.put_nowait(slot)

    async def _exchange(self, link: Link, job: Job, again: bool) -> tuple[Batch, int]:
        """Run the inputs once, or again in another order; return the batch and its source's reach.

        Raises ZygoteLost, TimeoutError or OSError.
        """
        nonce = os.urandom(8).hex()
        inline = b""
        if len(job.text) <= INLINE_BYTES:
            inline = job.text
        else:
            link.keep_inputs(job.digest, job.text)
        also = () if again else job.further_jobs
        request = {"op": "run", "nonce": nonce, "digest": "" if inline else job.digest,
                   "keep": job.keep, "equality": job.equality, "limits": fields_of(job.limits),
                   "again": again, "entry_bytes": len(job.entry),
                   "source_bytes": len(job.code), "inputs_bytes": len(inline),
                   "also": [[one.keep, len(one.text)] for one in also]}  # fmt: skip
        link.send(request, b"".join([job.entry, job.code, inline, *(one.text for one in also)]))
        link.running = nonce
        reply = link.start_reading(self._reply(link, link.running, max_reply_bytes(job.limits)))
        async with asyncio.timeout(job.limits.wall_s + GRACE_S):
            await link.writer.drain()
            header, body = await asyncio.shield(reply)
        reach = header.get("reach")
        parts = also if reach == STATELESS else ()
        batch, job.further_batches[:] = parse_batches(header, body, nonce, job, parts)
        return batch, reach if type(reach) is int else BEYOND

    async def _reply(self, link: Link, nonce: str, most: int) -> Reply:
        while True:
            header, body = await link.receive(most)
            if header.get("nonce") == nonce:
                return header, body

    async def _linked(self, slot: Slot) -> Link:
        self._refuse_when_closed()
        if slot.link is not None:
            return slot.link
        link = await self._start_link()
        try:
            async with asyncio.timeout(START_S):
                hello, _ = await link.receive(0)
        except (ZygoteLost, TimeoutError) as error:
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
        found = {str(name): active is True for name, active in hello["layers"].items()}
        found.update(link.extra_layers)
        # A layer that another one replaces is absent, not missing.
        for name, other in REPLACEMENT_LAYERS.items():
            if found.get(other) and not found.get(name):
                found.pop(name, None)
            elif name == "own_user" and found.get(name):
                found.pop(other, None)
        try:
            self._refuse_when_closed()
            self._check_layers(found)
        except SandboxUnavailable:
            await link.kill()
            raise
        self._layers = self._layers or found
        slot.link = link
        return link

    def _check_layers(self, found: Mapping[str, bool]) -> None:
        missing = [name for name in REQUIRED if not found.get(name)]
        if missing:
            raise SandboxUnavailable(f"the sandbox lacks required layers: {', '.join(missing)}")
        wanted = [name for name, active in found.items() if not active]
        if self._strict and wanted:
            raise SandboxUnavailable(
                f"the sandbox lacks requested layers ({', '.join(wanted)}); omit"
                " --strict-sandbox to run without them"
            )
        # The session has recorded the layers of the first worker.
        fewer = [name for name, active in self._layers.items() if active and not found.get(name)]
        if fewer:
            raise SandboxUnavailable(
                f"a worker of the sandbox lacks layers that the first one has: {', '.join(fewer)}"
            )

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise SandboxUnavailable("the sandbox was closed")

    async def _discard(self, slot: Slot) -> None:
        link, slot.link = slot.link, None
        if link is not None:
            await link.kill()

    async def _abandon(self, slot: Slot, link: Link, reply: asyncio.Future[Reply]) -> None:
        """Clean up after a cancelled run: kill the child, keep the zygote, and free the slot."""
        try:
            link.send({"op": "cancel", "nonce": link.running})
            async with asyncio.timeout(GRACE_S):
                await reply
        except (ZygoteLost, TimeoutError, OSError):
            await self._discard(slot)
        finally:
            self._free.put_nowait(slot)

    def _in_background(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


@lru_cache(8)
def fields_of(limits: Limits) -> dict[str, Any]:
    """Return limits as a dict, which must not be changed."""
    return asdict(limits)


def usable_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def merge_passes(first: Batch, second: Batch) -> Batch:
    """Merge the results of running the same inputs twice in different orders.

    The verdict is "nondeterministic" if the predictions differ. Inputs for which a limit was
    reached in either run are not compared.
    """
    if second.verdict != "ok":
        return second
    reasons = [np.array([None, *batch.reason_names], object)[batch.reasons] for batch in (first, second)]  # fmt: skip
    limits = np.array([r in LIMIT_REASONS for r in reasons[0]], bool)
    cut = np.array([r in LIMIT_REASONS for r in reasons[1]], bool)
    differ = (first.codes != second.codes) | (reasons[0] != reasons[1])
    if bool((differ & ~limits & ~cut).any()):
        place = int(np.flatnonzero(differ & ~limits & ~cut)[0])
        return failed_batch("nondeterministic", len(first.codes), f"another value for input {place} when run again in another order")  # fmt: skip
    limited = first.limited or second.limited
    cpu_s = first.cpu_s + second.cpu_s
    if bool((cut & ~limits).any()):
        return replace(second, limited=limited, cpu_s=cpu_s)
    return replace(first, limited=limited, cpu_s=cpu_s)


LOOP_TURNS = 2  # Turns of the event loop, after which all concurrent requests have arrived.
MAX_FURTHER_SETS = (
    3  # Maximum of further sets in one child; more would wait for each other on one worker.
)
# verdicts that depend on the source, not on further input sets
SOURCE_VERDICTS = ("ok", "syntax", "no_function")


@dataclass
class RequestBatcher:
    """Concurrent requests to run one function, each with a future for its result.

    The result of a future is None if its request has to run separately.
    """

    requests: list[tuple[Job, asyncio.Future[Batch | None]]] = field(default_factory=list)

    def join(self, job: Job) -> asyncio.Future[Batch | None]:
        """Add a request and return the future for its result."""
        waiting: asyncio.Future[Batch | None] = asyncio.get_running_loop().create_future()
        self.requests.append((job, waiting))
        return waiting

    def combine(self, most_bytes: int) -> Job | None:
        """Return one job for several requests, or None if there are no requests to combine.

        The job runs the largest input set, and up to `MAX_FURTHER_SETS` additional sets of at most
        `most_bytes` bytes. All other requests run separately.
        """
        self.requests.sort(key=lambda one: -len(one[0].text))
        few = [one for one in self.requests[1:] if len(one[0].text) <= most_bytes][
            :MAX_FURTHER_SETS
        ]
        for one in self.requests[1:]:
            if one not in few and not one[1].done():
                one[1].set_result(None)
        self.requests[1:] = few
        return (
            replace(self.requests[0][0], further_jobs=tuple(job for job, _ in few)) if few else None
        )

    def deliver(self, batch: Batch, further: Sequence[Batch]) -> None:
        """Set the result of each waiting request.

        Args:
            batch: The result for the first request.
            further: The results for the other requests, in order.
        """
        if batch.verdict not in SOURCE_VERDICTS:
            return
        for (_, waiting), found in zip(self.requests, [batch, *further], strict=False):
            if not waiting.done():
                waiting.set_result(found)

    def release(self) -> None:
        """Let all requests without a result run separately."""
        for _, waiting in self.requests:
            if not waiting.done():
                waiting.set_result(None)
