"""Arrays as JSON values, for requests and replies of worker processes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import Json


def array_to_json(array: NDArray[Any]) -> Json:
    """Return an array of booleans or numbers as [type, shape, bytes in base64]."""
    return [array.dtype.str, list(array.shape), base64.b64encode(array.tobytes()).decode()]


def array_from_json(value: Json) -> NDArray[Any]:
    """Return the array that `array_to_json` converted; it may be written to."""
    kind, shape, data = value
    return np.frombuffer(base64.b64decode(data), np.dtype(kind)).reshape(shape).copy()
