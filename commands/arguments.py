"""What the public functions are given, checked in one place: by the types that each declares, and
by the bounds below. The command line comes through here too."""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ..records import Proposer, Repairer, UsageError

P = ParamSpec("P")
T = TypeVar("T")

# By the argument's name: the least and the most that it may be. Each worker is a process of about
# 15 MB, each problem side by side may have requests in flight.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "workers": (1, 256),
    "concurrency": (1, 1_000),
    "max_answers": (1, 1_000_000),
    "tool_calls": (0, 1_000),
}

_WORDS = {
    int: "a whole number", float: "a number", str: "a text", bool: "True or False",
    Path: "a path", type(None): "None", Proposer: "an object with `propose` (records.Proposer)",
    Repairer: "an object with `repair` (records.Repairer)",
}  # fmt: skip


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """The function itself, which raises UsageError for an argument of another type than it
    declares or beyond its bounds."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        check_arguments(function, signature.bind(*args, **kwargs).arguments)
        return function(*args, **kwargs)

    return call


def check_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raises UsageError as `checked` does, of arguments by their names."""
    parameters, declared = inspect.signature(function).parameters, _declared(function)
    for name, value in arguments.items():
        for one in _each(parameters[name], value):
            _check(name, one, declared[name])


@functools.cache
def _declared(function: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(function)


def _each(parameter: inspect.Parameter, value: Any) -> Sequence[Any]:
    """The values of a parameter; those of **options are checked where they go on to."""
    if parameter.kind is parameter.VAR_KEYWORD:
        return ()
    return value if parameter.kind is parameter.VAR_POSITIONAL else (value,)


def _check(name: str, value: Any, declared: Any) -> None:
    from ..tasks.sentences import shorten

    kinds = list(_kinds(declared))
    if not any(_is(value, kind) for kind in kinds):
        *most, last = [_said(kind) for kind in kinds]
        valid = f"{', '.join(most)} or {last}" if most else last
        raise UsageError(f"{name} is {shorten(repr(value))}: it must be {valid}")
    if value is not None and name in BOUNDS:
        least, most_of_all = BOUNDS[name]
        if value < least:
            raise UsageError(f"{name} is {value}: it must be at least {least}")
        if value > most_of_all:
            raise UsageError(
                f"{name} is {shorten(repr(value))}: it must be at most {most_of_all:,}"
            )


def _kinds(declared: Any) -> Iterator[Any]:
    """The alternatives of a declared type."""
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        for one in typing.get_args(declared):
            yield from _kinds(one)
    else:
        yield declared


def _is(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind is Proposer:
        return callable(getattr(value, "propose", None))
    if kind is Repairer:
        return callable(getattr(value, "repair", None))
    if kind in (int, float) and isinstance(value, bool):
        return False
    if kind is float:
        return isinstance(value, (int, float)) and math.isfinite(value)
    parts = typing.get_args(kind)
    outer = typing.get_origin(kind) or kind
    if outer is Callable:
        return callable(value)
    if outer is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and all(
            any(_is(one, part) for part in _kinds(parts[0])) for one in value
        )  # fmt: skip
    if outer is Mapping:
        return isinstance(value, Mapping) and all(_is(key, parts[0]) for key in value)
    return isinstance(value, outer)


def _said(kind: Any) -> str:
    outer = typing.get_origin(kind) or kind
    if outer is Sequence:
        texts = str in _kinds(typing.get_args(kind)[0])
        return "a list of texts" if texts else "a list"
    if outer is Mapping:
        return "a mapping"
    return "a function" if outer is Callable else _WORDS[kind]
