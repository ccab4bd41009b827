"""The registry of components that can be found by name: tasks, methods, models and others.

Each kind of component has built-in names, each of which maps to "module:object". Installed packages
add names through Python entry points in the group `peirce.KIND`, such as `peirce.tasks`. The module
of a component is imported only when the component is loaded; listing names imports nothing.

| kind | object |
|---|---|
| tasks | a `records.Task` |
| families | a `records.Family` |
| methods | a `graphs.Method` |
| sandboxes | `async open_backend(workers, strict) -> records.Sandbox` |
| metrics | a `reports.metrics.evaluation.Evaluation` |
| report_sections | a `reports.metrics.sections.ReportSection`, by the name of its evaluation |
| models | an `agents.ModelKind`, by the word before the colon of a model string |
| protocols | a `config.RunProtocol` |
| search_engines | a `search.engines.SearchEngine`, tried in this order, other packages' last |
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

from .errors import UsageError
from .providers import PROVIDERS

Kind: TypeAlias = Literal[
    "tasks",
    "families",
    "methods",
    "sandboxes",
    "metrics",
    "report_sections",
    "models",
    "protocols",
    "search_engines",
]

BUILT_IN: Mapping[Kind, Mapping[str, str]] = {
    "tasks": {
        "abd": "tasks.logic.abd:TASK",
        "acre": "tasks.programs.acre:TASK",
        "arc": "tasks.programs.grids:ARC",
        "examples": "tasks.custom.examples:TASK",
        "labels": "tasks.text.labels:TASK",
        "laws": "tasks.laws.laws:TASK",
        "list_functions": "tasks.programs.list_functions:TASK",
        "mini_arc": "tasks.programs.grids:MINI_ARC",
    },
    "families": {
        "laws": "tasks.laws.family:FAMILY",
        "logic": "tasks.logic.family:FAMILY",
        "programs": "tasks.programs.family:FAMILY",
        "text": "tasks.text.family:FAMILY",
    },
    "methods": {
        "abduce": "graphs.methods.abduce:METHOD",
        "direct": "graphs.methods.direct:METHOD",
        "hypogenic": "graphs.methods.hypogenic:METHOD",
        "hyporefine": "graphs.methods.hyporefine:METHOD",
        "imported": "graphs.methods.imported:METHOD",
        "infer": "graphs.methods.infer:METHOD",
        "io": "graphs.methods.io:METHOD",
        "literature": "graphs.methods.literature:METHOD",
        "refine": "graphs.methods.refine:METHOD",
        "t3": "graphs.methods.t3:METHOD",
        "union": "graphs.methods.union:METHOD",
        "zero-shot-gen": "graphs.methods.zero_shot_gen:METHOD",
    },
    "metrics": {
        "abd": "reports.papers.abd.metrics:EVALUATION",
        "gear": "reports.papers.gear.metrics:EVALUATION",
        "hypobench": "reports.papers.hypobench.metrics:EVALUATION",
        "t3": "reports.papers.t3.metrics:EVALUATION",
    },
    "report_sections": {
        "abd": "commands.score.sections:ABD",
        "gear": "reports.papers.sections:GEAR",
        "hypobench": "commands.score.sections:HYPOBENCH",
        "t3": "reports.papers.sections:T3",
    },
    "models": {
        "cvc5": "agents.cvc5:CVC5",
        "gplearn": "agents.regression:GPLEARN",
        "hf": "agents.local:HF",
        "http": "agents.endpoint:HTTP",
        "https": "agents.endpoint:HTTPS",
        **dict.fromkeys(PROVIDERS, "agents.endpoint:PROVIDER"),
        "pyoperon": "agents.regression:PYOPERON",
        "recorded": "agents.recorded:RECORDED",
        "scripted": "agents.scripted:SCRIPTED",
        "search": "agents.search_model:SEARCH",
    },
    "protocols": {
        "abd": "config.protocols:ABD",
        "gear": "config.protocols:GEAR",
        "hypogenic": "config.protocols:HYPOGENIC",
    },
    "search_engines": {  # in the order in which they are asked whether they support a problem
        "lists": "search.lists.engine:ENGINE",
        "acre": "search.acre.engine:ENGINE",
        "grids": "search.grids.engine:ENGINE",
        "logic": "search.logic.engine:ENGINE",
        "text": "search.text.engine:ENGINE",
        "laws": "search.laws.engine:ENGINE",
        "examples": "search.examples.engine:ENGINE",  # takes all other pairs
    },
    "sandboxes": {
        "docker": "sandbox.backends.docker:open_backend",
        "process": "sandbox.backends.process:open_backend",
    },
}
PACKAGE = __name__.partition(".")[0]
# What the object of a kind has at least; a sandbox is a function.
ATTRIBUTES: Mapping[Kind, tuple[str, ...]] = {
    "tasks": ("name", "family", "load", "generate"),
    "families": ("name", "words", "answer_formats", "parse", "predict"),
    "methods": ("name", "build", "settings", "families"),
    "metrics": ("name", "metrics", "problem_metrics"),
    "report_sections": ("name", "build_output", "show"),
    "sandboxes": ("__call__",),
    "models": ("settings", "open"),
    "protocols": ("name", "about", "families", "options"),
    "search_engines": ("name", "supports", "prepare_space", "create_problem"),
}


class Component(NamedTuple):
    """The location of a component.

    Attributes:
        module: The name of the module that defines the component.
        object: The name of the object in the module.
        package: The name and version of the installed package that provides the component; "" if
            the component is built in.
    """

    module: str
    object: str
    package: str = ""


@cache
def components(kind: Kind) -> Mapping[str, Component]:
    """Return the components of a kind by name, built-in components first.

    Raises:
        UsageError: An installed package adds a name that already exists.
    """
    found = {
        name: Component(f"{PACKAGE}.{module}", attribute)
        for name, (module, _, attribute) in (
            (name, where.partition(":")) for name, where in BUILT_IN.get(kind, {}).items()
        )
    }
    for name, part in _brought(kind):
        if name in found:
            other = found[name].package or "Peirce itself"
            raise UsageError(
                f"{part.package} provides {name!r} of {_group(kind)}, which {other} also"
                " provides: uninstall one of the two"
            )
        found[name] = part
    return found


def component_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of all components of a kind, in alphabetical order."""
    return tuple(sorted(components(kind)))


def is_registered(kind: Kind, name: str) -> bool:
    """Return whether a component with this name is built in or provided by an installed package."""
    return name in BUILT_IN.get(kind, {}) or name in components(kind)


def load(kind: Kind, name: str) -> Any:
    """Import the module of a component and return the component.

    Raises:
        KeyError: There is no component with this name.
        UsageError: A component of another package cannot be imported or lacks a required attribute.
    """
    own = BUILT_IN.get(kind, {}).get(name)
    if own is not None:
        module, _, attribute = own.partition(":")
        return getattr(import_module(f"{PACKAGE}.{module}"), attribute)
    part = components(kind)[name]
    try:
        found = import_module(part.module)
        for attribute in part.object.split("."):
            found = getattr(found, attribute)
    except (Exception, SystemExit) as error:  # Code of another package may raise anything.
        raise UsageError(
            f"{part.package} provides {name!r} of {_group(kind)}, which cannot be imported from"
            f" {part.module}:{part.object}: {type(error).__name__}: {error}"
        ) from error
    lacking = [one for one in ATTRIBUTES[kind] if not hasattr(found, one)]
    if lacking:
        raise UsageError(
            f"{part.package} provides {name!r} of {_group(kind)}, but"
            f" {part.module}:{part.object} is not one: it has no {', '.join(lacking)}"
        )
    return found


def load_all(kind: Kind) -> list[Any]:
    """Load all components of a kind and return them, sorted by name.

    If a component of another package cannot be loaded, the function warns and leaves the component
    out, so that the other components still work.
    """
    try:
        found_names: Iterable[str] = component_names(kind)
    except UsageError as error:
        warnings.warn(str(error), stacklevel=2)
        found_names = sorted(BUILT_IN[kind])
    found = []
    for name in found_names:
        try:
            found.append(load(kind, name))
        except UsageError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def _group(kind: Kind) -> str:
    return f"{PACKAGE}.{kind}"


def _brought(kind: Kind) -> list[tuple[str, Component]]:
    from importlib.metadata import entry_points  # slower to import than the rest of this module

    found = []
    for one in entry_points(group=_group(kind)):
        package = f"{one.dist.name} {one.dist.version}" if one.dist else "an unnamed package"
        found.append((one.name, Component(one.module, one.attr, package)))
    return sorted(found)
