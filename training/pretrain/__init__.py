"""Pretrain a small proposer from random weights.

A proposer is a model that proposes hypotheses. It has a standard decoder architecture and is
trained on problems from Peirce's own generators, with answers from Peirce's built-in program
search.
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
