"""The models that answer, by the word before the colon of a model string.

    search                       the embedded proposer
    openai:NAME                  an OpenAI-compatible endpoint named by the environment
    http://host:port/v1#NAME     one named here (https too)
    hf:BASE, hf:BASE+ADAPTER     in this process: folders, or ids of the Hugging Face hub
    recorded:FILE                answers that were given before
    scripted:FILE                answers from a JSON file

Each is a `ModelKind` of the registry (records/registry.py); only the one that is asked for is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..records import Json, Proposer, Unavailable, UsageError, registry

if TYPE_CHECKING:
    from .model_settings import ModelKind, ModelSettings

__all__ = ["Refused", "check_model", "open_model", "scheme_of", "schemes", "settings_of"]


class Refused(Unavailable):
    """An endpoint that refuses every request alike (key, rights or name are wrong), or that has not
    been there for long: a session need not try its other problems."""


def schemes() -> tuple[str, ...]:
    """What may stand before the colon of a model string."""
    return registry.names("models")


def scheme_of(spec: str) -> str:
    """The scheme of a model string. Raises UsageError where no kind of model has it."""
    scheme = spec.partition(":")[0]
    if registry.has("models", scheme):
        return scheme
    forms = {name: _named(name).form for name in schemes()}
    near = get_close_matches(scheme, forms, n=1)
    hint = f" (did you mean {forms[near[0]]}?)" if near else ""
    if not near and scheme == spec:
        hint = f" (at an endpoint it would be openai:{spec})"
    raise UsageError(f"unknown model {spec!r}{hint}: a model is one of {', '.join(forms.values())}")


def settings_of(spec: str) -> type[ModelSettings]:
    """What the kind of model that `spec` names can be set to; a scheme alone does too. Raises
    UsageError for an unknown one."""
    return _kind(spec).settings


async def open_model(spec: str, settings: Mapping[str, Json]) -> Proposer:
    """The proposer that `spec` names. Settings that are None count as not given.

    Raises UsageError for an unknown scheme or a setting that this kind of model does not take,
    DataError for a file that cannot be read.
    """
    kind = _kind(spec)
    return await kind.open(kind.settings.of(spec, settings))


async def check_model(spec: str, settings: Mapping[str, Json]) -> None:
    """Raises what `open_model` would, as far as that is known without asking or loading anything."""
    kind = _kind(spec)
    if kind.check is None:
        await (await open_model(spec, settings)).close()
    else:
        kind.check(kind.settings.of(spec, settings))


def _kind(spec: str) -> ModelKind:
    return _named(scheme_of(spec))


def _named(scheme: str) -> ModelKind:
    found: ModelKind = registry.load("models", scheme)
    return found
