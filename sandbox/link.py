"""A zygote that a backend started, the stream to it, and what it is asked."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..records import Batch, Digest, Json, Keep, Limits
from .inside.frames import HEAD, HEADER_BYTES, MAGIC, frame

HELD_BYTES, HELD_SETS = 32 * 2**20, 8  # of the sets over pool.INLINE_BYTES, in each zygote

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
