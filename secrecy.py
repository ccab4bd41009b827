"""Detect and mask secrets in text: keys in environment variables and credentials in URLs.

The command line masks everything it prints: errors, the output of `doctor`, and the log lines of
libraries (with OPENAI_LOG=debug, openai logs response headers, which may repeat the key).
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

SECRET_NAME = re.compile(
    r"api_?key|secret|passw|authorization|bearer|access_?token|headers|credential", re.I
)
SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.I)
LIKE_A_KEY = re.compile(r"\b(sk|hf|gsk|xai)[-_][\w-]{12,}")
HIDDEN = "***"
SHORTEST = 8  # Shorter values may be dummies or ordinary words.


def secrets() -> Iterator[tuple[str, str]]:
    """Yield (variable, value) for each environment variable that looks secret; paths are not."""
    for name, value in os.environ.items():
        secret = value.strip()
        if (
            len(secret) >= SHORTEST
            and not secret.startswith("/")
            and SECRET_VARIABLE.search(name)
            and not name.endswith("_ENV")
        ):
            yield name, secret


def secret_in(*texts: str) -> str:
    """Return the variable whose secret occurs in one of the texts; "" where none does."""
    return next((name for name, secret in secrets() if any(secret in text for text in texts)), "")


def scrubbed(text: str) -> str:
    """Return `text` with the values of secret environment variables masked."""
    for _, secret in secrets():
        text = text.replace(secret, HIDDEN)
    return text


def shown_value(key: str, value: Any) -> str:
    """Return a setting as `peirce doctor` prints it, with secrets masked."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if key.endswith("api_key_env") and re.fullmatch(r"[A-Z_][A-Z0-9_]*", text):
        return scrubbed(text)
    if SECRET_NAME.search(key) or SECRET_NAME.search(text):
        return HIDDEN
    text = LIKE_A_KEY.sub(HIDDEN, text)
    text = re.sub(r"(?<=://)[^/@\s\"]*@", f"{HIDDEN}@", text)
    return scrubbed(re.sub(r"\?[^#\s\"]*", f"?{HIDDEN}", text))


class ScrubbedRecord(logging.LogRecord):
    """A log record of any library with secrets masked; the command line installs it."""

    def getMessage(self) -> str:
        """Return the message with secrets masked."""
        return scrubbed(super().getMessage())


def unnamed_key_variables(held: Any) -> list[str]:
    """Return the variables that settings of a file want a key from and that nobody allowed.

    A store or a peirce.toml may come from somebody else, who could ask for any variable. Allowed
    are the two defaults and what PEIRCE_PROPOSER_API_KEY_ENV (or another role's) names.

    A value that may be a key itself is masked.

    Args:
        held: Settings: objects with a key `api_key_env`, and texts like "api_key_env=NAME".
    """
    allowed = {"OPENAI_API_KEY", "PEIRCE_API_KEY"} | {
        value for name, value in os.environ.items()
        if re.fullmatch(r"PEIRCE_[A-Z]+_API_KEY_ENV", name)
    }  # fmt: skip
    names = sorted(set(_key_variables(held)) - allowed)
    return [str(shown_value("api_key_env", name)) for name in names]


def _key_variables(held: Any) -> Iterator[str]:
    if isinstance(held, Mapping):
        for key, value in held.items():
            if str(key).strip().replace("-", "_") == "api_key_env" and value is not None:
                yield str(value)
            else:
                yield from _key_variables(value)
    elif isinstance(held, list | tuple):
        for value in held:
            yield from _key_variables(value)
    elif isinstance(held, str):
        key, _, value = held.partition("=")
        if key.strip().replace("-", "_") == "api_key_env":
            yield value.strip(' \t"')
