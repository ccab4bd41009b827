"""The files and batches of an endpoint, over HTTP (OpenAI's /v1/files and /v1/batches).

    POST /files                uploads a JSONL file with one request per line (purpose `batch`)
    POST /batches              starts a batch that answers these requests within 24 hours
    GET  /batches              lists batches, newest first, in pages
    GET  /batches/ID           the state of a batch
    GET  /files/ID/content     its output, or its errors, one line per request in any order

At most 50,000 requests and 200 MB make one file (https://platform.openai.com/docs/guides/batch).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...records import Json
from .address import Endpoint
from .arguments import parse_json
from .faults import Fault, error_detail, fault_from_status
from .streamed_answer import MAX_CHARACTERS, too_long_fault

if TYPE_CHECKING:
    import httpx2

MAX_REQUESTS = 50_000  # of one batch
MAX_FILE_BYTES = 199_000_000  # the limit is 200 MB
MAX_RESULT_BYTES = 4_000_000_000  # of a result file; an endless one must end
PAGE = 100  # batches of one page of a list, the largest that OpenAI takes
MAX_PAGES = 100
OVER = ("completed", "failed", "expired", "cancelled")
COMPLETION_WINDOW = "24h"  # the only value that OpenAI takes
NO_BATCHES = (404, 405, 501)  # statuses of a server without such files
TOO_MANY_TOKENS = "token_limit_exceeded"  # a batch failed, because too many tokens wait already


@dataclass(frozen=True)
class EndpointBatch:
    """The state of a batch at an endpoint.

    Attributes:
        id: Its id.
        status: validating, in_progress, finalizing, cancelling, or a status of `OVER`.
        input_file: The id of the file with its requests.
        result_files: The ids of the files with its answers and errors, as far as they exist.
        metadata: The names and values that its creator attached to it.
        done: The number of its requests that are finished.
        error: Why the batch failed as a whole; "" if it did not, or the endpoint gave no reason.
        error_code: The code of this error; "" without one.
    """

    id: str
    status: str
    input_file: str = ""
    result_files: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    done: int = 0
    error: str = ""
    error_code: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether the state will not change any more."""
        return self.status in OVER


def read_batch(body: Json) -> EndpointBatch:
    """Return the batch that an endpoint describes.

    Raises:
        Fault: The body describes no batch.
    """
    try:
        errors = (body.get("errors") or {}).get("data") or [{}]
        counts = body.get("request_counts") or {}
        files = (body.get("output_file_id"), body.get("error_file_id"))
        return EndpointBatch(
            id=str(body["id"]),
            status=str(body["status"]),
            input_file=str(body.get("input_file_id") or ""),
            result_files=tuple(str(one) for one in files if one),
            metadata={str(k): str(v) for k, v in (body.get("metadata") or {}).items()},
            done=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            error=error_detail({"error": errors[0].get("message")})[:300],
            error_code=str(errors[0].get("code") or ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise Fault("the description of a batch is malformed", retryable=True) from None


class BatchClient:
    """Sends files and starts batches at one endpoint.

    Every method raises Fault for an error of the endpoint, and the error of httpx2 where the
    connection fails.
    """

    def __init__(self, endpoint: Endpoint, http: httpx2.AsyncClient) -> None:
        self._endpoint = endpoint
        self._http = http

    async def upload(self, lines: bytes) -> str:
        """Upload a file of requests, and return its id."""
        sent = {"file": ("peirce.jsonl", lines, "application/jsonl")}
        body = await self._call("POST", "files", data={"purpose": "batch"}, files=sent)
        if not isinstance(body, dict) or not isinstance(body.get("id"), str):
            raise Fault("the description of a file is malformed", retryable=True)
        return str(body["id"])

    async def create(self, file: str, metadata: Mapping[str, str]) -> EndpointBatch:
        """Start a batch of the requests in an uploaded file.

        Args:
            file: The id of the file.
            metadata: Up to 16 names (64 characters) with values (512 characters).
        """
        wanted = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": COMPLETION_WINDOW,
            "metadata": dict(metadata),
        }
        return read_batch(await self._call("POST", "batches", json=wanted))

    async def get(self, batch: str) -> EndpointBatch:
        """Return the state of a batch."""
        return read_batch(await self._call("GET", f"batches/{quote(batch, safe='')}"))

    async def list_batches(self) -> list[EndpointBatch]:
        """Return all batches that the endpoint lists, newest first."""
        found: list[EndpointBatch] = []
        after: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            body = await self._call("GET", "batches", params={"limit": PAGE, **after})
            page = body.get("data") if isinstance(body, dict) else None
            if not isinstance(page, list):
                raise Fault("the list of batches is malformed", retryable=True)
            for one in page:
                with suppress(Fault):  # Another program's batch may have any form.
                    found.append(read_batch(one))
            if not page or not body.get("has_more") or not isinstance(page[-1], dict):
                break
            after = {"after": page[-1].get("id")}
        return found

    async def read_results(self, file: str) -> AsyncIterator[dict[str, Json]]:
        """Yield the lines of a result file that are JSON objects. Unreadable lines are left out."""
        url = f"{self._endpoint.url}/files/{quote(file, safe='')}/content"
        async with self._http.stream("GET", url, headers=self._headers) as response:
            if response.is_error:
                raise self._fault(response)
            async with aclosing(_iter_lines(response.aiter_bytes())) as lines:
                async for line in lines:
                    try:
                        found = parse_json(line)
                    except (ValueError, RecursionError):
                        continue  # the request counts as unanswered
                    if isinstance(found, dict):
                        yield found

    def redact(self, text: str) -> str:
        """Return a text of the endpoint with the key masked."""
        return self._endpoint.redact(text)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._endpoint.key}"}

    async def _call(self, verb: str, path: str, **sent: Any) -> Json:
        url = f"{self._endpoint.url}/{path}"
        response = await self._http.request(verb, url, headers=self._headers, **sent)
        if response.is_error:
            raise self._fault(response, lacks_batches=path in ("files", "batches"))
        try:
            return parse_json(response.content)
        except (ValueError, RecursionError):
            raise Fault("the body of the answer is malformed", retryable=True) from None

    def _fault(self, response: httpx2.Response, lacks_batches: bool = False) -> Fault:
        status = response.status_code
        if lacks_batches and status in NO_BATCHES:
            return Fault(
                f"{status} for {response.url.path}: it takes no batch files; leave out --batch-files",
                retryable=False,
                refused=True,
            )
        try:
            body = parse_json(response.content)
        except (ValueError, RecursionError):
            body = ""
        return fault_from_status(self._endpoint, status, body, response.headers)


async def _iter_lines(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    rest = bytearray()
    total = 0
    async for piece in pieces:
        total += len(piece)
        rest += piece
        if len(rest) > MAX_CHARACTERS + len(piece) or total > MAX_RESULT_BYTES:
            raise too_long_fault()
        if b"\n" in piece:
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in lines:
                if line.strip():
                    yield line
    if rest.strip():
        yield bytes(rest)
