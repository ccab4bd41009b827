"""What goes wrong with one request to a chat endpoint, and what asking again would help.

Some parts of a request are optional: tools, response_format, stream_options, seed. An endpoint that
cannot take one says so in words of its own, with a status that means other things too; the words
that are known (of OpenAI, OpenRouter, vLLM, Ollama, llama.cpp, Groq, DeepSeek, Mistral, Gemini,
transformers) stand here as patterns. What no pattern fits is an error like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...records import Json

if TYPE_CHECKING:
    from .address import Endpoint

PASSING = (408, 409, 425, 429)
FOR_A_PART = (400, 404, 405, 422, 500, 501)  # llama.cpp says 500, OpenRouter 404
CANNOT = re.compile(
    r"(not|n't)( be| been)? (currently |yet )?"
    r"(support|enabl|allow|permit|availab|implement|accept)|unavailable|unsupported|no support"
    r"|requires? (the )?--|(unrecogni[sz]ed|unexpected|unknown) (request )?"
    r"(argument|field|param|propert|key)|no endpoints found|disabled|extra_forbidden",
    re.IGNORECASE,
)
PARTS = {  # in the order in which they are given up
    "stream_options": re.compile(r"stream.?options|include.?usage", re.IGNORECASE),
    "response_format": re.compile(
        r"response.?format|json.?(schema|mode|object)|structured.?output|guided|grammar|outlines",
        re.IGNORECASE,
    ),
    "tools": re.compile(r"\btools?\b|tool.?(choice|call|use)|function.?call", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
}
NAMED_OFTEN = ("tools", "seed")  # the complaint must also say that they cannot be had
KEEPS_ITS_MODEL = "A session keeps its model and URL: others need a new `peirce run`"
LOADING = re.compile(r"\bloading\b", re.IGNORECASE)  # llama.cpp, while it starts
ANSWER_FAILED = ("tool_use_failed", "json_validate_failed", "output_parse_failed")  # Groq
MODERATED = re.compile(r"moderat|flagged|content.?(policy|filter)", re.IGNORECASE)
CONTEXT = re.compile(r"context.{0,20}(length|size|window|shift|limit|tokens)", re.IGNORECASE)


class Fault(Exception):
    """One request that gave no answer. again: whether asking again may help; refused: whether
    every other request will fail alike; asked_s: how long the endpoint asked to wait; part: which
    optional part of the request it was that the endpoint cannot take; unreachable: no model is
    there, for this request as for any other; passing: refused, but gateways say so of one request
    too: an endpoint that has answered before is not judged by it."""

    def __init__(
        self,
        text: str,
        *,
        again: bool,
        refused: bool = False,
        asked_s: float | None = None,
        part: str = "",
        unreachable: bool = False,
        passing: bool = False,
    ) -> None:
        super().__init__(text)
        self.again = again
        self.refused = refused
        self.asked_s = asked_s
        self.part = part
        self.unreachable = unreachable
        self.passing = passing


class ErrorInBody(Exception):
    """An error in the body of an answer whose status is a good one, or in a stream."""

    def __init__(self, body: Json) -> None:
        super().__init__("an error in the body")
        self.body = body

    def fault(self, endpoint: Endpoint, sent: Collection[str]) -> Fault:
        error = self.body.get("error") if isinstance(self.body, dict) else None
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(code, int) and 400 <= code < 600:  # a gateway passes its backend's on
            return status_fault(endpoint, code, self.body, {}, sent)
        return Fault("the body of the answer holds an error", again=True)


def status_fault(
    endpoint: Endpoint,
    status: int,
    body: Json,
    headers: Mapping[str, str],
    sent: Collection[str] = (),
) -> Fault:
    """What an error comes to. sent: the optional parts that the request had."""
    try:
        said = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        said = str(status)
    detail = endpoint.scrubbed(" ".join(error_detail(body).split()))[:300]
    code, key = _code(body), endpoint.key_env
    told = f"{said}: {detail}".rstrip(": ")
    if status == 401:
        doubt = f"is the key in {key} right?" if endpoint.keyed else f"it wants a key: set {key}"
        return Fault(f"{said}; {doubt}", again=False, refused=True)
    if status == 403 and MODERATED.search(detail):  # of this request, not of the key
        return Fault(told, again=False)
    if status == 403:
        doubt = f"{said}; has the key in {key} the right to use it?"
        return Fault(doubt, again=False, refused=True, passing=True)
    if status == 402 or code == "insufficient_quota":
        return Fault(f"{said}: the quota of the key in {key} is spent", again=False, refused=True)
    if status == 413 or (status not in PASSING and status <= 500 and CONTEXT.search(detail)):
        return Fault(told, again=False)
    if code in ANSWER_FAILED:
        return Fault(told, again=True)
    if status in FOR_A_PART and (part := refused_part(detail, sent)):
        return Fault(told, again=False, part=part)
    if status == 404:
        bare = "" if urlsplit(endpoint.url).path else " Most URLs end in /v1."
        doubt = f"{told.rstrip('.')}; are URL and model name right?{bare} {KEEPS_ITS_MODEL}"
        return Fault(doubt, again=False, refused=True, passing=True)
    if status == 503 and LOADING.search(detail):
        return Fault(told, again=True, unreachable=True)
    if status in PASSING or status >= 500:
        return Fault(said, again=True, asked_s=retry_after_s(headers))
    return Fault(told, again=False)


def refused_part(detail: str, sent: Collection[str]) -> str:
    """The part, of those in `sent`, that the words of an error are about; "" for none."""
    for part, speaks in PARTS.items():
        clear = part not in NAMED_OFTEN or CANNOT.search(detail)
        if part in sent and clear and speaks.search(detail):
            return part
    return ""


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that an endpoint asks to wait: `retry-after-ms`, or `retry-after` as seconds or as
    a date; None where it does not say."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) * unit_s)
        except ValueError:
            pass
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            continue
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    return None


def error_detail(body: Json) -> str:
    """What an error's body says in words, where it does."""
    if isinstance(body, dict):
        inner = body.get("message") or body.get("detail") or body.get("error")
        if isinstance(inner, dict | list):
            return error_detail(inner)
        return str(inner or body.get("msg") or "")
    if isinstance(body, list):  # what pydantic says of a request that does not fit
        return "; ".join(_misfit(one) for one in body[:5])
    return body if isinstance(body, str) else ""


def _misfit(one: Json) -> str:
    if not isinstance(one, dict) or "loc" not in one:
        return error_detail(one)
    place = one["loc"] if isinstance(one["loc"], list) else [one["loc"]]
    return f"{'.'.join(map(str, place))}: {one.get('msg', '')} {one.get('type', '')}"


def _code(body: Json) -> str:
    """The code of an error, which stands in `error` or, as the openai client gives it, at the top."""
    if not isinstance(body, dict):
        return ""
    inner = body.get("error")
    code = (inner if isinstance(inner, dict) else body).get("code")
    return code if isinstance(code, str) else ""
