"""A started zygote: the stream to this process, and checks of everything that it returns.

A zygote is a process that forks a child for every hypothesis. Its data comes from a process near
untrusted code, so lengths, types and ranges are checked. No data is unpickled.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...records import Batch, Digest, Json, Keep, Limits, parse_strictly
from ..inside.canonical import Unrepresentable, code_of_stored
from ..inside.frames import HEAD, HEADER_BYTES, MAGIC, frame

HELD_BYTES, HELD_SETS = 32 * 2**20, 8  # limits of the sets over pool.INLINE_BYTES in each zygote

Reply = tuple[dict[str, Any], bytes]


class ZygoteLost(Exception):
    """Raised when a zygote died or broke the protocol, which says nothing about a hypothesis."""


class Zygote(Protocol):
    """A process that a backend started and that forks a child for every hypothesis."""

    async def raise_memory_limit(self, memory_mb: int) -> None:
        """Raise the memory limit of the control group or container, if there is one.

        This method is called before a hypothesis with a higher memory limit than all earlier
        hypotheses.
        """

    async def kill(self) -> None:
        """Kill the zygote and all processes that it started. When this returns, all are gone."""

    async def wait_or_kill(self) -> None:
        """Wait a moment for the zygote to exit after its stream was closed, then kill it."""


class Link:
    """A started zygote with the stream to it.

    Attributes:
        kept_inputs: The input sets that the zygote keeps, with their sizes in bytes, in the order
            of their latest use.
        extra_layers: Isolation layers around the zygote, in addition to the layers that it reports.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        zygote: Zygote,
        adds: Mapping[str, bool] | None = None,
    ) -> None:
        self.reader, self.writer, self.zygote = reader, writer, zygote
        self.extra_layers = dict(adds or {})
        self.kept_inputs: OrderedDict[Digest, int] = OrderedDict()
        self.memory_mb = 0
        self.running = ""  # the nonce of the latest run
        self.reply: asyncio.Future[Reply] | None = None

    async def kill(self) -> None:
        """Abort the stream and kill the zygote."""
        self.writer.transport.abort()  # This also ends the reading of a reply.
        await self.zygote.kill()

    async def close(self) -> None:
        """Close the stream and wait for the zygote to exit."""
        self.writer.close()  # At the end of its stream a zygote ends its child and itself.
        await self.zygote.wait_or_kill()

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        """Send a request to the zygote, without waiting for a reply."""
        self.writer.write(frame(header, body))

    def start_reading(self, reply: Coroutine[Any, Any, Reply]) -> asyncio.Future[Reply]:
        """Start a task that reads a reply, and return the task.

        If a run is cancelled in the middle of a frame, the task reads the rest of the frame.
        """
        self.reply = asyncio.ensure_future(reply)
        self.reply.add_done_callback(lambda read: read.cancelled() or read.exception())
        return self.reply

    def keep_inputs(self, digest: Digest, text: bytes) -> None:
        """Make the zygote keep an input set, and drop the least recently used sets if necessary.

        Args:
            digest: Digest of the input set.
            text: The inputs as a JSON list.
        """
        if digest not in self.kept_inputs:
            while self.kept_inputs and (
                len(self.kept_inputs) >= HELD_SETS
                or sum(self.kept_inputs.values()) + len(text) > HELD_BYTES
            ):
                self.send({"op": "drop", "digest": self.kept_inputs.popitem(last=False)[0]})
            self.send({"op": "put", "digest": digest}, text)
            self.kept_inputs[digest] = len(text)
        self.kept_inputs.move_to_end(digest)

    async def receive(self, most_bytes: int) -> Reply:
        """Return the header and body of the next message from the zygote.

        Raises:
            ZygoteLost: The stream has ended, or the message is invalid or longer than `most_bytes`.
        """
        try:
            head = await self.reader.readexactly(HEAD.size)
            magic, header_size, body_size = HEAD.unpack(head)
            if magic != MAGIC or header_size > HEADER_BYTES or body_size > most_bytes:
                raise ZygoteLost("a frame out of bounds")
            header = parse_strictly(await self.reader.readexactly(header_size))
            body = await self.reader.readexactly(body_size)
        except (EOFError, OSError, ValueError) as error:
            raise ZygoteLost(f"{type(error).__name__}: {error}") from error
        if type(header) is not dict:
            raise ZygoteLost("a header that is no object")
        return header, body


@dataclass(frozen=True)
class Job:
    """One hypothesis to run on one input set.

    Attributes:
        code: The source code as UTF-8.
        entry: Name of the function as UTF-8.
        digest: Digest of the input set.
        text: The inputs as a JSON list of `count` values.
        count: Number of inputs.
        keep: Whether to return "codes" or "values".
        limits: Limits on time, memory and output.
        equality: The equality rule for codes; None for the default rule.
        further_jobs: Jobs with other input sets, to run in the same child if calls keep no state.
        further_batches: The results of `further_jobs`.
    """

    code: bytes
    entry: bytes
    digest: Digest
    text: bytes
    count: int
    keep: Keep
    limits: Limits
    equality: Json = None
    further_jobs: tuple[Job, ...] = ()
    further_batches: list[Batch] = field(
        default_factory=list
    )  # the batches of `also`: all of them or none


VERDICTS = frozenset({"ok", "syntax", "no_function", "too_slow", "memory", "output_too_large",
                      "protocol", "crashed", "cancelled"})  # fmt: skip
JSON_BYTES = 8  # maximum JSON bytes per byte of a canonical form
_REASON = re.compile(r"[A-Za-z_]{1,64}")


def failed_batch(verdict: str, count: int, detail: str = "", limited: bool = False, cpu_s: float = 0.0) -> Batch:  # fmt: skip
    """Return the result of a run that failed: every input is undefined for the reason `verdict`."""
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


def max_reply_bytes(limits: Limits) -> int:
    """Return the maximum size of a reply's body in bytes. The body is a child's frame."""
    return HEAD.size + HEADER_BYTES + limits.output_bytes


def parse_batches(
    header: Mapping[str, Any], body: bytes, nonce: str, job: Job, also: Sequence[Job]
) -> tuple[Batch, list[Batch]]:
    """Return the result in a reply, and the results of additional jobs (all of them, or none).

    If the child gave no result, the header states the reason. Otherwise the body of the reply is
    the child's frame.

    Args:
        header: Header of the reply.
        body: Body of the reply.
        nonce: Identifier of the request.
        job: The job of the request.
        also: The additional jobs that ran in the same child.

    Raises:
        ZygoteLost: The harness itself failed.
    """
    count, keep, limits = job.count, job.keep, job.limits
    ending = header.get("ending")
    if ending == "fault":
        raise ZygoteLost(str(header.get("detail")))
    if ending != "ok":
        return parse_batch({**header, "verdict": ending}, b"", count, keep, limits), []
    magic, header_bytes, body_bytes = (
        HEAD.unpack_from(body) if len(body) >= HEAD.size else (0, 0, 0)
    )
    if magic != MAGIC or HEAD.size + header_bytes + body_bytes != len(body):
        return failed_batch("protocol", count, "its result is no frame of ours"), []
    try:
        inner = parse_strictly(body[HEAD.size : HEAD.size + header_bytes])
    except ValueError:
        return failed_batch("protocol", count, "its result has no header"), []
    if type(inner) is not dict or inner.get("nonce") != nonce:
        return failed_batch("protocol", count, "its result has another header"), []
    if inner.get("verdict") in ("protocol", "crashed", "cancelled"):
        return failed_batch("protocol", count, "a verdict that is not its own to give"), []
    body = body[HEAD.size + header_bytes :]
    parts = inner.get("parts", [])
    sizes = part_sizes(parts)
    if sizes is None or sum(sizes) > len(body):
        return failed_batch("protocol", count, "parts out of order"), []
    at = len(body) - sum(sizes)
    batch = parse_batch(inner, body[:at], count, keep, limits)
    if len(parts) != len(also):
        return batch, []
    further = []
    for one, part, size in zip(also, parts, sizes, strict=True):
        further.append(parse_batch(part, body[at : at + size], one.count, one.keep, limits))
        at += size
    whole = all(one.verdict == "ok" and not one.limited for one in [batch, *further])
    return batch, further if whole else []


def part_sizes(parts: Any) -> list[int] | None:
    """Return the size in bytes of each additional result, or None if `parts` is malformed."""
    if type(parts) is not list or not all(type(one) is dict for one in parts):
        return None
    sizes = [one.get("bytes") for one in parts]
    return sizes if all(type(size) is int and size >= 0 for size in sizes) else None


def parse_batch(
    header: Mapping[str, Any], body: bytes, count: int, keep: Keep, limits: Limits
) -> Batch:
    """Return the result in a child's frame; its verdict is "protocol" if it is malformed.

    Args:
        header: Header of the frame.
        body: Body of the frame.
        count: Number of inputs.
        keep: Whether the body holds "codes" or "values".
        limits: Limits that the result must respect.
    """
    verdict, detail = header.get("verdict"), header.get("detail", "")
    cpu = header.get("cpu_s")
    cpu_s = cpu if type(cpu) is float and 0.0 <= cpu <= limits.wall_s else 0.0
    limited = header.get("limited") is True
    if type(verdict) is not str or verdict not in VERDICTS or type(detail) is not str:
        return failed_batch("protocol", count, "a verdict or detail out of order", cpu_s=cpu_s)
    detail = detail.encode("utf-8", "replace").decode()  # This removes lone surrogates.
    if verdict != "ok":
        return failed_batch(verdict, count, detail, limited, cpu_s)
    names = header.get("reason_names")
    if (
        type(names) is not list
        or len(names) > 200
        or not all(type(n) is str and _REASON.fullmatch(n) for n in names)
        or len(set(names)) != len(names)
    ):
        return failed_batch("protocol", count, "reasons out of order", cpu_s=cpu_s)
    if len(body) < count or (keep == "codes" and len(body) != 9 * count):
        return failed_batch("protocol", count, f"{len(body)} bytes for {count} inputs", cpu_s=cpu_s)
    reasons = np.frombuffer(body, np.uint8, count)
    if count and int(reasons.max()) > len(names):
        return failed_batch("protocol", count, "a reason out of range", cpu_s=cpu_s)
    values = None
    if keep == "codes":
        codes = np.frombuffer(body, "<i8", count, count).astype(np.int64)
        codes[reasons > 0] = 0
    else:
        try:
            codes, values = parse_values(body[count:], reasons, names, limits)
        except (ValueError, RecursionError, TypeError) as error:
            return failed_batch("protocol", count, f"values out of order: {error}", cpu_s=cpu_s)
    return Batch("ok", codes, reasons, tuple(names), values, detail[:500], limited, cpu_s)


def parse_values(
    text: bytes, reasons: np.ndarray[Any, np.dtype[np.uint8]], names: list[str], limits: Limits
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], tuple[Mapping[str, Any], ...]]:
    """Return the codes and values from the body of a result with values.

    The size of each value is checked before the value is parsed. The codes are computed here from
    the values, so codes and values always agree.

    Args:
        text: The length of each value's JSON in 4 bytes each, then all values.
        reasons: For each input, 0 for a value, or 1 plus an index into `names`.
        names: Reasons why inputs have no value.
        limits: Limits that each value must respect.

    Raises:
        ValueError: The body is malformed.
    """
    count = len(reasons)
    lengths = np.frombuffer(text, "<u4", count).astype(np.int64)  # raises ValueError if too short
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
        value = parse_strictly(text[at - length : at])
        try:
            codes[index] = code_of_stored(value, limits.value_bytes)
        except Unrepresentable:
            raise ValueError("a value beyond the limits") from None
        values.append({"value": value})
    return codes, tuple(values)
