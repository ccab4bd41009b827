"""Tools that execute and score hypotheses.

The work is done by ordinary Python functions. The LangChain tools only wrap these functions.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from importlib import import_module
from typing import TYPE_CHECKING, Any

# isort: off
if TYPE_CHECKING:
    from .gear.scores import (
        beta_bounds as beta_bounds,
        scatter_point as scatter_point,
        encode_undefined as encode_undefined,
    )
    from .label_scores import accuracy as accuracy, macro_f1 as macro_f1
    from .line_process import ProcessDied as ProcessDied
    from .gear.novelty import (
        Coverage as Coverage,
        coverage as coverage,
        coverages as coverages,
        is_redundant as is_redundant,
    )
    from .gear.studies import draw_contexts as draw_contexts, draw_hidden_sets as draw_hidden_sets
# isort: on

# The public names of each module. A module is imported when one of its names is first used.
_NAMES = {
    "gear.novelty": ("Coverage", "coverage", "coverages", "is_redundant"),
    "gear.scores": ("beta_bounds", "scatter_point", "encode_undefined"),
    "gear.studies": ("draw_contexts", "draw_hidden_sets"),
    "label_scores": ("accuracy", "macro_f1"),
    "line_process": ("ProcessDied",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
