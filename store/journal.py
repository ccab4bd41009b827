"""The journal of calls in a session, and the cache of answers across sessions.

The journal records the result of every model and tool call under a key, which is the position of
the call in the session. When a session is resumed, its calls are looked up in the journal until a
call is not recorded. If a key is recorded with a different request, `JournalMismatch` is raised,
because the code, the settings or the data have changed since.

The cache answers a request from the journal of another session in this store. The other session
must have made the same request to the same model at the same endpoint. A request contains the
model, settings, messages, tools, schema and seed; the settings of its session contain the endpoint.
If several answers are recorded, because sessions ran without the cache, the latest answer is used.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

from ..records import (
    CallKey,
    CallKind,
    Digest,
    Json,
    Outcome,
    StoreError,
    Usage,
    canonical_json,
    digest_of_text,
)
from .change_log import Change
from .codec import (
    Vector,
    decode_json,
    decode_text,
    decode_vector,
    encode_canonical_json,
    encode_json,
    encode_text,
)
from .connection import RowReader
from .schema import Row
from .writer import Writer

OUTCOME_COLUMNS = (
    "response, vectors, tokens_in, tokens_out, tokens_cached, tokens_reasoning, seconds, retries, "
    "repeats"
)

MAX_QUEUED = 256  # calls of a session that may wait for the writer
MAX_INDEXED_VECTORS, VECTORS_PER_SCAN = (
    4,
    128,
)  # vectors read by one query, by either way of reading


class JournalMismatch(StoreError):
    """Raised if the journal holds a different request under the key of a call."""

    def __init__(self, key: CallKey) -> None:
        super().__init__(
            f"the journal of session {key.session} holds another request for problem "
            f"{key.problem} at {key.path}: its settings, data or code have changed since; "
            "start a new session"
        )
        self.key = key


class SessionJournal:
    """The journal of one session (`records.Journal`).

    The journal may be used from several event loops and threads at the same time.
    """

    def __init__(self, session: str, reader: RowReader, writer: Writer | None) -> None:
        self._session = session
        self._reading = reader
        self._writer = writer
        self._lock = threading.Lock()
        self._problems: set[str] | None = None  # problems whose calls are only in the file
        self._paths: dict[str, dict[str, Digest]] = {}  # running problems: request digests by path
        self._rows: dict[str, dict[str, Row]] = {}  # rows read ahead; most are looked up once
        self._making: dict[tuple[str, str], Future[None]] = {}
        # Calls that the writer has not written yet. Its thread removes them, without the lock,
        # because a thread that holds the lock may wait for the writer.
        self._queued: dict[tuple[str, str], Outcome] = {}
        self._last: dict[str, Future[None]] = {}  # the last queued call, by problem
        self._failure: StoreError | None = None  # why a queued call could not be written

    async def record_once(
        self,
        key: CallKey,
        kind: CallKind,
        request: Json,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Return the recorded outcome of a call, or make the call and record its outcome.

        The outcome is queued for the writer, which writes it soon (`writer.COMMIT_WAIT_S`), in the
        order in which calls were made. The outcome of a person is durable before this method returns. The
        outcome of a model is returned when all calls of its problem are durable that had been
        recorded before the model was called. If `make` raises an exception, nothing is recorded.

        Args:
            key: The problem and path that identify the call.
            kind: "model", "tool" or "human".
            request: The request as JSON.
            make: A function that makes the call.

        Raises:
            JournalMismatch: The journal holds a different request under this key.
            StoreError: The store cannot be read or written, or an earlier call of this session
                could not be written.
        """
        if self._failure is not None:
            raise self._failure
        text = canonical_json(request)
        digest = digest_of_text(text)
        place = (key.problem, key.path)
        while True:
            found = self._recorded(key, digest)
            if found is not None:
                return found
            with self._lock:
                other = self._making.get(place)
                if other is None:
                    mine = self._making[place] = Future()
                    mine.set_running_or_notify_cancel()  # a waiter that gives up cancels nothing
                    break
            await asyncio.wrap_future(other)
        try:
            return await self._make(key, kind, text, digest, make)
        finally:
            with self._lock:
                del self._making[place]
            mine.set_result(None)

    def forget(self, problem: str) -> None:
        """Free the memory used for a problem that has ended. Later look-ups read the file."""
        with self._lock:
            self._rows.pop(problem, None)
            self._last.pop(problem, None)
            if self._paths.pop(problem, None) and self._problems is not None:
                self._problems.add(problem)

    def find_entry(self, key: CallKey) -> tuple[Digest, Outcome] | None:
        """Return the digest of the recorded request and the recorded outcome of a call.

        The result is None if no call is recorded under `key`.
        """
        known, row = self._look_up(key)
        return None if known is None else (known, self._outcome(key, row))

    async def _make(
        self,
        key: CallKey,
        kind: CallKind,
        request: str,
        digest: Digest,
        make: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        started = time.time()
        awaited = None if kind == "tool" else self._last.get(key.problem)
        if awaited is not None and not awaited.done() and self._writer is not None:
            self._writer.hurry()  # so that it is probably durable before the model has answered
        outcome = await make()
        if self._writer is None:
            raise StoreError(
                f"the journal of session {self._session} has no call {key.path} of problem "
                f"{key.problem}, and the store is open for reading"
            )
        vectors: list[Row] = []
        digests = self._writer.add_vector_rows(outcome.vectors.values(), vectors)
        names = dict(zip(outcome.vectors, digests, strict=True))
        row = (
            *(self._session, encode_text(key.problem), encode_text(key.path), kind),
            *(
                digest,
                encode_canonical_json(request),
                encode_json(outcome.response),
                encode_json(names),
            ),
            *(outcome.usage.tokens_in, outcome.usage.tokens_out),
            *(outcome.usage.tokens_cached, outcome.usage.tokens_reasoning),
            *(outcome.seconds, outcome.retries, started, outcome.repeats),
        )
        place = (key.problem, key.path)
        with self._lock:
            known = self._known(key.problem)
            waits = kind == "human" or len(self._queued) >= MAX_QUEUED
            done = self._writer.submit(
                Change({"vector": vectors, "call": [row]}, chain=self._session), awaited=waits
            )
            self._queued[place] = outcome
            self._last[key.problem] = done
            known[key.path] = digest
        done.add_done_callback(partial(self._settle, place))
        if waits:
            awaited = done
        if awaited is not None:
            await asyncio.wrap_future(awaited)
        return outcome

    def _settle(self, place: tuple[str, str], done: Future[None]) -> None:
        """Note that a queued call is in the file, or why it is not."""
        error = done.exception()
        if isinstance(error, StoreError):
            self._failure = error
        self._queued.pop(place, None)

    def _known(self, problem: str) -> dict[str, Digest]:
        """Return the request digests of a problem's calls by path; the caller holds the lock."""
        if self._problems is None:
            rows = self._reading.query(
                "SELECT DISTINCT problem FROM call WHERE session = ?", (self._session,)
            )
            self._problems = {decode_text(name) for (name,) in rows}
        known = self._paths.get(problem)
        if known is None:
            known = self._paths[problem] = {}
            if problem in self._problems:
                for path, digest, *cells in self._reading.query(
                    f"SELECT path, request_digest, {OUTCOME_COLUMNS} FROM call "
                    "WHERE session = ? AND problem = ?",
                    (self._session, encode_text(problem)),
                ):
                    known[decode_text(path)] = digest
                    self._rows.setdefault(problem, {})[decode_text(path)] = tuple(cells)
        return known

    def _look_up(self, key: CallKey) -> tuple[Digest | None, Row | None]:
        """Return the digest of the request (None without such a call) and its row if cached."""
        with self._lock:
            known = self._known(key.problem).get(key.path)
            return known, self._rows.get(key.problem, {}).pop(key.path, None)

    def _recorded(self, key: CallKey, digest: Digest) -> Outcome | None:
        known, row = self._look_up(key)
        if known is None:
            return None
        if known != digest:
            raise JournalMismatch(key)
        return self._outcome(key, row)

    def _outcome(self, key: CallKey, row: Row | None) -> Outcome:
        if row is None:
            if queued := self._queued.get((key.problem, key.path)):
                return queued
            found = self._reading.query(
                f"SELECT {OUTCOME_COLUMNS} FROM call WHERE session = ? AND problem = ? AND path = ?",
                (self._session, encode_text(key.problem), encode_text(key.path)),
            )
            if not found:  # the call was queued and could not be written
                raise self._failure or StoreError(f"the store has lost the call {key.path}")
            (row,) = found
        response, names, *usage, seconds, retries, repeats = row
        digests: dict[str, Digest] = decode_json(names, "call.vectors", dict)
        arrays = read_vectors(self._reading, digests.values())
        return Outcome(
            decode_json(response, "call.response"),
            {name: arrays[digest] for name, digest in digests.items()},
            Usage(*usage),
            seconds,
            retries,
            repeats,
        )


def read_blobs(reader: RowReader, digests: Iterable[Digest]) -> Iterator[tuple[Digest, bytes]]:
    """Yield the digest and the stored bytes of each array whose digest is in `digests`.

    Arrays that the store does not contain are skipped. For a few digests, DuckDB uses its index.
    For many digests in one query, DuckDB reads all digests, but only the bytes of the requested
    arrays, which takes 0.1 ms per array instead of 0.5 ms.
    """
    wanted = sorted(set(digests))
    if 0 < len(wanted) <= MAX_INDEXED_VECTORS:
        places = ",".join("?" * len(wanted))
        sql = f"SELECT digest, data FROM vector WHERE digest IN ({places})"
        yield from ((digest, data) for digest, data in reader.query(sql, wanted))
        return
    for start in range(0, len(wanted), VECTORS_PER_SCAN):
        rows = reader.query(
            "SELECT digest, data FROM vector WHERE list_contains(?, digest)",
            [wanted[start : start + VECTORS_PER_SCAN]],
        )
        yield from ((digest, data) for digest, data in rows)


def read_vectors(
    reader: RowReader, digests: Iterable[Digest], items: int | None = None
) -> dict[Digest, Vector]:
    """Return stored arrays by their digests.

    Args:
        reader: The connection.
        digests: The digests of the arrays.
        items: The largest number of items that an array may have; None for no limit.

    Raises:
        StoreError: An array is missing, too large, or cannot be read.
    """
    wanted = set(digests)
    found = {digest: decode_vector(data, items) for digest, data in read_blobs(reader, wanted)}
    if missing := sorted(wanted - found.keys()):
        raise StoreError(f"the store has lost the vector {missing[0]}")
    return found


class AnswerCache:
    """A cache of the model answers that other sessions recorded for the same endpoint.

    The cache knows only calls that were written before the cache was constructed. If a concurrent
    session makes an equal call later, the request is sent again. The cache keeps eight bytes of
    each request's digest in memory, but no answers. It reads the store only if the request is
    probably recorded, because a look-up takes a millisecond while another thread writes.
    """

    def __init__(self, reader: RowReader, session: str) -> None:
        self._reading = reader
        rows = reader.query("SELECT session, settings FROM session")
        endpoints = {name: _endpoint(settings) for name, settings in rows}
        here = endpoints.pop(session, None)
        self._sessions = {name for name, there in endpoints.items() if here and there == here}
        self._known: frozenset[int] = frozenset()
        if self._sessions:
            asked = reader.query(
                "SELECT request_digest FROM call WHERE kind = 'model' AND repeats = '' "
                "AND list_contains(?, session)",
                (sorted(self._sessions),),
            )
            self._known = frozenset(_begin(digest) for (digest,) in asked)

    def find(self, request: Digest) -> Outcome | None:
        """Return the recorded outcome of a model call, without usage; None if there is none.

        `request` is the digest of the request.
        """
        if _begin(request) not in self._known:
            return None
        rows = self._reading.query(
            "SELECT session, response FROM call WHERE request_digest = ? AND kind = 'model' "
            "AND repeats = '' ORDER BY started DESC",
            (request,),
        )
        for session, response in rows:
            found = decode_json(response, "call.response") if session in self._sessions else None
            # Whether a prompt is too long depends on settings that the request does not contain.
            if found is not None and not _is_refusal(found):
                return Outcome(found, repeats=session)
        return None


def _is_refusal(response: Any) -> bool:
    return isinstance(response, dict) and response.get("finish") == "too_long"


def _begin(digest: Digest) -> int:
    return int(digest[:16], 16)


def _endpoint(settings: str) -> str | None:
    reached = decode_json(settings, "session.settings", dict)
    for name in ("operational", "reached", "endpoint"):
        reached = reached.get(name) if isinstance(reached, dict) else None
    return reached if isinstance(reached, str) else None
