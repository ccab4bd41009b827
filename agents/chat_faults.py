"""What goes wrong with one request to a chat endpoint, and what asking again would help."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ..records import Json

if TYPE_CHECKING:
    from .endpoint import Endpoint


class Fault(Exception):
    """One request that gave no answer. again: whether asking again may help; refused: whether
    every other request will fail alike; asked_s: how long the endpoint asked to wait."""

    def __init__(
        self, text: str, *, again: bool, refused: bool = False, asked_s: float | None = None
    ) -> None:
        super().__init__(text)
        self.again = again
        self.refused = refused
        self.asked_s = asked_s


def status_fault(endpoint: Endpoint, error: Any) -> Fault:
    """What an answer with an error's status comes to. error: an openai.APIStatusError."""
    status: int = error.status_code
    try:
        said = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        said = str(status)
    if status == 401:
        return Fault(f"{said}; is the key in {endpoint.key_env} right?", again=False, refused=True)
    if status == 403:
        return Fault(
            f"{said}; has the key in {endpoint.key_env} the right to use it?",
            again=False,
            refused=True,
        )
    if status == 404:
        return Fault(f"{said}; are URL and model name right?", again=False, refused=True)
    if getattr(error, "code", None) == "insufficient_quota":
        return Fault(
            f"{said}: the quota of the key in {endpoint.key_env} is spent",
            again=False,
            refused=True,
        )
    if status in (408, 409, 425, 429) or status >= 500:
        return Fault(said, again=True, asked_s=retry_after_s(error.response.headers))
    detail = " ".join(error_detail(error.body).split())
    return Fault(f"{said}: {endpoint.scrubbed(detail)[:300]}".rstrip(": "), again=False)


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
        return error_detail(inner) if isinstance(inner, dict) else str(inner or "")
    return body if isinstance(body, str) else ""
