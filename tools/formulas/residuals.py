"""The description length of the residuals of a law.

Residuals are encoded as normally distributed numbers (Rissanen, 1978) or, if this is shorter, as numbers
with Student's t distribution, whose tails are heavy. In the first code, a law that fits one outlier by
chance saves bits in every row, so that laws would be found in noise with outliers. In the second code, it
saves the bits of one row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .evaluation import Floats

LEAST_RESIDUAL = 2.0**-52  # of the target's spread: no smaller residual tells two laws apart
UNDEFINED_RESIDUAL = 4.0  # of the target's spread, in a row in which a law is undefined
DENSITIES = {1: 1 / math.pi, 2: 8**-0.5, 4: 0.375}  # of t distributions at 0, by degrees of freedom
TAIL_BITS = 4.0  # to say that the tails are heavy, and how heavy
SCALE_STEPS = 20
DIGITS = 6  # of the bits; further digits differ between processors


def residual_bits(residuals: Sequence[float] | Floats, spread: float, least: float = 0.0) -> float:
    """Return the bits that the residuals of a law take, beyond those of the target itself.

    For normally distributed residuals, they are n / 2 * log2(mean squared residual / squared spread). The
    result is negative for a law that predicts better than the mean.

    Args:
        residuals: The n residuals; one that is not finite counts as `UNDEFINED_RESIDUAL` spreads.
        spread: The standard deviation of the target, above 0.
        least: The smallest root mean square that counts, in the unit of the target.
    """
    floor = max(least, LEAST_RESIDUAL * spread)
    sizes = np.abs(np.asarray(residuals, np.float64))
    sizes = np.where(np.isfinite(sizes), sizes, UNDEFINED_RESIDUAL * spread)
    unit = float(
        np.max(sizes, initial=floor)
    )  # squares of shares of it neither overflow nor vanish
    root = unit * math.sqrt(float(np.sum((sizes / unit) ** 2)) / max(len(sizes), 1))
    bits = len(sizes) * math.log2(max(root, floor) / spread)
    if root > floor:
        shares = np.maximum(sizes, floor) / unit
        own = len(sizes) * math.log2(unit / spread)
        bits = min(bits, *(own + _tail_bits(shares, freedom) for freedom in DENSITIES))
    return round(bits, DIGITS)


def _tail_bits(sizes: Floats, freedom: int) -> float:
    """Return the bits of residuals with a t distribution, beyond those of normally distributed
    numbers of standard deviation 1. The scale of the distribution is the likeliest one.
    """
    squares = sizes**2
    scale = float(np.median(squares))  # its square, improved by expectation and maximisation
    for _ in range(SCALE_STEPS):
        scale = float(np.mean((freedom + 1) * squares / (freedom + squares / scale)))
    peak = math.log2(DENSITIES[freedom]) + math.log2(2 * math.pi * math.e) / 2
    tails = (freedom + 1) / 2 * float(np.sum(np.log2(1 + squares / (freedom * scale))))
    return TAIL_BITS + len(sizes) * (math.log2(scale) / 2 - peak) + tails
