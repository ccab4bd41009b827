"""A classifier of labelled text: the fine-tuned row of HypoBench's tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fitting import LabelledSet, fit
    from .settings import ClassifierSettings
    from .tokens import encoded

# Where each public name stands; imported when it is first used, so that this costs nothing.
_NAMES = {
    "LabelledSet": "fitting",
    "fit": "fitting",
    "ClassifierSettings": "settings",
    "encoded": "tokens",
}
__all__ = [
    "ClassifierSettings", "LabelledSet", "encoded", "fit",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
