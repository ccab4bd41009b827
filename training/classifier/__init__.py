"""Fine-tune classifiers of labelled text, which HypoBench's tables list as fine-tuned models."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fitting import LabelledSet, fit
    from .settings import ClassifierSettings
    from .tokens import encode_rows

# The module of each public name. A module is imported at first use, so importing this is cheap.
_NAMES = {
    "LabelledSet": "fitting",
    "fit": "fitting",
    "ClassifierSettings": "settings",
    "encode_rows": "tokens",
}
__all__ = [
    "ClassifierSettings", "LabelledSet", "encode_rows", "fit",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
