"""The URL and key of a chat endpoint, and a check that recorded settings contain no secret.

A key must come from an environment variable. The key of one provider is never sent to another
provider.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...records import PROVIDERS, Json, Reply, UsageError
from ...secrecy import ADDRESS, SECRET_NAME, check_recipient, find_secret
from .replies import redact_reply

if TYPE_CHECKING:
    from .settings import ChatSettings

OWN_VARIABLE = "NAME and set api_key_env to NAME"  # where a provider has no variable for its key
NO_KEY = "none"  # Sent in place of a key, because some servers require the header.


@dataclass(frozen=True)
class Endpoint:
    """The URL of a chat endpoint, with the model name and the key to use there.

    Attributes:
        url: The base URL.
        model: The name of the model at this endpoint.
        key: The key, or `NO_KEY`.
        key_env: The environment variable that holds the key, or that should hold it; "" if there is
            no such variable.
        start_command: The command that starts the server at the endpoint; "" if it is not known.
    """

    url: str
    model: str
    key: str
    key_env: str
    start_command: str = ""

    def __str__(self) -> str:
        return f"model {self.model!r} at {self.url}"

    @property
    def has_key(self) -> bool:
        """Return whether requests carry a real key instead of the placeholder `NO_KEY`."""
        return self.key != NO_KEY

    @property
    def is_openai(self) -> bool:
        """Return whether this endpoint belongs to OpenAI or Azure OpenAI."""
        host = urlsplit(self.url).hostname or ""
        return host in ("api.openai.com",) or host.endswith(".openai.azure.com")

    @property
    def takes_cache_key(self) -> bool:
        """Return whether requests with an equal `prompt_cache_key` reach the same prefix cache.

        OpenAI, Azure OpenAI and Mistral document the field.
        """
        return self.is_openai or urlsplit(self.url).hostname == "api.mistral.ai"

    def redact(self, text: str) -> str:
        """Return `text` with the key masked. An error message of the endpoint may contain the
        key.
        """
        return text.replace(self.key, "***") if len(self.key) > 3 else text

    def redact_reply(self, reply: Reply) -> Reply:
        """Return `reply` with the key masked.

        A short dummy key is not masked, because a correct answer may contain it by chance.
        """
        return redact_reply(reply, self.key) if self.secrets() else reply

    def secrets(self) -> dict[str, str]:
        """Return the key by the name of its environment variable; empty for a short dummy key."""
        return {self.key_env: self.key} if len(self.key) >= 12 else {}


def resolve_endpoint(settings: ChatSettings) -> Endpoint:
    """Return the endpoint that the model string in `settings` names.

    Raises:
        UsageError: The URL is invalid, or a key is missing or must not be sent to this URL. The
            message contains no secret.
    """
    spec = settings.model
    scheme, _, name = spec.partition(":")
    provider = PROVIDERS.get(scheme)
    if provider is not None:
        url, source = provider.base_url()
        form, key_env = f"{scheme}:NAME", settings.api_key_env or provider.key_variable()
    else:
        url, _, name = spec.partition("#")
        source, form = "the model string", f"{url}#NAME"
        key_env = settings.api_key_env or "PEIRCE_API_KEY"
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
            f" variable {key_env or OWN_VARIABLE}"
        )
    if variable := find_secret(url, name):
        raise UsageError(  # The message omits the model string for the same reason.
            "the model string or its URL must not contain the value of the environment variable"
            f" {variable}, because it is recorded"
        )
    if not name:
        raise UsageError(f"model {spec!r} names no model: write {form}")
    if provider is not None and ADDRESS.match(name):
        raise UsageError(  # The message omits the URL, which may hold a secret.
            f"{scheme}: must be followed by the name of a model, not by a URL: for a server at a"
            " URL, write http://host:port/v1#NAME"
        )
    if (
        provider is not None
        and (owner := _foreign_owner(key_env, scheme))
        and not (provider.url_variable and url != provider.url)
    ):
        raise UsageError(
            f"{key_env} holds the key of {owner}, which is not sent to {scheme}: put the key of"
            f" {scheme} into another variable"
        )
    key = os.environ.get(key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"the key in {key_env} contains characters that an HTTP header cannot have: copy the"
            " key again"
        )
    if not key and (settings.api_key_env or (provider is not None and not provider.local)):
        raise UsageError(
            f"model {spec!r} needs a key in the environment variable {key_env}, which is not set"
        )
    if key and provider is None and (why := check_recipient(url, key_env)):
        raise UsageError(why)
    start_command = provider.start_command if provider is not None else ""
    return Endpoint(url.rstrip("/"), name, key or NO_KEY, key_env, start_command)


def _foreign_owner(variable: str, name: str) -> str:
    """Return the provider whose key `variable` holds, "" for none or the provider `name`."""
    owners = [owner for owner, one in PROVIDERS.items() if variable in one.keys]
    return owners[0] if owners and name not in owners else ""


def ignored_fields(settings: ChatSettings) -> tuple[str, ...]:
    """Return the request fields that the model's provider silently ignores.

    Raises:
        UsageError: A setting would send an ignored field, or the temperature is above the maximum
            that the provider applies.
    """
    scheme = settings.model.partition(":")[0]
    if (provider := PROVIDERS.get(scheme)) is None:
        return ()
    wanted = {name: name for name in settings.model_args}
    wanted |= {"send_seed": "seed"} if settings.send_seed else {}
    wanted |= {"structured": "response_format"} if settings.structured == "always" else {}
    for name, field in wanted.items():
        if field in provider.ignored:
            raise UsageError(
                f"{name} has no effect on model {settings.model!r}, because {scheme} ignores"
                f" {field} in requests of this kind: leave it out"
            )
    most = provider.max_temperature
    if most is not None and settings.temperature is not None and settings.temperature > most:
        raise UsageError(
            f"temperature {settings.temperature:g} of model {settings.model!r} must be at most"
            f" {most:g}, the highest that {scheme} applies"
        )
    return provider.ignored


def check_secrets(arguments: Json, endpoint: Endpoint) -> None:
    """Check that settings contain no secret, because sessions record their settings.

    Args:
        arguments: The settings to check, a JSON value.
        endpoint: The endpoint, whose key must not occur in the settings.

    Raises:
        UsageError: The settings contain a secret.
    """
    if isinstance(arguments, Mapping):
        for key, value in arguments.items():
            if SECRET_NAME.search(str(key)):
                raise UsageError(
                    f"model_args must not contain {key!r}, because settings are recorded: put"
                    f" the key into the environment variable {endpoint.key_env or OWN_VARIABLE}"
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
