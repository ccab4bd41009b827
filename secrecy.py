"""Detect and mask secrets in text: keys in environment variables and credentials in URLs.

The command line masks secrets in everything that it prints: errors, the output of `doctor`, and the
log lines of libraries. For example, openai logs response headers if OPENAI_LOG=debug is set, and a
response header may repeat the key.
"""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

SECRET_NAME = re.compile(
    r"api_?key|secret|passw|authorization|bearer|access_?token|headers|credential", re.I
)
SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.I)
KEY_PATTERN = re.compile(r"\b(sk|hf|gsk|xai)[-_][\w-]{12,}")
REDACTED = "***"
MIN_SECRET_LENGTH = 8  # Shorter values may be dummies or ordinary words.


def find_secrets() -> Iterator[tuple[str, str]]:
    """Yield (name, value) for each environment variable that seems to hold a secret.

    A variable counts as secret if its name contains a word such as KEY or TOKEN. Short values and
    absolute paths do not count as secrets.
    """
    for name, value in os.environ.items():
        secret = value.strip()
        if (
            len(secret) >= MIN_SECRET_LENGTH
            and not secret.startswith("/")
            and SECRET_VARIABLE.search(name)
            and not name.endswith("_ENV")
        ):
            yield name, secret


def find_secret(*texts: str) -> str:
    """Return the name of a secret environment variable whose value occurs in `texts`.

    The result is "" if no text contains a secret.
    """
    return next(
        (name for name, secret in find_secrets() if any(secret in text for text in texts)), ""
    )


def redact_secrets(text: str) -> str:
    """Return `text` with the values of secret environment variables masked."""
    for _, secret in find_secrets():
        text = text.replace(secret, REDACTED)
    return text


def redact_setting(key: str, value: Any) -> str:
    """Return the text of a setting as `peirce doctor` prints it, with secrets masked.

    Args:
        key: The name of the setting, which may itself mark the value as secret.
        value: The value of the setting: a text or a JSON value.
    """
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if key.endswith("api_key_env") and re.fullmatch(r"[A-Z_][A-Z0-9_]*", text):
        return redact_secrets(text)
    if SECRET_NAME.search(key) or SECRET_NAME.search(text):
        return REDACTED
    text = KEY_PATTERN.sub(REDACTED, text)
    text = re.sub(r"(?<=://)[^/@\s\"]*@", f"{REDACTED}@", text)
    return redact_secrets(re.sub(r"\?[^#\s\"]*", f"?{REDACTED}", text))


class RedactedLogRecord(logging.LogRecord):
    """A log record that masks secrets in its message.

    The command line installs this class for the log messages of all libraries.
    """

    def getMessage(self) -> str:
        """Return the message of this record with secrets masked."""
        return redact_secrets(super().getMessage())


# --- Addresses of models that a file chose: they may come from somebody who sent the file.

ADDRESS = re.compile(r"https?://[^\s\"'#,]+", re.I)
_REFUSED: dict[str, str] = {}  # by origin, the file of the working folder that alone names it
_REPORTED: dict[str, str] = {}  # by origin, the stored session that alone names it


def refuse_file_origins(held: Any, file: str, trusted: Iterable[str]) -> None:
    """Forbid sending keys to web addresses that only a settings file names.

    `check_recipient` then refuses these addresses. Each call replaces the addresses of earlier
    calls. An origin is the scheme, host and port of an address.

    Args:
        held: The content of the file.
        file: The name of the file, for error messages.
        trusted: Texts that the user wrote. An origin that occurs in a trusted text may get a key.
    """
    _REFUSED.clear()
    _REFUSED.update(dict.fromkeys(_origins(held) - _origins(list(trusted)), file))


def get_refused_origins() -> dict[str, str]:
    """Return the origins that `refuse_file_origins` forbids, each with the file that names it."""
    return dict(_REFUSED)


def set_refused_origins(refused: Mapping[str, str]) -> None:
    """Forbid in this process what `get_refused_origins` returned in the process that started it."""
    _REFUSED.clear()
    _REFUSED.update(refused)


def report_stored_origins(held: Any, session: str) -> None:
    """Make `check_recipient` warn when a key goes to an address that only a stored session names.

    An address that the user names in a PEIRCE_ environment variable causes no warning. Each call
    replaces the addresses of earlier calls.

    Args:
        held: The model settings of the session.
        session: The id of the session.
    """
    _REPORTED.clear()
    _REPORTED.update(dict.fromkeys(_origins(held) - _origins(_peirce_variables()), session))


def _peirce_variables() -> list[str]:
    return [value for name, value in os.environ.items() if name.startswith("PEIRCE_")]


def check_recipient(url: str, variable: str) -> str:
    """Return the reason why a key must not be sent to `url`, or "" if the key may be sent.

    If only a stored session names the address, this function also emits a warning.

    Args:
        url: The address of the request.
        variable: The name of the environment variable that holds the key.
    """
    origin = next(iter(_origins(url)), "")
    if file := _REFUSED.get(origin):
        return (
            f"{file} of the working folder chooses {origin}, which would get the key in {variable}: "
            f"repeat the address on the command line (--model), or name the file in PEIRCE_CONFIG"
        )
    if session := _REPORTED.pop(origin, ""):
        warnings.warn(
            f"the key in {variable} goes to {origin}, the address that session {session} recorded",
            stacklevel=2,
        )
    return ""


def _origins(held: Any) -> set[str]:
    """Return the origins (scheme, host and port) of the web addresses in texts, without loopback."""
    texts = held if isinstance(held, str) else json.dumps(held, default=str)
    found = set()
    for address in ADDRESS.findall(texts):
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError:  # no address that a model could be reached at
            continue
        if host not in ("localhost", "::1") and not re.fullmatch(r"127(\.\d{1,3}){3}", host):
            number = port or (443 if parts.scheme == "https" else 80)
            shown = f"[{host}]" if ":" in host else host
            found.add(f"{parts.scheme}://{shown}:{number}")
    return found


def unnamed_key_variables(held: Any) -> list[str]:
    """Return the environment variables from which settings would read a key without permission.

    Settings in a store or a peirce.toml may come from another person, who could name any variable.
    The permitted variables are OPENAI_API_KEY, PEIRCE_API_KEY, and each variable whose name is the
    value of PEIRCE_PROPOSER_API_KEY_ENV or of the corresponding variable of another role. If a
    setting holds a key instead of the name of a variable, the result masks the key.

    Args:
        held: Settings, nested in any way. The function looks for mappings with a key `api_key_env`
            and for texts like "api_key_env=NAME".
    """
    allowed = {"OPENAI_API_KEY", "PEIRCE_API_KEY"} | {
        value for name, value in os.environ.items()
        if re.fullmatch(r"PEIRCE_[A-Z]+_API_KEY_ENV", name)
    }  # fmt: skip
    names = sorted(set(_key_variables(held)) - allowed)
    return [str(redact_setting("api_key_env", name)) for name in names]


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
