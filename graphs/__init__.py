"""The methods, which are compiled LangGraph graphs, and the code that runs them.

A method is a `Method` in the registry (records/registry.py). The package methods/ has one file for
each method. runtime/ has the nodes that all methods share, and the code that runs and replays a
session. bank/ has the nodes of methods that keep a bank of hypotheses with rewards. inference/ has
the strategies that predict labels from a bank.
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
    """A method: the LangGraph graph and the settings with which a session works on each problem.

    Args:
        name: The value of `--method`.
        about: A description of the method in one line.
        families: The task families on which the method works; None for all families.
        build: Function that returns the compiled graph of the method. The graph takes
            `steps.START_STATE` as input and a `case.Case` as context. `memory.make_case` makes a
            `Case` without a store.
        settings: The class of the method's settings, with their defaults.
        asks: Whether the method calls a model. False means that it reads recorded answers.
        aim: What prompts request after the first answer: "another" hypothesis or a "better" one.
        text: Defaults of `config.TextSettings` that this method changes.
        reads: What the method reads in addition to the problem: "literature" (papers), "bank" (a
            stored bank of hypotheses) and "judge" (a model that labels texts).
        optional: The items of `reads` that the method does not require.
        hands_over: Whether a second proposer (`--then`) may continue the problems that the first
            one did not solve, as in graphs that `build_loop` returns.
        takes_hints: Whether the method asks a proposer for hypotheses, so that its prompts can show
            the hints of a person.
        forecast: Function that counts the model calls for one problem, by role (forecast.py). The
            default fits methods that request one answer at a time.
        first_prompt: Function that returns the first prompt on labelled text, as far as it is known
            before any model is called; empty if the method requests no hypotheses.
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
    hands_over: bool = False
    takes_hints: bool = True
    forecast: Callable[[Sizes], CallsByRole] = forecast_one_by_one
    first_prompt: Callable[[Case], Sequence[Message]] = propose_from_rows

    def supports(self, family: str) -> bool:
        """Return whether this method works on tasks of a family."""
        return self.families is None or family in self.families

    @cached_property
    def graph(self) -> Any:
        """The compiled graph of this method, built on first access.

        The graph is built late because importing LangGraph takes most of a second. Draw the graph
        with `METHOD.graph.get_graph().draw_mermaid()`.
        """
        return self.build()


def all_methods() -> Mapping[str, Method]:
    """Return all methods, by name."""
    return {method.name: method for method in registry.load_all("methods")}


def find_method(name: str, family: str) -> Method:
    """Return the method with this name, after checking that it works on tasks of this family.

    Raises:
        UsageError: There is no such method for this family. The message lists the valid methods and
            suggests the most similar name.
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
    """Return the method with this name.

    Raises:
        UsageError: There is no such method.
    """
    if not registry.is_registered("methods", name):
        raise UsageError(
            f"{name!r} is not a method{suggest_name(name, registry.component_names('methods'))}"
        )
    found: Method = registry.load("methods", name)
    return found


def settings_of(name: str) -> type[MethodSettings]:
    """Return the settings class of the method with this name.

    Raises:
        UsageError: There is no such method.
    """
    return get_method(name).settings


def methods_taking(option: str) -> Sequence[str]:
    """Return the names of the methods that accept an option; empty if no method accepts the
    option.
    """
    return [
        one.name
        for one in all_methods().values()
        if any(name == option for name, _, _ in one.settings.iter_options())
    ]
