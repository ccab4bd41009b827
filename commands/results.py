"""Typed results of the public functions, which can also be read like the printed JSON.

    scores = peirce.evaluate("last")
    scores.sessions[0].metrics["gamma"].mean         # typed
    scores["sessions"][0]["metrics"]["gamma"]["mean"]  # as in the JSON
    scores.to_dict()                                 # what `peirce eval last --json` prints

A result class is a frozen dataclass. Its fields are the keys of a JSON object, in the same order. A
field with a default may be absent from the JSON object. A field made by `extra_keys` contains the
keys that depend on the data; in the JSON object these keys are at the same level as all other keys.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NamedTuple, Self, dataclass_transform

from ..records import Json
from ..records.tables import RowTable

_REST, _UNPRINTED, _OPTIONAL = {"rest": True}, {"unprinted": True}, {"optional": True}


def extra_keys() -> Any:
    """Return a dataclass field for all keys of the JSON object that have no field of their own."""
    return field(default_factory=dict, metadata=_REST)


def unprinted_field(*, default_factory: Callable[[], Any]) -> Any:
    """Return a dataclass field that is not part of the JSON object."""
    return field(default_factory=default_factory, metadata=_UNPRINTED)


def optional_key(*, default_factory: Callable[[], Any]) -> Any:
    """Return a dataclass field that is absent from the JSON object while its value is empty."""
    return field(default_factory=default_factory, metadata=_OPTIONAL)


def json_key(name: str) -> Any:
    """Return a dataclass field whose key in the JSON object is `name`.

    Use it if the key cannot be the name of the Python attribute.
    """
    return field(metadata={"key": name})


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True,
                     field_specifiers=(field, extra_keys, unprinted_field, optional_key, json_key))  # fmt: skip
class Result(Mapping[str, Any]):
    """Base class of results: a read-only mapping with the keys of the printed JSON object.

    A result equals every mapping with the same keys and values.
    """

    _keys: tuple[str, ...] = ()  # the keys of the JSON object, in its order

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, eq=False, kw_only=True)(cls)

    def __post_init__(self) -> None:
        layout = _layout(type(self))
        printed = (key for key, one in layout.fields.items() if not _is_absent(self, one))
        object.__setattr__(self, "_keys", (*printed, *self._others))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build a result from its JSON object.

        Raises:
            TypeError: a key belongs to no field, or the key of a field without default is missing.
        """
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
        """Return this result as a JSON object of ordinary dicts, lists and values."""
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
    """A mean over `n` problems, with the lower and upper bound of its 95% confidence interval.

    The mean and the bounds are None if they cannot be computed.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int


class _Layout(NamedTuple):
    """The JSON layout of a result class.

    Args:
        fields: fields by JSON key.
        builders: functions that build the value of each field from JSON, by field name.
        rest: name of the field that holds all other keys; None where there is none.
    """

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
    value = getattr(result, one.name)
    if one.metadata == _OPTIONAL:
        return not value
    return one.default is not MISSING and value is one.default


def _plain(value: Any) -> Json:
    if isinstance(value, Mapping):  # this includes nested results
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, RowTable) else value


def _builder(kind: Any) -> Callable[[Any], Any]:
    """Return a function that builds a value of this type from JSON.

    It finds results that are nested in lists, mappings and unions.
    """
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
