"""The base class of training settings, whose values come from flags, YAML files or records."""

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
    except OverflowError:  # an integer beyond the range of floats
        return math.inf


READS_NUMBER = BeforeValidator(
    _read_number
)  # a number that may be a string: YAML 1.1 reads 1e-5 as one
Real: TypeAlias = Annotated[float, BeforeValidator(_read_float)]  # an integer becomes a float


class TrainingSettings(Settings):
    """Settings whose error messages show values as they are written in YAML."""

    @field_validator("seed", check_fields=False)
    @classmethod
    def _is_a_seed(cls, value: int) -> int:
        if not 0 <= value < 2**32:  # transformers seeds numpy's generator, which takes this range
            raise ValueError(f"seed is {value}: it must be from 0 to below 2**32")
        return value

    @classmethod
    def describe_error(cls, error: ErrorDetails, data: Any) -> str:
        """Return one sentence that explains why a value is invalid."""
        said = super().describe_error(error, {}).removesuffix(" or None")
        return said.replace("True or False", "true or false")

    def to_record(self) -> dict[str, Json]:
        """Return the settings as a JSON object, which YAML files can contain as well."""
        return self.to_dict()
