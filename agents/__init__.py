"""Open language models and other sources of answers from a model string.

The scheme (the word before the colon) of the model string selects the kind of model:

    search                       the built-in search, which is no language model
    cvc5                         the SyGuS solver of cvc5, no language model either
    pyoperon, gplearn            packages for symbolic regression, no language models either
    openai:NAME, ollama:NAME, …  a provider (records/providers.py); keys come from the environment
    http://host:port/v1#NAME     an endpoint at this URL (https too); several URLs of one model are
                                 divided by commas (agents/endpoint/replicas.py)
    hf:BASE, hf:BASE+ADAPTER     a model in this process: folders, or ids of the Hugging Face hub
    recorded:FILE                recorded answers
    scripted:FILE                answers from a JSON file

Each kind of model is a `ModelKind` in the registry (records/registry.py). Only the code of the
requested kind is imported.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..records import PROVIDERS, Json, Proposer, Unavailable, UsageError, registry

if TYPE_CHECKING:
    from .model_settings import ModelKind, ModelSettings

__all__ = ["EndpointRefused", "check_model", "open_model", "scheme_of", "schemes", "settings_of"]


class EndpointRefused(Unavailable):
    """Raised when an endpoint would fail for every problem, so that the session should stop.

    Either the endpoint refuses every request for the same reason (a wrong key, missing permissions
    or a wrong model name), or the endpoint has been unreachable for too long.
    """


def schemes() -> tuple[str, ...]:
    """Return the valid schemes of a model string. The scheme is the word before the colon."""
    return registry.component_names("models")


def scheme_of(spec: str) -> str:
    """Return the scheme of a model string, which is the word before the colon.

    Raises:
        UsageError: The scheme is unknown.
    """
    scheme = spec.partition(":")[0]
    if registry.is_registered("models", scheme):
        return scheme
    forms = {name: f"{name}:NAME" if name in PROVIDERS else _named(name).form for name in schemes()}
    provider, slash, name = spec.partition("/")
    lower = scheme.lower()
    near = [lower] if lower in forms else get_close_matches(lower, forms, n=2)
    hint = ""
    if slash and provider in PROVIDERS:
        hint = f" (did you mean {provider}:{name}?)"
    elif near:
        hint = f" (did you mean {' or '.join(forms[one] for one in near)}?)"
    elif scheme == spec:
        hint = f" (name its provider, for example openai:{spec} or ollama:{spec})"
    others = [form for one, form in forms.items() if one not in PROVIDERS]
    raise UsageError(
        f"unknown model {spec!r}{hint}: a model is one of {', '.join(others)} or PROVIDER:NAME, where"
        f" PROVIDER is {', '.join(PROVIDERS)}; any other OpenAI-compatible server is named by its"
        " URL, as in http://host:port/v1#NAME"
    )


def settings_of(spec: str) -> type[ModelSettings]:
    """Return the settings class for a model string or a scheme.

    Raises:
        UsageError: The scheme is unknown.
    """
    return _kind(spec).settings


async def open_model(spec: str, settings: Mapping[str, Json]) -> Proposer:
    """Open the model that a model string such as "openai:NAME" or "search" names.

    Args:
        spec: The model string.
        settings: Values of the model's settings, by name. A value of None counts as not set.

    Raises:
        UsageError: The scheme of the model string is unknown, or this kind of model has no such
            setting.
        DataError: A file cannot be read.
    """
    kind = _kind(spec)
    return await kind.open(kind.settings.from_options(spec, settings))


async def check_model(spec: str, settings: Mapping[str, Json]) -> None:
    """Raise the errors that `open_model` would raise, without loading a model or sending a
    request.
    """
    kind = _kind(spec)
    if kind.check is None:
        await (await open_model(spec, settings)).close()
    else:
        kind.check(kind.settings.from_options(spec, settings))


def _kind(spec: str) -> ModelKind:
    return _named(scheme_of(spec))


def _named(scheme: str) -> ModelKind:
    found: ModelKind = registry.load("models", scheme)
    return found
