"""DPO by a curriculum of stages: what is drawn and probed when, the trainer, what lies in its folder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .curriculum import MomentumSettings
    from .progress import ListLog, TrainingLog
    from .run import train
    from .settings import TrainConfig

# Where each public name stands; imported when it is first used, so that this costs nothing.
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
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
