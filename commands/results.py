"""What the public functions return: typed objects that also read like the JSON that is printed of them.

    scores = peirce.evaluate("last")
    scores.sessions[0].metrics["gamma"].mean         # typed
    scores["sessions"][0]["metrics"]["gamma"]["mean"]  # as in the JSON
    scores.to_dict()                                 # what `peirce eval last --json` prints

A class of results is a frozen dataclass whose fields are the keys of a JSON object, in their order. A
field with a default may be absent from the object. A field made by `rest` holds the keys that
depend on the data; they stand beside the other keys in the object.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NamedTuple, Self, dataclass_transform

from ..records import Json

_REST, _UNPRINTED = {"rest": True}, {"unprinted": True}


def rest() -> Any:
    """A field for the keys that are no other field's."""
    return field(default_factory=dict, metadata=_REST)


def unprinted(*, default_factory: Callable[[], Any]) -> Any:
    """A field that is no key of the JSON."""
    return field(default_factory=default_factory, metadata=_UNPRINTED)


def key(name: str) -> Any:
    """A field whose key in the JSON is no name that a field can have."""
    return field(metadata={"key": name})


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True,
                     field_specifiers=(field, rest, unprinted, key))  # fmt: skip
class Result(Mapping[str, Any]):
    """Base of the results: a read-only mapping with the keys of its JSON object. It is equal to every
    mapping with the same keys and values."""

    _keys: tuple[str, ...] = ()  # of the JSON object, in its order

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, eq=False, kw_only=True)(cls)

    def __post_init__(self) -> None:
        layout = _layout(type(self))
        printed = (key for key, one in layout.fields.items() if not _is_absent(self, one))
        object.__setattr__(self, "_keys", (*printed, *self._others))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build the result from its JSON object. Raises TypeError for a key that is no field's, and
        for one that is missing."""
        layout = _layout(cls)
        found: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for key, value in values.items():
            if key in layout.fields:
                name = layout.fields[key].name
                found[name] = layout.builders[name](value)
            else:
                others[key] = value
        if layout.rest is not None:
            found[layout.rest] = others
        elif others:
            raise TypeError(f"{cls.__name__} has no key {', '.join(others)}")
        made = cls(**found)
        object.__setattr__(made, "_keys", tuple(values))
        return made

    def to_dict(self) -> dict[str, Json]:
        """The JSON object: plain dicts, lists and values."""
        return {key: _plain(value) for key, value in self.items()}

    @property
    def _others(self) -> Mapping[str, Any]:
        rest = _layout(type(self)).rest
        return {} if rest is None else getattr(self, rest)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        one = _layout(type(self)).fields.get(key)
        return self._others[key] if one is None else getattr(self, one.name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class Metric(Result):
    """The mean over `n` problems with the bounds of its 95% interval; None where nothing is known."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


class _Layout(NamedTuple):
    """The fields of a class of results by their keys, what builds the value of each from JSON, and the
    name of the field that holds all other keys."""

    fields: Mapping[str, Field[Any]]
    builders: Mapping[str, Callable[[Any], Any]]
    rest: str | None


@functools.cache
def _layout(cls: type[Result]) -> _Layout:
    hints = typing.get_type_hints(cls)
    known: list[Field[Any]] = list(fields(cls))  # type: ignore[arg-type]
    rest = next((one.name for one in known if one.metadata == _REST), None)
    printed = [one for one in known if one.metadata not in (_REST, _UNPRINTED)]
    return _Layout(
        {one.metadata.get("key", one.name): one for one in printed},
        {one.name: _builder(hints[one.name]) for one in printed},
        rest,
    )


def _is_absent(result: Result, one: Field[Any]) -> bool:
    return one.default is not MISSING and getattr(result, one.name) is one.default


def _plain(value: Any) -> Json:
    if isinstance(value, Mapping):  # a result too
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _builder(kind: Any) -> Callable[[Any], Any]:
    """What builds a value of this type from JSON; results stand in lists, mappings and unions."""
    outer, parts = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Result):
        return lambda value: value if isinstance(value, kind) else kind.from_dict(value)
    if outer in (typing.Union, types.UnionType):
        build = next((one for one in map(_builder, parts) if one is not _same), _same)
        return lambda value: None if value is None else build(value)
    if isinstance(outer, type) and issubclass(outer, Mapping):
        of_value = _builder(parts[1])
        if of_value is not _same:
            return lambda value: {name: of_value(one) for name, one in value.items()}
    elif isinstance(outer, type) and issubclass(outer, Sequence):
        of_item = _builder(parts[0])
        if of_item is not _same:
            return lambda value: [of_item(one) for one in value]
    return _same


def _same(value: Any) -> Any:
    return value
