"""Train a model by DPO with a curriculum that changes how often each stage of pairs is drawn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .curriculum import MomentumSettings
    from .progress import ListLog, TrainingLog
    from .run import train
    from .settings import TrainConfig

# The module of each public name. A module is imported at first use, so importing this is cheap.
_NAMES = {
    "MomentumSettings": "curriculum",
    "ListLog": "progress",
    "TrainingLog": "progress",
    "train": "run",
    "TrainConfig": "settings",
}
__all__ = [
    "ListLog", "MomentumSettings", "TrainConfig", "TrainingLog", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
