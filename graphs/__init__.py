"""Methods as compiled LangGraph graphs, and the code that runs them.

A method is a `Method` of the registry (records/registry.py). methods/ has a file for each method.
runtime/ has the case of one problem, the nodes that all methods share, and the code that runs and
replays a session. bank/ has the nodes of methods that keep a bank of rewarded hypotheses.
inference/ has the strategies that predict labels from a bank.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..agents.prompts.protocol import Aim
from ..config import MethodSettings
from ..records import Json, Message, UsageError, registry
from ..records.settings import suggest_name
from .forecast import CallsByRole, Sizes, forecast_one_by_one, propose_from_rows

if TYPE_CHECKING:
    from .runtime.case import Case


@dataclass(frozen=True)
class Method:
    """A method: the LangGraph graph and the settings by which a session works on each problem.

    Args:
        name: value of `--method`.
        about: a description of the method in one line.
        families: the task families on which the method works; None for all.
        build: returns the compiled graph of the method. The graph takes `steps.START_STATE`, with a
            `case.Case` as context (`memory.make_case` makes one without a store).
        settings: the class of its settings, with their defaults.
        asks: whether it calls a model; False where recorded answers are read (imported).
        aim: what the prompts ask for after the first answer, such as "better".
        text: defaults of `config.TextSettings` that this method changes.
        reads: what the method reads in addition to the problem: "literature" (papers), "bank" (a
            stored bank), "judge" (a model that labels texts).
        optional: those entries of `reads` that the method can do without.
        forecast: counts the calls of each role for one problem (forecast.py); the default is for
            methods that ask for one answer at a time.
        first_prompt: returns the first prompt on labelled text for a case without a model, as far
            as it is known (without summaries of papers); empty where it proposes nothing.
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
    forecast: Callable[[Sizes], CallsByRole] = forecast_one_by_one
    first_prompt: Callable[[Case], Sequence[Message]] = propose_from_rows

    def supports(self, family: str) -> bool:
        """Return whether it works on tasks of this family."""
        return self.families is None or family in self.families

    @cached_property
    def graph(self) -> Any:
        """The compiled graph, built on first access.

        Importing LangGraph takes most of a second. Draw the graph with
        `METHOD.graph.get_graph().draw_mermaid()`.
        """
        return self.build()


def all_methods() -> Mapping[str, Method]:
    """Return every method by name."""
    return {method.name: method for method in registry.load_all("methods")}


def find_method(name: str, family: str) -> Method:
    """Return the method of this name, which must work on tasks of this family.

    Raises:
        UsageError: there is no such method for the family. The message lists the family's methods
            and names the nearest one.
    """
    if registry.is_registered("methods", name):
        found: Method = registry.load("methods", name)
        if found.supports(family):
            return found
        problem = f"does not work on {family} tasks"
    else:
        problem = "is not a method"
    valid = [one.name for one in all_methods().values() if one.supports(family)]
    near = get_close_matches(name, valid, 1)
    hint = f"; did you mean {near[0]}?" if near else ";"
    raise UsageError(f"{name!r} {problem}{hint} for {family} tasks: {', '.join(valid)}")


def get_method(name: str) -> Method:
    """Return the method of this name.

    Raises:
        UsageError: there is no such method.
    """
    if not registry.is_registered("methods", name):
        raise UsageError(
            f"{name!r} is not a method{suggest_name(name, registry.component_names('methods'))}"
        )
    found: Method = registry.load("methods", name)
    return found


def settings_of(name: str) -> type[MethodSettings]:
    """Return the class of a method's settings.

    Raises:
        UsageError: there is no such method.
    """
    return get_method(name).settings


def methods_taking(option: str) -> Sequence[str]:
    """Return the names of the methods that have an option."""
    return [
        one.name
        for one in all_methods().values()
        if any(name == option for name, _, _ in one.settings.iter_options())
    ]
