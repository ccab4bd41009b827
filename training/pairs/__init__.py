"""Build preference pairs from stored sessions: pool, compare, select, count and export."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .build_pairs import PairChoices, PairsResult
    from .dataset import export
    from .lengths import ModelText, OwnRendering, TokenLimit
    from .preferences import Caps, Pool, preference_pairs

# The module of each public name. A module is imported at first use, so importing this is cheap.
_NAMES = {
    "export": "dataset",
    "PairChoices": "build_pairs",
    "PairsResult": "build_pairs",
    "TokenLimit": "lengths",
    "ModelText": "lengths",
    "OwnRendering": "lengths",
    "Caps": "preferences",
    "Pool": "preferences",
    "preference_pairs": "preferences",
}
__all__ = [
    "Caps",
    "ModelText",
    "OwnRendering",
    "PairChoices",
    "PairsResult",
    "Pool",
    "TokenLimit",
    "export",
    "preference_pairs",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
