"""A small proposer from nothing: a decoder of a standard architecture, trained on problems of the
project's own generators with the answers of the embedded search."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .library import Library, Program
    from .settings import PretrainSettings, Shares

# Where each public name stands; imported when it is first used, so that this costs nothing.
_NAMES = {
    "Library": "library",
    "Program": "library",
    "PretrainSettings": "settings",
    "Shares": "settings",
}
__all__ = [
    "Library", "PretrainSettings", "Program", "Shares",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
