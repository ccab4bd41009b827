"""Who answers: one module or package of this room for each kind of model.

A kind of model is a module here that defines `SCHEMES` (a literal tuple of the words that may
stand before the colon of a model string), `SETTINGS` ("module:class" of this room, what it can be
set to) and `async def open_model(settings) -> Proposer`. `SCHEMES` is read from the source, so that
listing what there is imports none of it.

    search                       the embedded proposer
    openai:NAME                  an OpenAI-compatible endpoint named by the environment
    http://host:port/v1#NAME     one named here (https too)
    hf:BASE, hf:BASE+ADAPTER     in this process: folders, or ids of the Hugging Face hub
    recorded:FILE                answers that were given before
    scripted:FILE                answers from a JSON file
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from ..records import Json, PeirceError, Proposer, Unavailable, UsageError

if TYPE_CHECKING:
    from .model_settings import ModelSettings

__all__ = ["Refused", "check_model", "open_model", "scheme_of", "schemes", "settings_of"]

FORMS = {
    "hf": "hf:FOLDER_OR_ID",
    "http": "http://host:port/v1#NAME",
    "https": "https://host/v1#NAME",
    "openai": "openai:NAME",
    "recorded": "recorded:FILE",
    "scripted": "scripted:FILE",
}


class Refused(Unavailable):
    """An endpoint that refuses every request alike (key, rights or name are wrong), or that has not
    been there for long: a session need not try its other problems."""


@cache
def schemes() -> dict[str, str]:
    """Each scheme with the name of the module that opens it, sorted by scheme."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(__path__):
        for scheme in _declared(module.name):
            found[scheme] = module.name
    return dict(sorted(found.items()))


def scheme_of(spec: str) -> str:
    """The scheme of a model string. Raises UsageError where no module here has it."""
    scheme = spec.partition(":")[0]
    known = schemes()
    if scheme in known:
        return scheme
    valid = ", ".join(FORMS.get(name, name) for name in known)
    near = get_close_matches(scheme, known, n=1)
    hint = f" (did you mean {FORMS.get(near[0], near[0])}?)" if near else ""
    if not near and scheme == spec:
        hint = f" (at an endpoint it would be openai:{spec})"
    raise UsageError(f"unknown model {spec!r}{hint}: a model is one of {valid}")


def settings_of(spec: str) -> type[ModelSettings]:
    """What the kind of model that `spec` names can be set to; a scheme alone does too. Raises
    UsageError for an unknown one."""
    module, _, name = _kind(spec).SETTINGS.partition(":")
    found: type[ModelSettings] = getattr(importlib.import_module(f".{module}", __name__), name)
    return found


async def open_model(spec: str, settings: Mapping[str, Json]) -> Proposer:
    """The proposer that `spec` names. Settings that are None count as not given.

    Raises UsageError for an unknown scheme or a setting that this kind of model does not take,
    DataError for a file that cannot be read.
    """
    proposer: Proposer = await _kind(spec).open_model(settings_of(spec).of(spec, settings))
    return proposer


async def check_model(spec: str, settings: Mapping[str, Json]) -> None:
    """Raises what `open_model` would, as far as that is known without asking or loading anything.
    A kind of model that costs something to open has a `check_model(settings)` of its own."""
    own = getattr(_kind(spec), "check_model", None)
    if own is None:
        await (await open_model(spec, settings)).close()
    else:
        own(settings_of(spec).of(spec, settings))


def _kind(spec: str) -> Any:
    """The module that opens a model string."""
    return importlib.import_module(f".{schemes()[scheme_of(spec)]}", __name__)


def _declared(name: str) -> tuple[str, ...]:
    """The literal `SCHEMES` of a module of this room, read from its source."""
    spec = importlib.util.find_spec(f"{__name__}.{name}")
    source = spec.loader.get_source(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]
    for node in ast.parse(source or "").body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(t, ast.Name) and t.id == "SCHEMES" for t in targets):
            value = node.value  # type: ignore[attr-defined]
            try:
                return tuple(ast.literal_eval(value))
            except ValueError:
                raise PeirceError(f"SCHEMES of agents/{name} is no literal tuple") from None
    return ()
