"""Look up the context size of an endpoint's model, and refuse requests that do not fit.

`GET {url}/models` reports the size on vLLM, SGLang, llama.cpp, LM Studio, OpenRouter, Groq, Mistral
and Together. Ollama reports the size only for a loaded model (`GET {root}/api/ps`). The check is
most important for Ollama, because Ollama silently truncates long requests.

Before a request, a looked-up size refuses the request only if the request certainly does not fit:
it is counted with `MOST_CHARACTERS` characters per token and without the answer. A longer request
that passes this check is sent, and the endpoint may refuse it. If the endpoint truncates the
request instead, the answer is refused. Truncation is recognized in two situations. Either the
endpoint's token count fills the context, or the count is below the smallest possible count of the
request, because the endpoint dropped whole messages, oldest first.

A low count alone proves nothing: Ollama before 0.2 and some versions 0.30 left out cached tokens,
and other servers may do the same. Therefore, reported cached tokens are added. A low count means
truncation only if the request may exceed a known size (at 1 character per token), or if the server
is an Ollama that reports no size. Servers that truncate and report no size, and servers that count
no tokens, are not covered.

The setting `context_tokens` refuses requests above a size that the user chooses. Answers are then
checked against this size and against the looked-up size; 0 disables all checks. The length with
which a model was trained (`n_ctx_train`) is not used, because a server may exceed it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...records import ContextExceeded, Json, Message, Usage
from .address import Endpoint
from .faults import Fault
from .limits import estimate_tokens

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
MOST_CHARACTERS = 6  # per token; prose has about 4.5, code and lists of numbers fewer
TIMEOUT_S = 5.0
MAX_BODY_BYTES = 16_000_000  # bytes of a list of models
ANSWER_TOKENS = 1_024  # room for an answer without a limit, at most a quarter of the context
LOADED_LOOKUPS = 3  # how often Ollama's loaded models are looked up


@dataclass(frozen=True)
class ContextSize:
    """The context size of a model.

    Attributes:
        tokens: The number of tokens that the context holds.
        source: Where this number was found.
    """

    tokens: int
    source: str

    def __str__(self) -> str:
        return f"{self.tokens:,} tokens that the model holds ({self.source})"


class ContextChecker:
    """Checks requests and answers against the context size of one endpoint's model.

    The size is looked up before the first request. If the look-up fails, requests are not checked
    against a looked-up size.

    Args:
        endpoint: The endpoint.
        http: The HTTP client for the look-up.
        own: The context size that the user set, which takes precedence; None if the user set none,
            0 to disable the checks.
    """

    def __init__(self, endpoint: Endpoint, http: httpx2.AsyncClient, own: int | None) -> None:
        self._endpoint = endpoint
        self._http = http
        self._own = own
        self._turn = asyncio.Lock()
        self._looked_up = own == 0
        self._loaded_left = 0  # remaining look-ups of Ollama's loaded models
        self._ollama = False
        self.server = ""  # who serves the model, as the list of models says: vllm, llamacpp, …
        self.size: ContextSize | None = None

    async def check(
        self, messages: Sequence[Message], extra: Mapping[str, Json], answer: int
    ) -> None:
        """Check that a request can fit into the context, before the request is sent.

        Args:
            messages: The prompt.
            extra: The other fields of the request, such as tools.
            answer: The maximum number of tokens of the answer; 0 if unknown.

        Raises:
            ContextExceeded: The request cannot fit.
        """
        size = estimate_tokens(messages, extra, answer)
        if self._own and size > self._own:
            raise ContextExceeded(
                f"{self._endpoint} was not asked: the request and an answer of {answer:,} tokens "
                f"are about {size:,} tokens, more than context_tokens {self._own:,}",
                size - answer,
                self._own - answer,
            )
        await self.is_looked_up()
        least = min_tokens(messages)
        if self._own is None and self.size is not None and least > self.size.tokens:
            raise ContextExceeded(
                f"{self._endpoint} was not asked: the request is at least {least:,} tokens, more "
                f"than the {self.size}",
                size - answer,
                room_for_prompt(self.size.tokens, answer),
            )

    async def is_looked_up(self) -> bool:
        """Return whether the list of models was read, or could not be read for good."""
        if not self._looked_up:
            async with self._turn:
                if not self._looked_up:
                    self._looked_up = await self._look_up()
        return self._looked_up

    async def check_answer(
        self, messages: Sequence[Message], usage: Usage, answer: int = 0
    ) -> None:
        """Check, after an answer, that the endpoint did not truncate the request.

        Args:
            messages: The prompt.
            usage: The token counts that the endpoint reported.
            answer: The maximum number of tokens of the answer; 0 if unknown.

        Raises:
            ContextExceeded: The request was truncated.
        """
        if self._own == 0:
            return
        if self.size is None and self._loaded_left:
            async with self._turn:
                if self._loaded_left and self.size is None:
                    await self._look_at_loaded()
        if self.size is not None and usage.tokens_in >= self.size.tokens:
            raise self._cut(
                f"{self._endpoint} cut the request without a word: it filled all of the {self.size}",
                messages, self.size.tokens, answer,
            )  # fmt: skip
        if self._own and usage.tokens_in >= self._own:
            raise self._cut(
                f"{self._endpoint} counted {usage.tokens_in:,} tokens in the request: it fills "
                f"context_tokens {self._own:,} or was cut to it",
                messages, self._own, answer,
            )  # fmt: skip
        counted, least = usage.tokens_in + usage.tokens_cached, min_tokens(messages)
        if usage.tokens_in > 0 and counted < least and self._may_exceed(messages):
            raise self._cut(
                f"{self._endpoint} cut the request without a word: it counted {counted:,} tokens "
                f"in one of at least {least:,} (context_tokens=0 ends this check)",
                messages, self._known_size() or counted, answer,
            )  # fmt: skip

    def _may_exceed(self, messages: Sequence[Message]) -> bool:
        known = self._known_size()
        return self._ollama if known is None else _characters(messages) > known

    def _known_size(self) -> int | None:
        """Return the smaller of the size that the user set and the size that was looked up."""
        sizes = [self._own, self.size.tokens if self.size else None]
        return min((size for size in sizes if size), default=None)

    def _cut(
        self, text: str, messages: Sequence[Message], size: int, answer: int
    ) -> ContextExceeded:
        return ContextExceeded(
            text, estimate_tokens(messages, {}, 0), room_for_prompt(size, answer)
        )

    async def _look_up(self) -> bool:
        """Look up the size. Return whether this is final; it is not where nothing listens yet."""
        import httpx2

        url = f"{self._endpoint.url}/models"
        try:
            told = await self._get(url)
        except httpx2.ConnectError:
            return False
        entry = _entry(told, "data", "id", self._endpoint.model)
        self.size = _size(entry, url)
        owner = entry.get("owned_by") if entry is not None else None
        self.server = owner if isinstance(owner, str) else ""
        if self.size is None and entry is not None and not self._endpoint.is_openai:
            self._ollama = entry.get("owned_by") == "library"
            self._loaded_left = LOADED_LOOKUPS
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
        """Return the JSON at a URL, or None for anything else. Raises httpx2.ConnectError."""
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
                    if len(body) > MAX_BODY_BYTES:
                        return None
            return json.loads(body) if response.status_code == 200 else None
        except httpx2.ConnectError:
            raise
        except (
            httpx2.HTTPError,
            httpx2.InvalidURL,
            TimeoutError,
            ValueError,
            RecursionError,
            Fault,
        ):
            return None


def room_for_prompt(context: int, answer: int) -> int:
    """Return the number of tokens that a prompt may have in a context.

    Args:
        context: The number of tokens that the context holds.
        answer: The maximum number of tokens of the answer; 0 if unknown.
    """
    return context - (answer or min(ANSWER_TOKENS, context // 4))


def min_tokens(messages: Sequence[Message]) -> int:
    """Return a lower bound of the number of tokens in the messages, for any tokenizer."""
    return _characters(messages) // MOST_CHARACTERS


def _characters(messages: Sequence[Message]) -> int:
    characters = 0
    for message in messages:
        characters += len(str(message.get("content") or ""))
        for call in message.get("tool_calls") or ():
            characters += len(str(call.get("function", {}).get("arguments", "")))
    return characters


def _entry(body: Json, under: str, name: str, model: str) -> Mapping[str, Json] | None:
    """Return the entry of this model in a list of models, or the only entry."""
    found = body.get(under) if isinstance(body, Mapping) else body
    entries = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
    for one in entries:
        if one.get(name) in (model, f"{model}:latest"):
            return one
    return entries[0] if len(entries) == 1 else None


def _size(entry: Mapping[str, Json] | None, source: str) -> ContextSize | None:
    if entry is None:
        return None
    meta = entry.get("meta")
    for place in (entry, meta if isinstance(meta, Mapping) else {}):
        for field in FIELDS:
            told = place.get(field)
            if isinstance(told, int) and not isinstance(told, bool) and told > 0:
                return ContextSize(told, f"{field} of {source}")
    return None
