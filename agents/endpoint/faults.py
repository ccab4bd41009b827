"""Faults of single requests to a chat endpoint, and whether a retry can help.

Some parts of a request are optional: tools, the strict schemas of tools, response_format (the JSON
schema of the answer, by whatever means), stream_options, seed and prompt_cache_key. An endpoint
that does not support an optional part reports this in its own words, with a status that also has
other meanings. This module contains patterns for the known messages of OpenAI, OpenRouter, vLLM,
Ollama, llama.cpp, Groq, DeepSeek, Mistral, Gemini and transformers. An error that matches no
pattern is treated as an ordinary error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...records import Json, Usage

if TYPE_CHECKING:
    from .address import Endpoint

RETRY_STATUSES = (408, 409, 425, 429)
PART_STATUSES = (400, 404, 405, 422, 500, 501)  # llama.cpp sends 500, OpenRouter 404.
UNSUPPORTED = re.compile(
    r"(not|n't)( be| been)? (currently |yet )?"
    r"(support|enabl|allow|permit|availab|implement|accept)|unavailable|unsupported|no support"
    r"|requires? (the )?--|(unrecogni[sz]ed|unexpected|unknown) (request )?"
    r"(argument|field|param|propert|key)|no endpoints found|disabled|extra_forbidden",
    re.IGNORECASE,
)
PARTS = {  # in the order in which they are dropped
    "stream_options": re.compile(r"stream.?options|include.?usage", re.IGNORECASE),
    "response_format": re.compile(
        r"response.?format|json.?(schema|mode|object)|structured.?output|guided|grammar|outlines",
        re.IGNORECASE,
    ),
    "strict": re.compile(r"\bstrict\b|additional_?properties", re.IGNORECASE),
    "tools": re.compile(r"\btools?\b|tool.?(choice|call|use)|function.?call", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "prompt_cache_key": re.compile(r"prompt.?cache.?key", re.IGNORECASE),
}
AMBIGUOUS_PARTS = ("tools", "seed")  # The message must also say that the endpoint lacks them.
KEEPS_ITS_MODEL = "A session keeps its model and URL: others need a new `peirce run`"
LOADING = re.compile(r"\bloading\b", re.IGNORECASE)  # llama.cpp sends this while it starts.
ANSWER_FAILED = ("tool_use_failed", "json_validate_failed", "output_parse_failed")  # Groq
MODERATED = re.compile(r"moderat|flagged|content.?(policy|filter)", re.IGNORECASE)
CONTEXT_TOKENS = re.compile(r"context\D{0,40}?(\d{3,8})\b", re.IGNORECASE)
COUNTS = re.compile(r"\b\d{3,8}\b")
CONTEXT = re.compile(r"context.{0,20}(length|size|window|shift|limit|tokens)", re.IGNORECASE)


class Fault(Exception):
    """Raised when a request to an endpoint gave no usable answer. The attributes describe the
    cause.

    Attributes:
        retryable: Whether a retry may help.
        refused: Whether every other request would fail in the same way.
        wait_s: How long the endpoint asked to wait, in seconds; None if it did not ask.
        part: The optional part of the request that the endpoint does not support; "" if there is
            none.
        unreachable: Whether no server or model is running at the address.
        may_be_temporary: Whether the status, such as 403, may concern only this request. Some
            gateways send such a status for single requests. If the endpoint has answered before, a
            single fault of this kind does not stop the session.
        too_long: Whether the prompt is longer than the model's context.
        context_tokens: The number of tokens that the context holds; None if the endpoint does not
            say. Only if `too_long`.
        prompt_tokens: The largest count in the message of the endpoint, which usually is that of
            the prompt; 0 if there is none. Only if `too_long`.
        usage: The tokens that the endpoint reported for this request. These tokens must be paid.
    """

    usage = Usage()
    too_long = False
    context_tokens: int | None = None
    prompt_tokens = 0

    def __init__(
        self,
        text: str,
        *,
        retryable: bool,
        refused: bool = False,
        wait_s: float | None = None,
        part: str = "",
        unreachable: bool = False,
        may_be_temporary: bool = False,
    ) -> None:
        super().__init__(text)
        self.retryable = retryable
        self.refused = refused
        self.wait_s = wait_s
        self.part = part
        self.unreachable = unreachable
        self.may_be_temporary = may_be_temporary

    def copy(self) -> Fault:
        """Return an equal fault, for another request that met it."""
        made = Fault(str(self), retryable=self.retryable)
        made.__dict__.update(self.__dict__)
        return made


class ErrorInBody(Exception):
    """Raised for an error inside a stream, or inside a response whose status reports success."""

    def __init__(self, body: Json) -> None:
        super().__init__("an error in the body")
        self.body = body

    def make_fault(self, endpoint: Endpoint, sent: Collection[str]) -> Fault:
        """Return the Fault that corresponds to this error.

        Args:
            endpoint: The endpoint that sent the error.
            sent: The optional parts that the request contained.
        """
        error = self.body.get("error") if isinstance(self.body, dict) else None
        code = error.get("code") if isinstance(error, dict) else None
        # A gateway passes on the status of its backend.
        if isinstance(code, int) and 400 <= code < 600:
            return fault_from_status(endpoint, code, self.body, {}, sent)
        return Fault("the body of the answer holds an error", retryable=True)


def fault_from_status(
    endpoint: Endpoint,
    status: int,
    body: Json,
    headers: Mapping[str, str],
    sent: Collection[str] = (),
) -> Fault:
    """Return the Fault for a response with an error status.

    Args:
        endpoint: The endpoint that sent the response.
        status: The HTTP status.
        body: The body of the response, as JSON.
        headers: The headers of the response.
        sent: The optional parts that the request contained.
    """
    try:
        said = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        said = str(status)
    detail = endpoint.redact(" ".join(error_detail(body).split()))[:300]
    code, key = _code(body), endpoint.key_env
    told = f"{said}: {detail}".rstrip(": ")
    if status == 401:
        setting = f"set {key}" if key else "name its variable with --model-arg api_key_env=NAME"
        doubt = f"is the key in {key} right?" if endpoint.has_key else f"it wants a key: {setting}"
        return Fault(f"{said}; {doubt}", retryable=False, refused=True)
    if status == 403 and MODERATED.search(detail):  # This concerns the request, not the key.
        return Fault(told, retryable=False)
    if status == 403:
        doubt = f"has the key in {key} the right to use it?" if key else "does it want a key?"
        return Fault(f"{said}; {doubt}", retryable=False, refused=True, may_be_temporary=True)
    if status == 402 or code == "insufficient_quota":
        return Fault(
            f"{said}: the quota of the key in {key} is spent", retryable=False, refused=True
        )
    if status == 413 or (status not in RETRY_STATUSES and status <= 500 and CONTEXT.search(detail)):
        fault = Fault(told, retryable=False)
        fault.too_long, size = True, CONTEXT_TOKENS.search(detail.replace(",", ""))
        fault.context_tokens = None if size is None else int(size[1])
        fault.prompt_tokens = max(map(int, COUNTS.findall(detail.replace(",", ""))), default=0)
        return fault
    if code in ANSWER_FAILED:
        return Fault(told, retryable=True)
    if status in PART_STATUSES and (part := refused_part(detail, sent)):
        return Fault(told, retryable=False, part=part)
    if status == 404:
        bare = "" if urlsplit(endpoint.url).path else " Most URLs end in /v1."
        doubt = f"{told.rstrip('.')}; are URL and model name right?{bare} {KEEPS_ITS_MODEL}"
        return Fault(doubt, retryable=False, refused=True, may_be_temporary=True)
    if status == 503 and LOADING.search(detail):
        return Fault(told, retryable=True, unreachable=True)
    if status in RETRY_STATUSES or status >= 500:
        return Fault(said, retryable=True, wait_s=retry_after_s(headers))
    return Fault(told, retryable=False)


def refused_part(detail: str, sent: Collection[str]) -> str:
    """Return the optional part of a request that an error message rejects, or "" if there is none.

    Args:
        detail: The error message.
        sent: The optional parts that the request contained.
    """
    for part, speaks in PARTS.items():
        clear = part not in AMBIGUOUS_PARTS or UNSUPPORTED.search(detail)
        if part in sent and clear and speaks.search(detail):
            return part
    return ""


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait, or None if it does not ask.

    The function reads the header `retry-after-ms`, or `retry-after` in seconds or as a date.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit_s
        except ValueError:
            seconds = _seconds_until(value)
        if not math.isnan(seconds):
            return max(0.0, seconds)
    return None


def _seconds_until(date: str) -> float:
    """Return the seconds until the date of a header; NaN where it is no date or out of range."""
    try:
        until = parsedate_to_datetime(date)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return (until - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return math.nan


def error_detail(body: Json, levels: int = 8) -> str:
    """Return the message in the body of an error response, or "" if there is none.

    Args:
        body: The body of the response, as JSON.
        levels: How many levels of nesting to search.
    """
    if isinstance(body, dict) and levels:
        inner = body.get("message") or body.get("detail") or body.get("error")
        if isinstance(inner, dict | list):
            return error_detail(inner, levels - 1)
        return str(inner) if inner else _word(body.get("msg"))
    if isinstance(body, list) and levels:  # pydantic's list of invalid fields
        return "; ".join(_misfit(one, levels - 1) for one in body[:5])
    return body if isinstance(body, str) else ""


def _misfit(one: Json, levels: int) -> str:
    if not isinstance(one, dict) or "loc" not in one:
        return error_detail(one, levels)
    place = one["loc"] if isinstance(one["loc"], list) else [one["loc"]]
    return f"{'.'.join(map(_word, place[:8]))}: {_word(one.get('msg'))} {_word(one.get('type'))}"


def _word(value: Json) -> str:
    """Return a text or a number as text; "" for anything else, which may be nested deeply."""
    return str(value) if isinstance(value, str | int) else ""


def _code(body: Json) -> str:
    """Return the code of an error.

    It is in `error`, or at the top level in the form that the openai client passes on.
    """
    if not isinstance(body, dict):
        return ""
    inner = body.get("error")
    code = (inner if isinstance(inner, dict) else body).get("code")
    return code if isinstance(code, str) else ""
