"""The base of everything that can be set: typed fields with the words of `--help` beside them.

A setting is a field made by `setting`. A class of settings refuses, in one sentence, unknown names
and values of another type. Such classes are the parts of a larger one (`SettingsInParts`), and an option
finds its part by its name (`place_option`). It is imported by this module's name and not from `records`, as pydantic
costs time that those who only need the nouns should not pay.
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
from .values import Json

Number: TypeAlias = int | float  # a whole number stays one, as sessions record it


def setting(
    default: Any,
    text: str,
    *,
    metavar: str | None = None,
    option: str | None = None,
    flag: bool = True,
    **bounds: Any,
) -> Any:
    """A field of a part.

    Args:
        default: its value where nothing sets it; None mostly leaves the choice to what is run.
        text: what it means to the reader of `--help`.
        metavar: the placeholder of its value in `--help`.
        option: its name as an option, where that differs from the field's.
        flag: False for what only Python, stored sessions and `--method-arg` can set.
        bounds: ge, gt, le and the like, as pydantic takes them.
    """
    return setting_of(text, default=default, metavar=metavar, option=option, flag=flag, **bounds)


def setting_of(
    text: str,
    *,
    metavar: str | None = None,
    option: str | None = None,
    flag: bool = True,
    **bounds: Any,
) -> Any:
    """`setting` for an annotation, without a default: fields of several classes share it."""
    extra: dict[str, Any] = {"metavar": metavar, "option": option, "flag": flag}
    return Field(description=text, json_schema_extra=extra, **bounds)


class Settings(BaseModel):
    """Base of everything that can be set: frozen, without unknown names or values of another type."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False,
        arbitrary_types_allowed=True, validate_default=False,
    )  # fmt: skip
    panel: ClassVar[str] = ""  # the group of `--help` that its flags stand in

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_one_sentence(cls, data: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(data)
        except ValidationError as error:
            raise UsageError(cls.describe_error(error.errors()[0], data)) from None

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """One sentence about what pydantic found in `data`: the name, its value, what is valid."""
        name = str(error["loc"][0]) if error["loc"] else cls.__name__
        if error["type"] in ("extra_forbidden", "invalid_key"):
            return f"unknown setting {name!r}{nearest_name(name, cls.model_fields)}"
        if error["type"] == "value_error":
            return str(error["ctx"]["error"])
        field = cls.model_fields.get(name)
        if field is None:
            return f"{name}: {error['msg']}"
        value = data.get(name, error["input"]) if isinstance(data, Mapping) else error["input"]
        return describe_value(option_name(name, field), value, field, error)

    @classmethod
    def options(cls) -> Iterator[tuple[str, str, FieldInfo]]:
        """(option, field name, field) of each setting of this part that has a flag."""
        for name, field in cls.model_fields.items():
            if is_option(field):
                yield option_name(name, field), name, field

    @classmethod
    def check_field(cls, name: str, value: Any) -> None:
        """Check one value by itself. Raises UsageError."""
        field = cls.model_fields[name]
        kind = typing.Annotated[field.annotation, field]  # type: ignore[name-defined]
        config = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
        try:
            TypeAdapter(kind, config=config).validate_python(value)
        except ValidationError as error:
            words = describe_value(option_name(name, field), value, field, error.errors()[0])
            raise UsageError(words) from None

    def given(self) -> dict[str, Any]:
        """The fields that were set and not left to their defaults, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def to_dict(self) -> dict[str, Json]:
        """All fields as JSON values."""
        return self.model_dump(mode="json")


# --- settings in parts ------------------------------------------------------------------------


class MethodRegistry(Protocol):
    """What knows the methods: `graphs`, handed in, because imports run downwards."""

    def settings_of(self, method: str) -> type[Any]:
        """The class of the settings of a method. Raises UsageError for a name that is none."""
        ...

    def methods_taking(self, option: str) -> Sequence[str]:
        """The methods that take an option, by name; none where no method knows it."""
        ...


class SettingsInParts(Settings):
    """Settings that consist of parts, a field each. The class of the part `method` depends on the
    method."""

    @classmethod
    def parts(cls) -> dict[str, type[Settings]]:
        """The classes of the parts, by name; of `method` what all methods share."""
        return {name: cast(type[Settings], field.annotation)
                for name, field in cls.model_fields.items()}  # fmt: skip

    def to_dict(self) -> dict[str, Json]:
        """What was given, as JSON values: `RunConfig(**config.to_dict())` is the same configuration."""
        return self.to_record()

    def to_record(self) -> dict[str, Json]:
        """What a session keeps: the settings that were given, by part, as JSON values. A model or
        repairer that is an object is left out: whoever resumes the session brings it again."""
        record: dict[str, Json] = {}
        for name in type(self).model_fields:
            part: Settings = getattr(self, name)
            objects = {key for key, value in part.given().items() if is_object(value)}
            try:
                record[name] = part.model_dump(mode="json", exclude_unset=True, exclude=objects)
            except (PydanticSerializationError, UnicodeDecodeError):
                raise UsageError(f"the settings of {name} hold what is no JSON value") from None
        return {name: part for name, part in record.items() if part}


Parts: TypeAlias = Mapping[str, type[Settings]]


def place_option(
    option: str, value: Any, method: str, classes: Parts, methods: MethodRegistry
) -> tuple[str, str]:
    """The part and field of an option; of two with one name the method's. Raises UsageError."""
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
            f"{option} is {shown(value)}: method {method} takes none; those that do:"
            f" {', '.join(able)}"
        )
    raise UsageError(unknown_setting(option, classes))


def is_known(option: str, classes: Parts, methods: MethodRegistry) -> bool:
    """Whether any part, or any method, has this option."""
    names = (
        option_name(name, field)
        for part in classes.values()
        for name, field in part.model_fields.items()
    )
    return option in names or bool(methods.methods_taking(option))


def unknown_setting(option: str, classes: Parts) -> str:
    """One sentence about an option that no part has, with the nearest one."""
    known = [name for part in classes.values() for name, _, _ in part.options()]
    return f"unknown setting {option!r}{nearest_name(option, known)}"


# --- words about settings -------------------------------------------------------------------


def is_object(value: Any) -> bool:
    """Whether a value is a proposer or repairer of the user's own, and not its name."""
    return hasattr(value, "propose") or hasattr(value, "repair")


def option_name(name: str, field: FieldInfo) -> str:
    """The name of a field as an option."""
    return str(_extra(field).get("option") or name)


def is_option(field: FieldInfo) -> bool:
    """Whether a field can be set by name, and not only by Python or `--method-arg`."""
    return bool(_extra(field).get("flag"))


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {}


def shown(value: Any) -> str:
    """A value in a sentence; an object by its type alone, and nothing longer than a line."""
    text = type(value).__name__ if is_object(value) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def describe_value(name: str, value: Any, field: FieldInfo, error: ErrorDetails) -> str:
    """ "problems is 'three': it must be a whole number or None"."""
    return f"{name} is {shown(value)}: it must be {describe_valid(field, error)}"


_BOUNDS: Mapping[str, str] = {
    "greater_than_equal": "at least {ge:,.15g}", "greater_than": "above {gt:,.15g}",
    "less_than_equal": "at most {le:,.15g}", "less_than": "below {lt:,.15g}",
    "finite_number": "finite",
}  # fmt: skip


def describe_valid(field: FieldInfo, error: ErrorDetails) -> str:
    """What a value must be that `error` found not to be so: "at least 1", "a whole number"."""
    words = _BOUNDS.get(error["type"])
    return words.format(**error.get("ctx", {})) if words else describe_type(field.annotation)


def describe_type(annotation: Any) -> str:
    """The values that an annotation allows, in words."""
    kinds = list(alternatives(annotation))
    words = [_word_of(one) for one in kinds if one is not int or float not in kinds]
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most)} or {last}" if most else last


def alternatives(annotation: Any) -> Iterator[Any]:
    """The members of a union, or the annotation itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for one in typing.get_args(annotation):
            yield from alternatives(one)
    else:
        yield annotation


_WORDS: Mapping[Any, str] = {
    int: "a whole number", float: "a number", str: "a text", bool: "True or False",
    Path: "a path", type(None): "None", Proposer: "an object with `propose` (records.Proposer)",
    Repairer: "an object with `repair` (records.Repairer)",
}  # fmt: skip


def _word_of(kind: Any) -> str:
    outer = typing.get_origin(kind) or kind
    if outer is Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    if isinstance(outer, type) and issubclass(outer, Mapping):
        return "a mapping"
    if isinstance(outer, type) and issubclass(outer, Sequence) and outer is not str:
        inner = typing.get_args(kind)[0] if typing.get_args(kind) else None
        if all(one in (str, Path) for one in alternatives(inner)):
            return "a list of texts"
        values = typing.get_args(inner) if typing.get_origin(inner) is Literal else ()
        return f"a list of {', '.join(map(str, values))}" if values else "a list"
    if isinstance(outer, type) and issubclass(outer, Settings):
        return f"a {outer.__name__}"
    return "a function" if outer is Callable else _WORDS.get(kind, str(kind))


def nearest_name(name: str, known: Iterable[str]) -> str:
    """ "; did you mean seed?" for a name that is nearly one of `known`, else what there is."""
    names = sorted(set(known))
    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]}?" if near else f"; it must be one of {', '.join(names)}"


def text_or_object(name: str, value: Any, method: str, kinds: Any) -> Any:
    """A text, or an object with a method. kinds: what is valid, as an annotation. Raises UsageError."""
    if isinstance(value, str) or callable(getattr(value, method, None)):
        return value
    raise UsageError(f"{name} is {shown(value)}: it must be {describe_type(kinds)}")
