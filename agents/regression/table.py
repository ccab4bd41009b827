"""What the proposer and its processes share: the limits, and the types of the tables."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

GRACE_S = 5.0  # in which a process ends its search and translates its laws


class Untranslatable(Exception):
    """Raised for a model of a package that is no formula, or is longer than one may be."""
