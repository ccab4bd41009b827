"""Discovery scores: how well a bank of sentences recovers the rules that generated the labels.

A bank is the collection of sentences that a method has generated. The module `scores.py` computes
three discovery scores and the agreement between two raters.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .rule_cases import compile_truth as compile_truth
    from .scores import (
        DiscoveryScores as DiscoveryScores,
        ExactScores as ExactScores,
        score_exact as score_exact,
        score_as_defined as score_as_defined,
        score_as_released as score_as_released,
    )
    from .input_space import InputSpace as InputSpace
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "rule_cases": ("compile_truth",),
    "scores": (
        "DiscoveryScores",
        "ExactScores",
        "score_exact",
        "score_as_defined",
        "score_as_released",
    ),
    "input_space": ("InputSpace",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
