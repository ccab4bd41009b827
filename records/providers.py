"""The providers of language models that a model string can name, as in `anthropic:NAME`.

All providers support OpenAI's chat protocol. Names, URLs and environment variables follow the
documentation of each provider. To add a provider, add a row to `PROVIDERS`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Provider(NamedTuple):
    """The address, the key variables and the peculiarities of a provider of language models.

    Attributes:
        url: The base URL of the OpenAI-compatible endpoint.
        keys: Names of environment variables that may hold the key, in order of precedence.
        local: Whether the provider is a server on the user's machine, which needs no key.
        start_command: The command that starts the server on the user's machine; "" for other providers.
        url_variable: Name of the environment variable that overrides the URL; "" if there is none.
        read_url: Function that converts the value of `url_variable` to a base URL.
        ignored: Fields of a request that the provider silently ignores.
        max_temperature: The provider silently lowers a higher temperature to this value; None if
            there is no such limit.
    """

    url: str
    keys: tuple[str, ...] = ()
    local: bool = False
    start_command: str = ""
    url_variable: str = ""
    read_url: Callable[[str], str] = str
    ignored: tuple[str, ...] = ()
    max_temperature: float | None = None

    def base_url(self) -> tuple[str, str]:
        """Return (base URL, source of the URL).

        The source is the name of the environment variable that sets the URL, or "the provider" for
        the default URL.
        """
        value = os.environ.get(self.url_variable, "").strip() if self.url_variable else ""
        return (self.read_url(value), self.url_variable) if value else (self.url, "the provider")

    def key_variable(self) -> str:
        """Return the name of the environment variable that holds the key.

        If no variable is set, return the variable that the user should set. Return "" if the
        provider needs no key.
        """
        filled = (name for name in self.keys if os.environ.get(name, "").strip())
        return next(filled, self.keys[0] if self.keys else "")


def read_ollama_host(host: str) -> str:
    """Return the base URL that a value of the environment variable OLLAMA_HOST stands for.

    Ollama accepts HOST, HOST:PORT, :PORT or a URL. The host 0.0.0.0 means that a server listens at
    all addresses of its machine. A client cannot connect to 0.0.0.0, so this function replaces it
    with localhost.
    """
    scheme, mark, rest = host.strip("\"' ").partition("://")
    if not mark:
        scheme, rest = "http", scheme
    place, _, path = rest.partition("/")
    if not mark and not re.search(r":\d+$", place):
        place += ":11434"
    place = re.sub(r"^(0\.0\.0\.0|\[::\]|)(?=:|$)", "localhost", place)
    return f"{scheme}://{place}/{path}".rstrip("/").removesuffix("/v1") + "/v1"


_GEMINI = Provider(
    "https://generativelanguage.googleapis.com/v1beta/openai", ("GEMINI_API_KEY", "GOOGLE_API_KEY")
)
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        ignored=("seed", "response_format", "reasoning_effort"),
        max_temperature=1.0,
    ),
    "cerebras": Provider("https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",)),
    "deepseek": Provider("https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",)),
    "fireworks": Provider("https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    "gemini": _GEMINI,
    "google": _GEMINI,
    "groq": Provider("https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    "llamacpp": Provider(
        "http://localhost:8080/v1",
        ("LLAMA_API_KEY",),
        local=True,
        start_command="llama-server -m FILE",
    ),
    "lmstudio": Provider("http://localhost:1234/v1", local=True, start_command="lms server start"),
    "mistral": Provider("https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    "ollama": Provider(
        "http://localhost:11434/v1",
        local=True,
        start_command="ollama serve",
        url_variable="OLLAMA_HOST",
        read_url=read_ollama_host,
    ),
    "openai": Provider(
        "https://api.openai.com/v1", ("OPENAI_API_KEY",), url_variable="OPENAI_BASE_URL"
    ),
    "openrouter": Provider("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    "together": Provider("https://api.together.ai/v1", ("TOGETHER_API_KEY",)),
    "vllm": Provider(
        "http://localhost:8000/v1",
        ("VLLM_API_KEY",),
        local=True,
        start_command="vllm serve NAME",
    ),
    "xai": Provider("https://api.x.ai/v1", ("XAI_API_KEY",)),
}
