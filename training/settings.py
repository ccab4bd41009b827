"""The base of the settings of a training, which flags, YAML files and records hold."""

from __future__ import annotations

import contextlib
import math
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, field_validator
from pydantic_core import ErrorDetails

from ..records import Json
from ..records.settings import Settings


def _read_number(value: Any) -> Any:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return float(value)
    return value


def _read_float(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        return _read_number(value)
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the floats
        return math.inf


READ = BeforeValidator(_read_number)  # a number that may be a text: YAML 1.1 reads 1e-5 as one
Real: TypeAlias = Annotated[float, BeforeValidator(_read_float)]  # a whole number becomes a float


class TrainingSettings(Settings):
    """Says true and false as YAML does, and a number as it was read."""

    @field_validator("seed", check_fields=False)
    @classmethod
    def _is_a_seed(cls, value: int) -> int:
        if not 0 <= value < 2**32:  # what numpy's generator takes, whose seed transformers sets
            raise ValueError(f"seed is {value}: it must be from 0 to below 2**32")
        return value

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        said = super().describe_error(error, {}).removesuffix(" or None")
        return said.replace("True or False", "true or false")

    def record(self) -> dict[str, Json]:
        """As JSON and YAML hold them."""
        return self.to_dict()
