"""The base class of all settings: typed fields that carry their `--help` text.

`setting` declares one setting as a field of a class. Such a class refuses unknown names and values
of another type, with an error of one sentence. `CompositeSettings` combines several classes as its
parts, and `place_option` finds the part to which an option belongs. Import this module by its own
name and not from `records`: pydantic takes time to load, and most users of `records` need only the
data types.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticSerializationError

from .calls import Proposer, Repairer
from .errors import UsageError
from .tables import ArrowBatch, ArrowTable, Rows, RowTable
from .values import Json, is_finite_number

Number: TypeAlias = int | float  # A whole number stays an int, as sessions record it.


def setting(
    default: Any,
    text: str,
    *,
    metavar: str | None = None,
    option: str | None = None,
    flag: bool = True,
    **bounds: Any,
) -> Any:
    """Declare a field of a settings class.

    Args:
        default: The value if nobody sets one. None usually means that the component that runs
            chooses a value.
        text: The meaning of the setting, for the reader of `--help`.
        metavar: The placeholder of its value in `--help`.
        option: The name as an option, if it differs from the name of the field.
        flag: False for settings that only Python, stored sessions and `--method-arg` can set.
        bounds: ge, gt, le and similar, as for pydantic's `Field`.
    """
    return shared_setting(
        text, default=default, metavar=metavar, option=option, flag=flag, **bounds
    )


def shared_setting(
    text: str,
    *,
    metavar: str | None = None,
    option: str | None = None,
    flag: bool = True,
    **bounds: Any,
) -> Any:
    """Return a `setting` without a default, for annotations that several classes share."""
    extra: dict[str, Any] = {"metavar": metavar, "option": option, "flag": flag}
    return Field(description=text, json_schema_extra=extra, **bounds)


class Settings(BaseModel):
    """Base class of all settings: frozen, without unknown names or values of another type."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False,
        arbitrary_types_allowed=True, validate_default=False,
    )  # fmt: skip
    panel: ClassVar[str] = ""  # The group of `--help` that lists its flags.

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_one_sentence(cls, data: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(data, Mapping):
            for name in data.keys() & cls.model_fields.keys():
                cls._refuse_large(name, data[name])
        try:
            return handler(data)
        except ValidationError as error:
            raise UsageError(cls.describe_error(error.errors()[0], data)) from None

    @classmethod
    def _refuse_large(cls, name: str, value: Any) -> None:
        """Raise UsageError for an integer that is too large for a float."""
        if isinstance(value, int) and not is_finite_number(value):
            option = option_name(name, cls.model_fields[name])
            raise UsageError(f"{option} is {format_value(value)}: it must be a number below 1e308")

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """Return one sentence about an error of pydantic: name, value and valid values."""
        name = str(error["loc"][0]) if error["loc"] else cls.__name__
        if error["type"] in ("extra_forbidden", "invalid_key"):
            return f"unknown setting {name!r}{suggest_name(name, cls.model_fields)}"
        if error["type"] == "value_error":
            return str(error["ctx"]["error"])
        field = cls.model_fields.get(name)
        if field is None:
            return f"{name}: {error['msg']}"
        value = data.get(name, error["input"]) if isinstance(data, Mapping) else error["input"]
        return describe_value(option_name(name, field), value, field, error)

    @classmethod
    def iter_options(cls) -> Iterator[tuple[str, str, FieldInfo]]:
        """Yield (option, field name, field) for each setting of this class that has a flag."""
        for name, field in cls.model_fields.items():
            if is_option(field):
                yield option_name(name, field), name, field

    @classmethod
    def check_field(cls, name: str, value: Any) -> None:
        """Check the value of one setting without the other settings. Raises UsageError."""
        cls._refuse_large(name, value)
        field = cls.model_fields[name]
        kind = typing.Annotated[field.annotation, field]  # type: ignore[name-defined]
        config = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
        try:
            TypeAdapter(kind, config=config).validate_python(value)
        except ValidationError as error:
            words = describe_value(option_name(name, field), value, field, error.errors()[0])
            raise UsageError(words) from None

    def explicit_values(self) -> dict[str, Any]:
        """Return the fields that were set explicitly, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values."""
        return self.model_dump(mode="json")


# --- Settings in parts ------------------------------------------------------------------------


class MethodRegistry(Protocol):
    """Knows the settings of each method. `graphs` implements this protocol."""

    def settings_of(self, method: str) -> type[Any]:
        """Return the settings class of a method. Raises UsageError for an unknown name."""
        ...

    def methods_taking(self, option: str) -> Sequence[str]:
        """Return the names of the methods that have an option; empty if no method has it."""
        ...


class CompositeSettings(Settings):
    """Settings that consist of parts. Each field is a part, which is a `Settings` object itself.

    The class of the part `method` depends on the method.
    """

    @classmethod
    def part_classes(cls) -> dict[str, type[Settings]]:
        """Return the classes of the parts by name; for `method`, the class all methods share."""
        return {name: cast(type[Settings], field.annotation)
                for name, field in cls.model_fields.items()}  # fmt: skip

    def to_dict(self) -> dict[str, Json]:
        """Return the explicitly set values; `RunConfig(**config.to_dict())` rebuilds the object."""
        return self.to_record()

    def to_record(self) -> dict[str, Json]:
        """Return the explicitly set values by part, as JSON that a session stores.

        A model or repairer that is an object is left out. To resume the session, the caller passes
        the object again. A table in memory is left out too, because the session stores its problems.
        """
        record: dict[str, Json] = {}
        for name in type(self).model_fields:
            part: Settings = getattr(self, name)
            objects = {key for key, value in part.explicit_values().items() if is_object(value)}
            try:
                record[name] = part.model_dump(mode="json", exclude_unset=True, exclude=objects)
            except (PydanticSerializationError, UnicodeDecodeError):
                raise UsageError(
                    f"the settings of {name} contain a value that is not JSON"
                ) from None
        return {name: part for name, part in record.items() if part}


PartClasses: TypeAlias = Mapping[str, type[Settings]]


def place_option(
    option: str, value: Any, method: str, classes: PartClasses, methods: MethodRegistry
) -> tuple[str, str]:
    """Return the part and the field to which an option belongs.

    If two parts have the option, the part `method` takes precedence.

    Raises:
        UsageError: No part has the option, or the method does not take it.
    """
    for part in ("method", *classes):
        for name, field in classes[part].model_fields.items():
            if option_name(name, field) != option:
                continue
            own = field.get_default(call_default_factory=True)
            fixed = part == "method" and value == own and methods.methods_taking(option)
            if is_option(field) or part == "roles" or fixed:
                return part, name
    if able := methods.methods_taking(option):
        raise UsageError(
            f"{option} is {format_value(value)}: method {method} does not take it; methods that"
            f" do: {', '.join(able)}"
        )
    raise UsageError(describe_unknown_setting(option, classes))


def is_known_option(option: str, classes: PartClasses, methods: MethodRegistry) -> bool:
    """Return whether any part or any method has this option."""
    names = (
        option_name(name, field)
        for part in classes.values()
        for name, field in part.model_fields.items()
    )
    return option in names or bool(methods.methods_taking(option))


def describe_unknown_setting(option: str, classes: PartClasses) -> str:
    """Return one sentence about an option that no part has, with the nearest known name."""
    known = [name for part in classes.values() for name, _, _ in part.iter_options()]
    return f"unknown setting {option!r}{suggest_name(option, known)}"


# --- Messages about settings ------------------------------------------------------------------


def is_object(value: Any) -> bool:
    """Return whether a value is a table, proposer or repairer of the user, and not a name."""
    return isinstance(value, RowTable) or hasattr(value, "propose") or hasattr(value, "repair")


def option_name(name: str, field: FieldInfo) -> str:
    """Return the name of a field as an option."""
    return str(_extra(field).get("option") or name)


def is_option(field: FieldInfo) -> bool:
    """Return whether a setting has a flag on the command line."""
    return bool(_extra(field).get("flag"))


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {}


def format_value(value: Any) -> str:
    """Return a value for an error message: at most one line; objects are shown by their type."""
    try:
        text = type(value).__name__ if is_object(value) else repr(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits.
        text = "a value with a number of over 4,300 digits"
    return text if len(text) <= 80 else f"{text[:77]}…"


def describe_value(name: str, value: Any, field: FieldInfo, error: ErrorDetails) -> str:
    """Return, for example, "problems is 'three': it must be a whole number or None"."""
    return f"{name} is {format_value(value)}: it must be {describe_valid(field, error)}"


_BOUNDS: Mapping[str, str] = {
    "greater_than_equal": "at least {ge:,.15g}", "greater_than": "above {gt:,.15g}",
    "less_than_equal": "at most {le:,.15g}", "less_than": "below {lt:,.15g}",
    "finite_number": "finite",
}  # fmt: skip


def describe_valid(field: FieldInfo, error: ErrorDetails) -> str:
    """Return the condition that `error` reports as violated: "at least 1", "a whole number"."""
    words = _BOUNDS.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else describe_type(field.annotation)


def describe_type(annotation: Any) -> str:
    """Return the values that an annotation allows, in words."""
    kinds = list(union_members(annotation))
    words = [_word_of(one) for one in kinds if one is not int or float not in kinds]
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most)} or {last}" if most else last


def union_members(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, or the annotation itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for one in typing.get_args(annotation):
            yield from union_members(one)
    else:
        yield annotation


_WORDS: Mapping[Any, str] = {
    int: "a whole number", float: "a number", str: "a string", bool: "True or False",
    Path: "a path", type(None): "None", Proposer: "an object with `propose` (records.Proposer)",
    Repairer: "an object with `repair` (records.Repairer)",
    RowTable: "a list of dicts", Rows: "a list of dicts",
    **dict.fromkeys((ArrowTable, ArrowBatch), "a table of pandas, Polars, DuckDB or Arrow"),
}  # fmt: skip


def _word_of(kind: Any) -> str:
    outer = typing.get_origin(kind) or kind
    if outer is Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    if isinstance(outer, type) and issubclass(outer, Mapping):
        return "a mapping"
    if isinstance(outer, type) and issubclass(outer, Sequence) and outer is not str:
        inner = typing.get_args(kind)[0] if typing.get_args(kind) else None
        if all(one in (str, Path) for one in union_members(inner)):
            return "a list of strings"
        values = typing.get_args(inner) if typing.get_origin(inner) is Literal else ()
        return f"a list of {', '.join(map(str, values))}" if values else "a list"
    if isinstance(outer, type) and issubclass(outer, Settings):
        return f"a {outer.__name__}"
    return "a function" if outer is Callable else _WORDS.get(kind, str(kind))


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" for a close match in `known`, otherwise a list of `known`."""
    names = sorted(set(known))
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]}?" if near else f"; it must be one of {', '.join(names)}"


def check_text_or_object(name: str, value: Any, method: str, kinds: Any) -> Any:
    """Return `value` if it is a text or an object with the method `method`.

    Args:
        name: The name of the setting, for the message.
        value: The value.
        method: The name of the method that an object must have.
        kinds: The valid types as an annotation, for the message.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(value, str) or callable(getattr(value, method, None)):
        return value
    raise UsageError(f"{name} is {format_value(value)}: it must be {describe_type(kinds)}")
