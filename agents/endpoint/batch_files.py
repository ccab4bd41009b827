"""Answer requests by the batch files of an endpoint, for sessions that may wait up to a day.

Requests of all problems are collected until none has come for `batch_wait_s` seconds, and are then
sent as one batch (batch_client.py). Requests that the batch does not answer go into a later batch.

The endpoint's own record of batches is the only one: nothing is kept here that a kill could lose. Each
batch names its session in its metadata, and each request is named after the call of the session that
it answers. A resumed session first looks at its earlier batches. It takes the answers of those that
are over, waits for those that still run, and sends only the other requests. Therefore, no request is
paid for twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ...records import CURRENT_CALL, Json, Message, ToolSpec, Unavailable, digest_of
from ...records.settings import Number
from .batch_client import MAX_FILE_BYTES, MAX_REQUESTS, TOO_MANY_TOKENS, BatchClient, EndpointBatch
from .faults import ErrorInBody, Fault, fault_from_status
from .limits import OUTAGE_S

if TYPE_CHECKING:
    from collections.abc import Collection

    from .address import Endpoint

T = TypeVar("T")
LONGEST_HOLD = 12  # times batch_wait_s: then a batch is sent although requests still come
POLL_GROWTH = 1.5  # of the pause between two looks at a batch
LONGEST_POLL_S = 300.0
LONGEST_OUTAGE_PAUSE_S = 30.0
CREATE_TRIES = 5  # to start a batch whose start was not confirmed
SESSION, MODEL, REQUESTS = "peirce_session", "peirce_model", "peirce_requests"  # of the metadata
LEFT = "The session was stopped while this request waited for a batch."
# The name of the request that `BatchFiles.answer` is asked for.
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")


class RefusedLine(ErrorInBody):
    """Raised for a request whose line in the results has an error status."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(body)
        self.status = status

    def make_fault(self, endpoint: Endpoint, sent: Collection[str]) -> Fault:
        """Return the Fault of a direct answer with the same status."""
        return fault_from_status(endpoint, self.status, self.body, {}, sent)


def name_request(
    problem: str,
    model: Json,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    seed: int,
    schema: Mapping[str, Json] | None,
) -> str:
    """Return the name of a request in a batch (`custom_id`), of at most 64 characters.

    It depends on what the journal records of a call, and on the call's place in its session. It does
    not depend on the optional parts of a request that the endpoint may have refused since.
    """
    call = CURRENT_CALL.get()
    place = ["", problem, ""] if call is None else [call.session, call.problem, call.path]
    asked = [list(map(dict, messages)), [asdict(one) for one in tools], seed, dict(schema or {})]
    return f"peirce-{digest_of([place, model, asked])[:48]}"


@dataclass(eq=False)
class WaitingRequest:
    """A request that waits for its answer.

    Attributes:
        id: The name of the request.
        session: The session that it belongs to; "" if it belongs to none.
        line: Its line of a batch file.
        answer: Receives the body of the answer.
    """

    id: str
    session: str
    line: bytes
    answer: asyncio.Future[Json]


class BatchFiles:
    """Collects requests, sends them in batches, and gives each its answer.

    Args:
        client: The endpoint.
        model: The settings of the model that affect its answers; batches of others are not used.
        wait_s: Seconds without a new request after which a batch is sent.
        poll_s: Seconds until the first look at a batch; later pauses are longer.
        outage_s: Seconds without a reachable endpoint after which waiting ends.
    """

    def __init__(
        self,
        client: BatchClient,
        model: Json,
        *,
        wait_s: Number = 10.0,
        poll_s: Number = 10.0,
        outage_s: Number | None = None,
    ) -> None:
        self._client = client
        self.model = model
        self._model_digest = digest_of(model)[:32]
        self._wait_s, self._poll_s = wait_s, poll_s
        self._outage_s = OUTAGE_S if outage_s is None else outage_s
        self._waiting: set[WaitingRequest] = set()  # without an answer, in any of these stages:
        self._held: list[WaitingRequest] = []  # not sent
        self._sending: Sequence[WaitingRequest] = ()  # of the batch that is being started
        self._sent: dict[str, list[WaitingRequest]] = {}  # by the id of the running batch
        self._known: dict[str, list[Json]] = {}  # unclaimed answers, by the name of the request
        self._read: set[str] = set()  # earlier batches whose answers are in `_known`, or were
        self._looked_up: set[str] = set()  # sessions whose earlier batches were looked up
        self._last_s = 0.0  # when the last request came
        self._most = MAX_REQUESTS
        self._collecting: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._leaving: asyncio.Task[None] | None = None
        self._stopping: asyncio.Event | None = None
        self._report: Callable[[str], None] = lambda said: None

    def join_session(self, stopping: asyncio.Event, report: Callable[[str], None]) -> None:
        """Stop waiting when `stopping` is set, and tell `report` what happens to batches."""
        self._stopping, self._report = stopping, report
        if self._leaving is not None:
            self._leaving.cancel()
        self._leaving = self._start(self._leave_after(stopping))

    async def answer(self, body: Json) -> Json:
        """Return the body of the answer to a chat request, once a batch has answered it.

        Raises:
            Fault: The batch gave no usable answer.
            RefusedLine: The answer has an error status.
            Unavailable: The session was stopped.
        """
        if self._stopping is not None and self._stopping.is_set():
            raise Unavailable(LEFT)
        call, name = CURRENT_CALL.get(), REQUEST_ID.get()
        line = {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}
        loop = asyncio.get_running_loop()
        waiting = WaitingRequest(
            name, "" if call is None else call.session, json.dumps(line).encode() + b"\n",
            loop.create_future(),
        )  # fmt: skip
        if len(waiting.line) > MAX_FILE_BYTES:
            raise Fault("nothing: the request is too long for a batch file", retryable=False)
        self._waiting.add(waiting)
        self._held.append(waiting)
        self._last_s = loop.time()
        if self._collecting is None or self._collecting.done():
            self._collecting = self._start(self._collect())
        try:
            return await waiting.answer
        finally:
            self._waiting.discard(waiting)
            if waiting in self._held:
                self._held.remove(waiting)

    async def close(self) -> None:
        """Stop waiting. Batches that were sent go on at the endpoint."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- Collecting and sending.

    async def _collect(self) -> None:
        while self._held:
            await self._wait_until_quiet()
            if not self._held:
                return
            session = self._held[0].session
            try:
                if session not in self._looked_up:
                    await self._look_up(session)
                if requests := self._take_unanswered(session):
                    await self._send(session, requests)
            except (Fault, _http_error()) as error:
                _fail([one for one in self._held if one.session == session], error)
                self._held = [one for one in self._held if one.session != session]

    async def _wait_until_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_HOLD * self._wait_s
        while (now := loop.time()) < min(self._last_s + self._wait_s, end):
            await asyncio.sleep(min(self._last_s + self._wait_s, end) - now)
            if len(self._held) >= self._most:
                return

    def _take_unanswered(self, session: str) -> list[WaitingRequest]:
        """Answer the requests whose answers are known, and return those for the next batch."""
        taken: dict[str, WaitingRequest] = {}
        size = 0
        for one in [each for each in self._held if each.session == session]:
            if one.answer.done():
                self._held.remove(one)
            elif self._known.get(one.id):
                self._held.remove(one)
                one.answer.set_result(self._known[one.id].pop(0))
            elif one.id not in taken and len(taken) < self._most and size + len(one.line) <= MAX_FILE_BYTES:  # fmt: skip
                self._held.remove(one)
                taken[one.id] = one
                size += len(one.line)
        return list(taken.values())

    async def _send(self, session: str, requests: Sequence[WaitingRequest]) -> None:
        if self._most < MAX_REQUESTS:  # too many tokens wait at the endpoint
            await asyncio.gather(*(task for task in self._tasks if task.get_name() == FOLLOWING))
        self._sending = requests
        try:
            file = await self._client.upload(b"".join(one.line for one in requests))
            batch = await self._create(
                file,
                {
                    **self._name(session),
                    REQUESTS: digest_of(sorted(one.id for one in requests)),
                },
            )
        except (Fault, _http_error()) as error:
            _fail(requests, error)
            return
        finally:
            self._sending = ()
        self._sent[batch.id] = list(requests)
        self._report(f"Batch {batch.id} with {_count(requests)} was sent.")
        self._start(self._follow(batch), FOLLOWING)

    async def _create(self, file: str, metadata: Mapping[str, str]) -> EndpointBatch:
        """Start a batch. A start whose confirmation was lost is looked up before it is repeated."""
        last: Exception | None = None
        for _ in range(CREATE_TRIES):
            try:
                return await self._client.create(file, metadata)
            except (Fault, _http_error()) as error:
                if isinstance(error, Fault) and not error.retryable:
                    raise
                last = error
            wait_s = last.wait_s if isinstance(last, Fault) else None
            await asyncio.sleep(self._poll_s if wait_s is None else wait_s)
            listed = await self._try_patiently("a started batch", self._client.list_batches)
            if started := [one for one in listed if one.input_file == file]:
                return started[0]
        assert last is not None
        raise last

    # --- Following a batch, and reading its results.

    async def _follow(self, batch: EndpointBatch, earlier: bool = False) -> None:
        """Wait until a batch is over, and give its requests their answers."""
        requests = self._sent.get(batch.id, [])
        try:
            batch = await self._wait_until_over(batch)
            # A batch whose answers cannot be read yet is not repeated, since it is paid for.
            results = await self._try_patiently(
                f"batch {batch.id}", partial(self._read_results, batch)
            )
        except (Fault, _http_error()) as error:
            _fail(requests, error)
            if earlier:
                raise
            return
        finally:
            self._sent.pop(batch.id, None)
        answered = 0
        for one in requests:
            line = results.pop(one.id, None)
            answered += self._deliver(one, line, batch)
            if line is not None and one.answer.cancelled():
                results[one.id] = line
        for name, line in results.items():
            if (body := _good_body(line)) is not None:
                self._known.setdefault(name, []).append(body)
        if requests and batch.error_code == TOO_MANY_TOKENS:
            self._most = max(1, min(self._most, len(requests)) // 2)
        if not earlier:
            why = f" ({self._client.redact(batch.error)})" if batch.error else ""
            self._report(
                f"Batch {batch.id} is {batch.status}{why}: {answered:,} of {_count(requests)} answered."
            )

    def _deliver(
        self, one: WaitingRequest, line: Mapping[str, Json] | None, batch: EndpointBatch
    ) -> bool:
        """Give a request its answer or its fault, and return whether it is answered."""
        if one.answer.done():
            return False
        body = None if line is None else _good_body(line)
        if body is not None:
            one.answer.set_result(body)
            return True
        response = (line or {}).get("response")
        refused = isinstance(response, dict) and response.get("status_code")
        if isinstance(response, dict) and isinstance(refused, int) and refused >= 400:
            one.answer.set_exception(RefusedLine(refused, response.get("body")))
            return False
        error = (line or {}).get("error")
        why = error.get("message") if isinstance(error, dict) else None
        why = why or batch.error or "it has no result for the request"
        said = self._client.redact(f"batch {batch.id}, which is {batch.status}: {why!s:.200}")
        one.answer.set_exception(Fault(said, retryable=True))
        return False

    async def _wait_until_over(self, batch: EndpointBatch) -> EndpointBatch:
        pause_s = float(self._poll_s)
        while not batch.is_over:
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * POLL_GROWTH, max(LONGEST_POLL_S, self._poll_s))
            batch = await self._try_patiently(
                f"batch {batch.id}", partial(self._client.get, batch.id)
            )
        return batch

    async def _try_patiently(self, about: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the endpoint's answer about a batch, after as many attempts as an outage takes.

        Raises:
            Fault: The endpoint refuses the question, or gave no answer for `outage_s` seconds.
        """
        loop = asyncio.get_running_loop()
        began_s, pause_s = loop.time(), float(self._poll_s)
        while True:
            try:
                return await ask()
            except (Fault, _http_error()) as error:
                if isinstance(error, Fault) and not error.retryable:
                    raise
                if loop.time() - began_s >= self._outage_s:
                    raise Fault(
                        f"nothing for {self._outage_s:g} s about {about}, which may still"
                        f" run there ({error!s:.200})",
                        retryable=False,
                        refused=True,
                    ) from None
                asked_s = (error.wait_s or 0.0) if isinstance(error, Fault) else 0.0
            await asyncio.sleep(max(pause_s, min(asked_s, LONGEST_POLL_S)))
            pause_s = min(pause_s * POLL_GROWTH, LONGEST_OUTAGE_PAUSE_S)

    async def _read_results(self, batch: EndpointBatch) -> dict[str, dict[str, Json]]:
        found: dict[str, dict[str, Json]] = {}
        for file in batch.result_files:
            async for line in self._client.read_results(file):
                name = line.get("custom_id")
                if isinstance(name, str):
                    found[name] = line
        return found

    # --- Earlier batches of a session.

    def _name(self, session: str) -> dict[str, str]:
        return {SESSION: session[:512] or "none", MODEL: self._model_digest}

    async def _list(self, session: str) -> list[EndpointBatch]:
        """Return the batches of a session with this model, oldest first."""
        ours = self._name(session)
        return [
            one
            for one in reversed(await self._client.list_batches())
            if all(one.metadata.get(key) == value for key, value in ours.items())
        ]

    async def _look_up(self, session: str) -> None:
        """Read the answers of the earlier batches of a session, after waiting for running ones.

        Which requests a running batch holds is known only when it is over, so no request is sent
        before.
        """
        apart = self._read | self._sent.keys()
        earlier = [one for one in await self._list(session) if one.id not in apart]
        running = [one for one in earlier if not one.is_over]
        if running:
            names = ", ".join(one.id for one in running)
            self._report(f"Waiting for earlier batches of this session: {names}.")
        for one in earlier:
            try:
                await self._follow(one, earlier=True)
            except Fault as fault:
                if fault.retryable or not one.is_over:
                    raise
                # The endpoint no longer has the results; their requests are sent again.
            self._read.add(one.id)
        self._looked_up.add(session)

    # --- Tasks.

    def _start(
        self, work: Coroutine[Any, Any, None], name: str | None = None
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._end_task)
        return task

    def _end_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _fail(list(self._waiting), error)  # an error of this module must not leave them waiting

    async def _leave_after(self, stopping: asyncio.Event) -> None:
        await stopping.wait()
        for batch, requests in self._sent.items():
            if any(not one.answer.done() for one in requests):
                self._report(
                    f"Batch {batch} with {_count(requests)} goes on at the endpoint. Resume the"
                    " session to take its answers."
                )
        if self._sending:
            self._report(
                f"A batch with {_count(self._sending)} was just being started. Resume the session to"
                " take its answers."
            )
        _fail(list(self._waiting), Unavailable(LEFT))
        for task in list(self._tasks):
            if task is not asyncio.current_task():
                task.cancel()
        self._held.clear()
        self._sent.clear()
        self._looked_up.clear()
        self._read.clear()
        self._known.clear()


FOLLOWING = "peirce batch"  # name of the tasks that wait for a batch


def _http_error() -> type[Exception]:
    import httpx2

    return httpx2.HTTPError


def _count(requests: Sequence[WaitingRequest]) -> str:
    return "1 request" if len(requests) == 1 else f"{len(requests):,} requests"


def _fail(requests: Sequence[WaitingRequest], error: BaseException) -> None:
    for one in requests:
        if not one.answer.done():
            # A caller changes the fault of its request.
            one.answer.set_exception(error.copy() if isinstance(error, Fault) else error)


def _good_body(line: Mapping[str, Json]) -> Json:
    """Return the body of a successful answer; None for an error."""
    response = line.get("response")
    if not isinstance(response, dict) or response.get("status_code") != 200:
        return None
    return response.get("body")
