"""How a session goes: one LangGraph graph a method, compiled and importable.

A method is one file in this room that defines `METHOD`; nothing else lists it. The file has the
method's name, with underscores for hyphens.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..agents.prompts import Aim
from ..config import MethodSettings
from ..records import Json, UsageError
from ..records.settings import nearest_name

READS = ("literature", "bank", "judge")  # papers; a stored bank; a model that labels texts


@dataclass(frozen=True)
class Method:
    """A way for a session to go.

    Args:
        name: as `--method` has it.
        about: one line for people.
        families: the families of tasks that it works on.
        build: makes its graph, compiled, which takes `steps.START_STATE` with a `case.Case` as
            context (`memory.case_of` makes one without a store).
        settings: what it can be set to, with its defaults.
        asks: whether its prompts come from agents/prompts.py; False where answers are only read
            back (imported).
        aim: what its prompts ask for after the first answer.
        text: its own defaults of `config.TextSettings`.
        reads: what it reads besides the problem (`READS`).
        optional: of that, what it can do without.
    """

    name: str
    about: str
    families: tuple[str, ...]
    build: Callable[[], Any]
    settings: type[MethodSettings] = MethodSettings
    asks: bool = True
    aim: Aim = "another"
    text: Mapping[str, Json] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    @cached_property
    def graph(self) -> Any:
        """The compiled graph. It draws itself: `METHOD.graph.get_graph().draw_mermaid()`. Made when
        first asked for, since LangGraph takes most of a second to import."""
        return self.build()


def methods() -> Mapping[str, Method]:
    """Every method of the room by name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        member = getattr(importlib.import_module(f"{__name__}.{module.name}"), "METHOD", None)
        if isinstance(member, Method):
            found[member.name] = member
    return dict(sorted(found.items()))


def method(name: str, family: str) -> Method:
    """Raises UsageError, which names the valid methods, for an unknown name or pair."""
    found = _named(name)
    if found is not None and family in found.families:
        return found
    problem = "is no method" if found is None else f"is no method for {family} tasks"
    valid = [one.name for one in methods().values() if family in one.families]
    raise UsageError(f"{name!r} {problem}; for {family} tasks: {', '.join(valid)}")


def _named(name: str) -> Method | None:
    """The method of a name; its file alone is imported."""
    module = name.replace("-", "_")
    if module not in {one.name for one in pkgutil.iter_modules(__path__)}:
        return None
    member = getattr(importlib.import_module(f"{__name__}.{module}"), "METHOD", None)
    return member if isinstance(member, Method) and member.name == name else None


def settings_of(name: str) -> type[MethodSettings]:
    """The settings of a method. Raises UsageError for a name that is none."""
    found = _named(name)
    if found is None:
        raise UsageError(f"{name!r} is no method{nearest_name(name, methods())}")
    return found.settings


def methods_taking(option: str) -> Sequence[str]:
    """The methods that take an option of methods, by name."""
    return [
        one.name
        for one in methods().values()
        if any(name == option for name, _, _ in one.settings.options())
    ]
