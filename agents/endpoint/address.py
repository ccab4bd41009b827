"""The URL and key of a chat endpoint, and a check that settings hold no secret.

A key belongs into the environment, and the key of one provider is never sent to another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...records import Json, Reply, UsageError
from ...secrecy import SECRET_NAME, check_recipient, find_secret
from .replies import redact_reply

if TYPE_CHECKING:
    from .settings import ChatSettings

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "none"  # Sent in place of a key, because some servers require the header.


@dataclass(frozen=True)
class Endpoint:
    """The address of requests; `key_env` is the variable that the key comes or should come from."""

    url: str
    model: str
    key: str
    key_env: str

    def __str__(self) -> str:
        return f"model {self.model!r} at {self.url}"

    @property
    def has_key(self) -> bool:
        """Return whether requests to the endpoint carry a real key instead of a placeholder."""
        return self.key != NO_KEY

    @property
    def is_openai(self) -> bool:
        """Return whether this is OpenAI or Azure OpenAI."""
        host = urlsplit(self.url).hostname or ""
        return host in ("api.openai.com",) or host.endswith(".openai.azure.com")

    def redact(self, text: str) -> str:
        """Return `text` with the key masked; an endpoint's error message may repeat it."""
        return text.replace(self.key, "***") if len(self.key) > 3 else text

    def redact_reply(self, reply: Reply) -> Reply:
        """Return the reply with the key masked, unless it is a short dummy key.

        A correct answer may contain a dummy key by chance.
        """
        return redact_reply(reply, self.key) if self.secrets() else reply

    def secrets(self) -> dict[str, str]:
        """Return the key by its variable, unless it is a short dummy key."""
        return {self.key_env: self.key} if len(self.key) >= 12 else {}


def resolve_endpoint(settings: ChatSettings) -> Endpoint:
    """Return the endpoint that a model string names. Raises UsageError, which repeats no secret."""
    spec = settings.model
    scheme, _, rest = spec.partition(":")
    if scheme == "openai":
        source, url, name = "OPENAI_BASE_URL", os.environ.get("OPENAI_BASE_URL") or OPENAI_URL, rest
        key_env = settings.api_key_env or "OPENAI_API_KEY"
    else:
        url, _, name = spec.partition("#")
        source, key_env = "the model string", settings.api_key_env or "PEIRCE_API_KEY"
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:  # The port is no number, or brackets do not close.
        wrong = True
    if wrong:
        raise UsageError(f"{source} is not a URL: write it like http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(  # The message omits the URL, which may hold a secret.
            f"{source} must be a URL without credentials: put the key into the environment"
            f" variable {key_env}"
        )
    if variable := find_secret(url, name):
        raise UsageError(  # The message omits the model string for the same reason.
            "the model string or its URL must not contain the value of the environment variable"
            f" {variable}, because it is recorded"
        )
    if not name:
        raise UsageError(f"model {spec!r} names no model: write openai:NAME or {url}#NAME")
    key = os.environ.get(key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"the key in {key_env} contains characters that an HTTP header cannot have: copy the"
            " key again"
        )
    if not key and (scheme == "openai" or settings.api_key_env):
        raise UsageError(
            f"model {spec!r} needs a key in the environment variable {key_env}, which is not set"
        )
    if key and scheme != "openai" and (why := check_recipient(url, key_env)):
        raise UsageError(why)
    return Endpoint(url.rstrip("/"), name, key or NO_KEY, key_env)


def check_secrets(arguments: Json, endpoint: Endpoint) -> None:
    """Raise UsageError if settings hold a secret, because sessions record settings."""
    if isinstance(arguments, Mapping):
        for key, value in arguments.items():
            if SECRET_NAME.search(str(key)):
                raise UsageError(
                    f"model_args must not contain {key!r}, because settings are recorded: put"
                    f" the key into the environment variable {endpoint.key_env}"
                )
            check_secrets(str(key), endpoint)
            check_secrets(value, endpoint)
    elif isinstance(arguments, list | tuple):
        for value in arguments:
            check_secrets(value, endpoint)
    elif isinstance(arguments, str):
        own = endpoint.key_env if endpoint.redact(arguments) != arguments else ""
        if variable := own or find_secret(arguments):
            raise UsageError(
                f"model_args must not contain the key of {variable}, because settings are recorded"
            )
