"""Train better proposers (the models that propose hypotheses) from stored sessions.

The package builds preference pairs, trains models on preference pairs by DPO with a curriculum,
trains text classifiers, and pretrains small proposers from random weights. Its modules import torch
and related libraries only when they are needed.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base_models import find_base
    from .pair_table import PairTable, read_table, save_table
    from .splits import Fractions, Split, Splits
    from .stages import STAGES, Stage

# The module of each public name. A module is imported at first use, so importing this is cheap.
_NAMES = {
    "find_base": "base_models",
    "PairTable": "pair_table",
    "read_table": "pair_table",
    "save_table": "pair_table",
    "Fractions": "splits",
    "Split": "splits",
    "Splits": "splits",
    "STAGES": "stages",
    "Stage": "stages",
}
__all__ = [
    "STAGES",
    "Fractions",
    "PairTable",
    "Split",
    "Splits",
    "Stage",
    "find_base",
    "read_table",
    "save_table",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
