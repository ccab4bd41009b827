"""The base class of all settings: typed fields with a text for `--help`.

`setting` declares one setting as a field of a `Settings` class. A `Settings` class rejects unknown
names and values of the wrong type with an error of one sentence. `CompositeSettings` groups several
`Settings` objects as its fields, and `place_option` finds the field to which an option belongs.

Import this module by its full name instead of through `records`: pydantic takes time to load, and
most users of `records` need only the data types.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
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
        default: The value if the user sets none. None usually means that the program chooses a
            value when it needs the setting.
        text: The description of the setting in `--help`.
        metavar: The placeholder of the value in `--help`.
        option: The name of the option, if it differs from the name of the field.
        flag: False for a setting without a command-line flag, which only Python, stored sessions
            and `--method-arg` can set.
        bounds: Limits of the value, such as ge, gt and le, as for pydantic's `Field`.
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
    """Declare a setting without a default, as an annotation that several classes can share.

    The arguments are those of `setting`.
    """
    extra: dict[str, Any] = {"metavar": metavar, "option": option, "flag": flag}
    return Field(description=text, json_schema_extra=extra, **bounds)


class Settings(BaseModel):
    """Base class of all settings: immutable, and strict about names and types."""

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
        """Return one sentence for the user about a pydantic error: the setting, its value and valid
        values.

        Args:
            error: The error details from pydantic.
            data: The values that were validated.
        """
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
        """Yield (option, field name, field) for each setting of this class that has a command-line
        flag.
        """
        for name, field in cls.model_fields.items():
            if is_option(field):
                yield option_name(name, field), name, field

    @classmethod
    def check_field(cls, name: str, value: Any) -> None:
        """Check the value of one setting, independent of all other settings.

        Args:
            name: The name of the field.
            value: The value to check.

        Raises:
            UsageError: The value is invalid.
        """
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
        """Return the values of the fields that were set explicitly, by field name."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def to_dict(self) -> dict[str, Json]:
        """Return the values of all fields as JSON values, by field name."""
        return self.model_dump(mode="json")


# --- Settings in parts ------------------------------------------------------------------------


class MethodRegistry(Protocol):
    """A registry that knows which settings each method has. `graphs` implements this protocol."""

    def settings_of(self, method: str) -> type[Any]:
        """Return the settings class of a method.

        Raises:
            UsageError: The method is unknown.
        """
        ...

    def methods_taking(self, option: str) -> Sequence[str]:
        """Return the names of the methods that accept an option; empty if no method accepts the
        option.
        """
        ...


class CompositeSettings(Settings):
    """Settings in groups: each field of this object is itself a `Settings` object.

    The class of the field `method` depends on the chosen method.
    """

    @classmethod
    def part_classes(cls) -> dict[str, type[Settings]]:
        """Return the settings class of each field, by field name.

        The class returned for `method` is the class that all methods share.
        """
        return {name: cast(type[Settings], field.annotation)
                for name, field in cls.model_fields.items()}  # fmt: skip

    def to_dict(self) -> dict[str, Json]:
        """Return the explicitly set values. `RunConfig(**config.to_dict())` rebuilds the
        configuration.
        """
        return self.to_record()

    def to_record(self) -> dict[str, Json]:
        """Return the explicitly set values of each group, as the JSON object that a session stores.

        A model or repairer that was passed as a Python object is left out. To resume the session,
        the caller passes the object again. A table in memory is also left out, because the session
        stores the problems from the table.
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
    """Return (name of the settings group, field name) for an option.

    If two groups have the option, the group `method` takes precedence.

    Args:
        option: The name of the option.
        value: The value that the user set.
        method: The name of the chosen method.
        classes: The settings class of each group, by name.
        methods: The registry of methods.

    Raises:
        UsageError: No group has the option, or the method does not take it.
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
    """Return whether any settings group or any method has this option."""
    names = (
        option_name(name, field)
        for part in classes.values()
        for name, field in part.model_fields.items()
    )
    return option in names or bool(methods.methods_taking(option))


def describe_unknown_setting(option: str, classes: PartClasses) -> str:
    """Return an error message of one sentence for an unknown option, with the most similar known
    name.
    """
    known = [name for part in classes.values() for name, _, _ in part.iter_options()]
    return f"unknown setting {option!r}{suggest_name(option, known)}"


# --- Messages about settings ------------------------------------------------------------------


def is_object(value: Any) -> bool:
    """Return whether a value is a Python object (a table, proposer or repairer) instead of a
    name.
    """
    return isinstance(value, RowTable) or hasattr(value, "propose") or hasattr(value, "repair")


def option_name(name: str, field: FieldInfo) -> str:
    """Return the option name of a settings field.

    Args:
        name: The name of the field, which is also the option name unless the field declares
            another.
        field: The field.
    """
    return str(_extra(field).get("option") or name)


def is_option(field: FieldInfo) -> bool:
    """Return whether a setting has a flag on the command line."""
    return bool(_extra(field).get("flag"))


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {}


def format_value(value: Any) -> str:
    """Return a value as text for an error message: one line of at most 80 characters.

    A Python object, such as a model, is shown by the name of its type.
    """
    try:
        text = type(value).__name__ if is_object(value) else repr(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits.
        text = "a value with a number of over 4,300 digits"
    return text if len(text) <= 80 else f"{text[:77]}…"


def describe_value(name: str, value: Any, field: FieldInfo, error: ErrorDetails) -> str:
    """Return an error message such as "problems is 'three': it must be a whole number or None".

    Args:
        name: The name of the option.
        value: The invalid value.
        field: The settings field.
        error: The error details from pydantic.
    """
    return f"{name} is {format_value(value)}: it must be {describe_valid(field, error)}"


_BOUNDS: Mapping[str, str] = {
    "greater_than_equal": "at least {ge:,.15g}", "greater_than": "above {gt:,.15g}",
    "less_than_equal": "at most {le:,.15g}", "less_than": "below {lt:,.15g}",
    "finite_number": "finite",
}  # fmt: skip


def describe_valid(field: FieldInfo, error: ErrorDetails) -> str:
    """Return what a valid value must be, for example "at least 1" or "a whole number"."""
    words = _BOUNDS.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else describe_type(field.annotation)


def describe_type(annotation: Any) -> str:
    """Return a description of the values that a type annotation allows, such as "a number or
    None".
    """
    kinds = list(union_members(annotation))
    words = [_word_of(one) for one in kinds if one is not int or float not in kinds]
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most)} or {last}" if most else last


def union_members(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union type. For any other annotation, yield the annotation itself."""
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
    if kind in _WORDS:
        return _WORDS[kind]
    outer = typing.get_origin(kind) or kind
    if outer is Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    if isinstance(outer, type) and (issubclass(outer, Settings) or is_dataclass(outer)):
        return f"a {outer.__name__}"
    if isinstance(outer, type) and issubclass(outer, Mapping):
        return "a mapping"
    if isinstance(outer, type) and issubclass(outer, Sequence) and outer is not str:
        inner = typing.get_args(kind)[0] if typing.get_args(kind) else None
        if all(one in (str, Path) for one in union_members(inner)):
            return "a list of strings"
        values = typing.get_args(inner) if typing.get_origin(inner) is Literal else ()
        return f"a list of {', '.join(map(str, values))}" if values else "a list"
    return "a function" if outer is Callable else str(kind)


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name.

    The hint is "; did you mean NAME?" if a name in `known` is similar, otherwise a list of all
    names in `known`.
    """
    names = sorted(set(known))
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]}?" if near else f"; it must be one of {', '.join(names)}"


def check_text_or_object(name: str, value: Any, method: str, kinds: Any) -> Any:
    """Return `value` if it is a text or an object with the required method.

    Args:
        name: The name of the setting, for the error message.
        value: The value to check.
        method: The name of the method that an object must have.
        kinds: The valid types as an annotation, for the error message.

    Raises:
        UsageError: `value` is neither a text nor an object with this method.
    """
    if isinstance(value, str) or callable(getattr(value, method, None)):
        return value
    raise UsageError(f"{name} is {format_value(value)}: it must be {describe_type(kinds)}")
