"""Methods as compiled LangGraph graphs, and what runs them.

A method is a `Method` of the registry (records/registry.py). runtime/ has the case of one problem, the
nodes that all methods share, and what runs and replays a session; methods/ has a file for each method;
bank/ the nodes of those that keep a rewarded bank; inference/ how a bank is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..agents.prompts.protocol import Aim
from ..config import MethodSettings
from ..records import Json, Message, UsageError, registry
from ..records.settings import nearest_name
from .forecast import Calls, Sizes, one_by_one, propose_from_rows

if TYPE_CHECKING:
    from .runtime.case import Case


@dataclass(frozen=True)
class Method:
    """A way for a session to go.

    Args:
        name: as `--method` has it.
        about: one line for people.
        families: the families of tasks that it works on; None for all.
        build: makes its graph, compiled, which takes `steps.START_STATE` with a `case.Case` as
            context (`memory.case_of` makes one without a store).
        settings: what it can be set to, with its defaults.
        asks: whether it asks a model; False where answers are only read back (imported).
        aim: what its prompts ask for after the first answer.
        text: its own defaults of `config.TextSettings`.
        reads: what it reads besides the problem: "literature" (papers), "bank" (a stored one), "judge" (a
            model that labels texts).
        optional: of that, what it can do without.
        forecast: how many calls of each role one problem takes (forecast.py); by default those of a method
            that asks for one answer after the other.
        first_prompt: on labelled text, what it asks first of a case without a model, as far as that is
            known (without summaries of papers); empty where it proposes nothing.
    """

    name: str
    about: str
    families: tuple[str, ...] | None
    build: Callable[[], Any]
    settings: type[MethodSettings] = MethodSettings
    asks: bool = True
    aim: Aim = "another"
    text: Mapping[str, Json] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    forecast: Callable[[Sizes], Calls] = one_by_one
    first_prompt: Callable[[Case], Sequence[Message]] = propose_from_rows

    def serves(self, family: str) -> bool:
        """Whether it works on tasks of this family."""
        return self.families is None or family in self.families

    @cached_property
    def graph(self) -> Any:
        """The compiled graph. It draws itself: `METHOD.graph.get_graph().draw_mermaid()`. Made when
        first asked for, since LangGraph takes most of a second to import."""
        return self.build()


def all_methods() -> Mapping[str, Method]:
    """Every method by name."""
    return {name: registry.load("methods", name) for name in registry.names("methods")}


def method(name: str, family: str) -> Method:
    """Raises UsageError, which names the methods of the family and the nearest one, for an unknown name
    or pair."""
    if registry.has("methods", name):
        found: Method = registry.load("methods", name)
        if found.serves(family):
            return found
        problem = f"is no method for {family} tasks"
    else:
        problem = "is no method"
    valid = [one.name for one in all_methods().values() if one.serves(family)]
    near = get_close_matches(name, valid, 1)
    hint = f"; did you mean {near[0]}?" if near else ";"
    raise UsageError(f"{name!r} {problem}{hint} for {family} tasks: {', '.join(valid)}")


def method_named(name: str) -> Method:
    """Raises UsageError for a name that is none."""
    if not registry.has("methods", name):
        raise UsageError(f"{name!r} is no method{nearest_name(name, registry.names('methods'))}")
    found: Method = registry.load("methods", name)
    return found


def settings_of(name: str) -> type[MethodSettings]:
    """The settings of a method. Raises UsageError for a name that is none."""
    return method_named(name).settings


def methods_taking(option: str) -> Sequence[str]:
    """The methods that take an option of methods, by name."""
    return [
        one.name
        for one in all_methods().values()
        if any(name == option for name, _, _ in one.settings.options())
    ]
