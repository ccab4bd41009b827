"""How many tokens the model of an endpoint holds, as the endpoint tells it.

`GET {url}/models` tells it on vLLM, SGLang, llama.cpp, LM Studio, OpenRouter, Groq, Mistral and
Together. Ollama tells it of a model that is loaded (`GET {root}/api/ps`), and it matters most
there, since Ollama cuts what is too long in silence.

A size that was looked up refuses a request only where it cannot fit: at `MOST_CHARACTERS` a token,
without the answer. What is between that and the true count is left to the endpoint, which refuses
it in words of its own. Where it cuts instead, the answer is refused: its count of the request either
fills what the model holds, or (whole messages are dropped, the oldest first) is below what was
sent at the least.

The second is no proof by itself: Ollama before 0.2 and some 0.30 left out what they had cached, and
other servers may. So cached tokens that are told are added, and a count that is too small is a cut
only where there is a size that the request may exceed (at 1 character a token), or where the server
is an Ollama that tells none. Not covered: a server of another kind that cuts and tells no size, and
one that counts no tokens. Setting `context_tokens` refuses before a request by a size of one's own
and is checked after it beside the one looked up; 0 ends all of this. Not used: the length that a
model was trained with (`n_ctx_train`), which a server may exceed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...records import Json, Message, Unavailable, Usage
from .address import Endpoint
from .limits import estimated_tokens

if TYPE_CHECKING:
    import httpx2

FIELDS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "max_context_length",
    "context_window",
    "n_ctx",
)
MOST_CHARACTERS = 6  # a token; prose has some 4.5, code and lists of numbers fewer
TIMEOUT_S = 5.0
LONGEST = 16_000_000  # bytes of a list of models
ASKED_AGAIN = 3  # times that Ollama's loaded models are looked at


@dataclass(frozen=True)
class Size:
    """tokens: what the model holds; source: who says so."""

    tokens: int
    source: str

    def __str__(self) -> str:
        return f"{self.tokens:,} tokens that the model holds ({self.source})"


class Context:
    """The size of one endpoint's model, looked up when it is first needed. A look-up that fails is
    no error: then nothing is refused. own: the user's, which goes before it; 0: nothing is checked.
    """

    def __init__(self, endpoint: Endpoint, http: httpx2.AsyncClient, own: int | None) -> None:
        self._endpoint = endpoint
        self._http = http
        self._own = own
        self._turn = asyncio.Lock()
        self._looked_up = own == 0
        self._loaded_left = 0  # looks at what Ollama has loaded
        self._ollama = False
        self.size: Size | None = None

    async def check(
        self, messages: Sequence[Message], extra: Mapping[str, Json], answer: int
    ) -> None:
        """Before a request. answer: its tokens at most, 0: not known. Raises Unavailable for
        messages that cannot fit."""
        size = estimated_tokens(messages, extra, answer)
        if self._own and size > self._own:
            raise Unavailable(
                f"{self._endpoint} was not asked: the request and an answer of {answer:,} tokens "
                f"are about {size:,} tokens, more than context_tokens {self._own:,}"
            )
        if not self._looked_up:
            async with self._turn:
                if not self._looked_up:
                    self._looked_up = await self._look_up()
        least = least_tokens(messages)
        if self._own is None and self.size is not None and least > self.size.tokens:
            raise Unavailable(
                f"{self._endpoint} was not asked: the request is at least {least:,} tokens, more "
                f"than the {self.size}"
            )

    async def check_answer(self, messages: Sequence[Message], usage: Usage) -> None:
        """After an answer. Raises Unavailable where the request was cut."""
        if self._own == 0:
            return
        if self.size is None and self._loaded_left:
            async with self._turn:
                if self._loaded_left and self.size is None:
                    await self._look_at_loaded()
        if self.size is not None and usage.tokens_in >= self.size.tokens:
            raise Unavailable(
                f"{self._endpoint} cut the request without a word: it filled all of the {self.size}"
            )
        if self._own and usage.tokens_in >= self._own:
            raise Unavailable(
                f"{self._endpoint} counted {usage.tokens_in:,} tokens in the request: it fills "
                f"context_tokens {self._own:,} or was cut to it"
            )
        counted, least = usage.tokens_in + usage.tokens_cached, least_tokens(messages)
        if usage.tokens_in > 0 and counted < least and self._may_exceed(messages):
            raise Unavailable(
                f"{self._endpoint} cut the request without a word: it counted {counted:,} tokens "
                f"in one of at least {least:,} (context_tokens=0 ends this check)"
            )

    def _may_exceed(self, messages: Sequence[Message]) -> bool:
        sizes = [self._own, self.size.tokens if self.size else None]
        known = [size for size in sizes if size]
        return self._ollama if not known else _characters(messages) > min(known)

    async def _look_up(self) -> bool:
        """Whether that is done with; it is not where nothing listens yet."""
        import httpx2

        url = f"{self._endpoint.url}/models"
        try:
            told = await self._get(url)
        except httpx2.ConnectError:
            return False
        entry = _entry(told, "data", "id", self._endpoint.model)
        self.size = _size(entry, url)
        if self.size is None and entry is not None and not self._endpoint.openai:
            self._ollama = entry.get("owned_by") == "library"
            self._loaded_left = ASKED_AGAIN
        return True

    async def _look_at_loaded(self) -> None:
        import httpx2

        parts = urlsplit(self._endpoint.url)
        url = f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/v1')}/api/ps"
        try:
            told = await self._get(url)
        except httpx2.ConnectError:
            told = None
        self._loaded_left = self._loaded_left - 1 if told is not None else 0
        self.size = _size(_entry(told, "models", "name", self._endpoint.model), url)

    async def _get(self, url: str) -> Json:
        """The JSON there; None for anything else. Raises httpx2.ConnectError."""
        import httpx2

        key = self._endpoint.key
        headers = {"Authorization": f"Bearer {key}"}
        body = bytearray()
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                self._http.stream("GET", url, headers=headers) as response,
            ):
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > LONGEST:
                        return None
            return json.loads(body) if response.status_code == 200 else None
        except httpx2.ConnectError:
            raise
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError, RecursionError):
            return None


def least_tokens(messages: Sequence[Message]) -> int:
    """What the messages are at the least, whatever the model's tokenizer."""
    return _characters(messages) // MOST_CHARACTERS


def _characters(messages: Sequence[Message]) -> int:
    characters = 0
    for message in messages:
        characters += len(str(message.get("content") or ""))
        for call in message.get("tool_calls") or ():
            characters += len(str(call.get("function", {}).get("arguments", "")))
    return characters


def _entry(body: Json, under: str, name: str, model: str) -> Mapping[str, Json] | None:
    """The entry of this model in a list of models; the only one, where there is only one."""
    found = body.get(under) if isinstance(body, Mapping) else body
    entries = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    for one in entries:
        if one.get(name) in (model, f"{model}:latest"):
            return one
    return entries[0] if len(entries) == 1 else None


def _size(entry: Mapping[str, Json] | None, source: str) -> Size | None:
    if entry is None:
        return None
    meta = entry.get("meta")
    for place in (entry, meta if isinstance(meta, Mapping) else {}):
        for field in FIELDS:
            told = place.get(field)
            if isinstance(told, int) and not isinstance(told, bool) and told > 0:
                return Size(told, f"{field} of {source}")
    return None
