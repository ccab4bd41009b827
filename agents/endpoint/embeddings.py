"""Vectors of texts from an OpenAI-compatible endpoint (`POST /v1/embeddings`).

Requests carry as many texts as the endpoint takes: if it refuses a request, the texts are divided.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Unavailable, UsageError
from .address import Endpoint, resolve_endpoint
from .arguments import parse_json
from .client import open_client
from .faults import Fault
from .settings import ChatSettings
from .streamed_answer import read_bounded

if TYPE_CHECKING:
    import httpx2

    from ..term_vectors import Encoder

BATCH = 256  # texts of a request
REQUESTS = 4  # at the same time
TRIES = 4
BACKOFF_S = 0.5  # before the first retry; each further one waits twice as long
TOO_MANY = (400, 413, 422)  # statuses of an endpoint that takes fewer texts in a request


class _Refused(Exception):
    """The endpoint refuses a request, perhaps because it has too many texts."""


class EndpointEncoder:
    """An encoder behind an endpoint.

    Args:
        spec: The text that names it.
        endpoint: The endpoint.
        http: The client, which `close` closes.
    """

    def __init__(self, spec: str, endpoint: Endpoint, http: httpx2.AsyncClient) -> None:
        self._spec, self._endpoint, self._http = spec, endpoint, http
        self._batch = BATCH

    def settings(self) -> Json:
        """Return the text that names the encoder."""
        return self._spec

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each of n texts, of shape (n, d).

        Raises:
            Unavailable: The endpoint cannot be reached, refuses the request, or its answer is not
                one vector for each text.
        """
        parts: list[NDArray[np.float32]] = []
        at = 0
        while at < len(texts):
            size = self._batch
            starts = range(at, min(len(texts), at + REQUESTS * size), size)
            try:
                parts += await self._gather([texts[n : n + size] for n in starts])
            except _Refused as refused:
                if size == 1:
                    raise self._failure(str(refused)) from None
                self._batch = max(1, size // 8)
                continue
            at += REQUESTS * size
        if len({part.shape[1] for part in parts}) > 1:
            raise self._failure("vectors of different lengths")
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    async def close(self) -> None:
        """Close the client."""
        await self._http.aclose()

    async def _gather(self, batches: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """Send requests at the same time. If one fails, the others are cancelled."""
        tasks = [asyncio.ensure_future(self._request(one)) for one in batches]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _request(self, texts: Sequence[str]) -> NDArray[np.float32]:
        why = ""
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(BACKOFF_S * 2 ** (attempt - 1))
            try:
                status, body = await self._post(texts)
            except Fault as fault:
                raise self._failure(str(fault)) from None
            except (OSError, _http_errors()) as error:
                why = (
                    f"the connection failed ({error or type(error).__name__}); is it running there?"
                )
                continue
            if status == 200:
                return self._parse(body, len(texts))
            why = f"HTTP {status}: {_message(body)}"
            if status in TOO_MANY:
                raise _Refused(why)
            if status not in (408, 409, 425, 429) and status < 500:
                break
        raise self._failure(why)

    async def _post(self, texts: Sequence[str]) -> tuple[int, bytes]:
        body = {"model": self._endpoint.model, "input": list(texts)}
        headers = {"Authorization": f"Bearer {self._endpoint.key}"}
        url = f"{self._endpoint.url}/embeddings"
        async with self._http.stream("POST", url, json=body, headers=headers) as response:
            if response.is_error:  # the client has read its body
                return response.status_code, response.content
            return response.status_code, await read_bounded(response.aiter_bytes())

    def _parse(self, body: bytes, count: int) -> NDArray[np.float32]:
        try:
            listed = sorted(parse_json(body)["data"], key=lambda one: one["index"])
            found = np.array([one["embedding"] for one in listed], np.float32)
            places = [one["index"] for one in listed]
        except (KeyError, TypeError, ValueError, RecursionError, OverflowError):
            raise self._failure("its answer has no vectors") from None
        if places != list(range(count)) or found.ndim != 2 or not np.isfinite(found).all():
            raise self._failure(f"its answer does not have one vector for each of {count} texts")
        return found

    def _failure(self, why: str) -> Unavailable:
        return Unavailable(self._endpoint.redact(f"{self._endpoint} gave no embeddings: {why}"))


def _http_errors() -> type[Exception]:
    import httpx2

    return httpx2.HTTPError


def _message(body: bytes) -> str:
    """Return the message of an error, or the beginning of its body."""
    try:
        told = parse_json(body)
        error = told.get("error", told)
        text = error if isinstance(error, str) else error.get("message") or error.get("detail")
    except (ValueError, AttributeError, RecursionError):
        text = None
    return " ".join(str(text or body.decode("utf-8", "replace")).split())[:200]


def open_endpoint_encoder(spec: str) -> Encoder:
    """Return the encoder at an endpoint, without sending a request.

    Args:
        spec: URL#NAME or PROVIDER:NAME.

    Raises:
        UsageError: The text names no endpoint, or a key is missing.
    """
    from .. import scheme_of, settings_of

    try:
        is_endpoint = settings_of(scheme_of(spec)) is ChatSettings
    except UsageError:
        is_endpoint = False
    if not is_endpoint or "," in spec:
        raise UsageError(
            f"embeddings is {spec!r}: it must be URL#NAME or PROVIDER:NAME of an endpoint with"
            " /v1/embeddings, or hf:FOLDER of a sentence encoder"
        )
    settings = ChatSettings(model=spec)
    endpoint = resolve_endpoint(settings)
    _, http = open_client(endpoint, settings)
    return EndpointEncoder(spec, endpoint, http)
