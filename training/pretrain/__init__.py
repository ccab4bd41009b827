"""Pretrain a small proposer from random weights.

It is a decoder of a standard architecture, trained on problems from the project's own generators,
with answers from the embedded search.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .library import Library, Program
    from .settings import PretrainSettings, Shares

# The module of each public name. A module is imported at first use, so importing this is cheap.
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
    """Import a public name from its module on first use."""
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
