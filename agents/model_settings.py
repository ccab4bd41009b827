"""`ModelKind`, which describes a kind of model in the registry, and the base class of model
settings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field
from pydantic_core import ErrorDetails

from ..records import Json, Proposer, UsageError
from ..records.settings import Settings, describe_type, format_value, suggest_name

_BOUNDS = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}


class ModelSettings(Settings):
    """Base class of the settings of one kind of model.

    Attributes:
        model: The model string, which does not count as a setting.
    """

    model: str = Field(exclude=True)

    @classmethod
    def from_options(cls, model: str, settings: Mapping[str, Json]) -> Self:
        """Build the settings of a model, ignoring values that are None.

        Args:
            model: The model string.
            settings: Values of the settings, by name.

        Raises:
            UsageError: A setting is unknown, or its value is invalid.
        """
        given = {key: value for key, value in settings.items() if value is not None}
        names = cls.setting_names()
        for key in given:
            if key not in names:
                hint = suggest_name(key, names) if names else ": it takes no settings"
                raise UsageError(f"model {model!r} does not take a setting {key!r}{hint}")
        return cls(model=model, **given)

    @classmethod
    def setting_names(cls) -> tuple[str, ...]:
        """Return the names of all settings, without `model`."""
        return tuple(name for name in cls.model_fields if name != "model")

    def explicit_values(self) -> dict[str, Any]:
        """Return the explicitly set values by setting name, in the order in which the class
        declares them.
        """
        return {
            name: getattr(self, name)
            for name in self.setting_names()
            if name in self.model_fields_set
        }

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """Return an error message such as "batch 0 of model 'hf:x' must be a whole number of at
        least 1".

        Args:
            error: The error details from pydantic.
            data: The values that were validated.
        """
        name = str(error["loc"][0])
        if name not in cls.setting_names():
            return super().describe_error(error, data)
        field = cls.model_fields[name]
        valid = describe_type(field.annotation).removesuffix(" or None")
        bounds = [
            f"{words} {getattr(one, bound)}"
            for one in field.metadata
            for bound, words in _BOUNDS.items()
            if hasattr(one, bound)
        ]
        valid = " ".join([valid.replace("True or False", "true or false"), " and ".join(bounds)])
        return (
            f"{name} {format_value(data[name])} of model {data['model']!r} must be {valid.strip()}"
        )


@dataclass(frozen=True)
class ModelKind:
    """A kind of model, as the registry lists it.

    Attributes:
        form: The form of its model strings, such as "hf:FOLDER_OR_ID", for error messages.
        settings: The class of its settings.
        open: Function that opens a model from its settings. It raises UsageError or DataError.
        check: Function that raises the errors of `open` without loading a model or sending a
            request; None for a kind of model that opens quickly.
    """

    form: str
    settings: type[ModelSettings]
    open: Callable[[Any], Awaitable[Proposer]]
    check: Callable[[Any], None] | None = None
