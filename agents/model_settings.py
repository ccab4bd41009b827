"""What a kind of model is, and the base of its settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field
from pydantic_core import ErrorDetails

from ..records import Json, Proposer, UsageError
from ..records.settings import Settings, describe_type, nearest_name, shown

_BOUNDS = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}


class ModelSettings(Settings):
    """What one kind of model can be set to: every field but `model`, the model string."""

    model: str = Field(exclude=True)

    @classmethod
    def of(cls, model: str, settings: Mapping[str, Json]) -> Self:
        """The settings of a model; those that are None count as not given. Raises UsageError."""
        given = {key: value for key, value in settings.items() if value is not None}
        names = cls.names()
        for key in given:
            if key not in names:
                hint = nearest_name(key, names) if names else ": it takes none"
                raise UsageError(f"model {model!r} takes no setting {key!r}{hint}")
        return cls(model=model, **given)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all settings."""
        return tuple(name for name in cls.model_fields if name != "model")

    def given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.names() if name in self.model_fields_set}

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """ "batch 0 of model 'hf:x' must be a whole number of at least 1"."""
        name = str(error["loc"][0])
        if name not in cls.names():
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
        return f"{name} {shown(data[name])} of model {data['model']!r} must be {valid.strip()}"


@dataclass(frozen=True)
class ModelKind:
    """A kind of model, as the registry names it.

    Args:
        form: how its model string is written, for messages.
        settings: what it can be set to.
        open: makes the proposer from its settings. Raises UsageError, DataError.
        check: of a kind that costs something to open: raises what `open` would, as far as that is known
            without asking or loading anything.
    """

    form: str
    settings: type[ModelSettings]
    open: Callable[[Any], Awaitable[Proposer]]
    check: Callable[[Any], None] | None = None
