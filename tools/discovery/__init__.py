"""Discovery scores: how well a bank of sentences recovers the rules that made the labels.

The package computes three scores (`scores.py`) and the agreement of raters.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .parts import compile_truth as compile_truth
    from .scores import (
        Discovery as Discovery,
        Exact as Exact,
        exact as exact,
        paper as paper,
        released as released,
    )
    from .space import Space as Space
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "parts": ("compile_truth",),
    "scores": ("Discovery", "Exact", "exact", "paper", "released"),
    "space": ("Space",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
