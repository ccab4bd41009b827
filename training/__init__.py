"""From stored sessions to a better proposer: preference pairs, DPO with its curriculum, classifiers,
small proposers from nothing. Modules import torch and its kin late."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bases import find_base
    from .pair_table import PairTable, read_table, save_table
    from .splits import Fractions, Split, Splits
    from .stages import STAGES, Stage

# Where each public name stands; imported when it is first used, so that this costs nothing.
_NAMES = {
    "find_base": "bases",
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
    if name in _NAMES:
        return getattr(import_module(f".{_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
