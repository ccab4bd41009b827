"""How a session goes: one LangGraph graph a method, compiled and importable.

A method is one file in this room that defines `METHOD`; nothing else lists it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..agents.prompts import Aim
from ..records import Json, UsageError

READS = ("literature", "bank", "judge")  # papers; a stored bank; a model that labels texts
# settings that not all methods take; "rounds" is one too, but on labelled text also means another
CHOSEN = ("max_answers", "feedback", "target_gap", "repair", "template")


@dataclass(frozen=True)
class Method:
    """graph: compiled, takes `steps.START_STATE` with a `case.Case` as context (`memory.case_of`
    makes one without a store), and draws itself: `METHOD.graph.get_graph().draw_mermaid()`. asks: its
    prompts come from agents/prompts.py; False where answers are only read back (imported). aim: what
    its prompts ask for after the first answer. takes: of `CHOSEN` and "rounds", those that may be set.
    settings: its own defaults of `case.Settings`, None for what it has no use for; of_family: those of
    one family that differ. Of labelled text: text: its own defaults of `text_settings.TextSettings`;
    reads: what it reads besides (`READS`); optional: of that, what it can do without."""

    name: str
    about: str
    families: tuple[str, ...]
    graph: Any
    asks: bool = True
    aim: Aim = "another"
    takes: frozenset[str] = frozenset({"max_answers", "feedback", "template"})
    settings: Mapping[str, Json] = field(default_factory=dict)
    of_family: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    text: Mapping[str, Json] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


def methods() -> Mapping[str, Method]:
    """Every method of the room by name. Imports langgraph."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        member = getattr(importlib.import_module(f"{__name__}.{module.name}"), "METHOD", None)
        if isinstance(member, Method):
            found[member.name] = member
    return dict(sorted(found.items()))


def method(name: str, family: str) -> Method:
    """Raises UsageError, which names the valid methods, for an unknown name or pair."""
    known = methods()
    valid = [m.name for m in known.values() if family in m.families]
    if name not in valid:
        problem = "is no method" if name not in known else f"is no method for {family} tasks"
        raise UsageError(f"{name!r} {problem}; for {family} tasks: {', '.join(valid)}")
    return known[name]
