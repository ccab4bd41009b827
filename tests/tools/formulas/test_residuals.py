"""The description length of residuals: its floor, and outliers, which must not make a law.

Internals: sessions show the bits of whole laws only.
"""

from __future__ import annotations

import numpy as np
from peirce.tools.formulas import residual_bits


def test_smaller_residuals_take_fewer_bits_down_to_a_floor() -> None:
    assert residual_bits([1.0, -1.0], 1.0) == 0
    assert residual_bits([0.5, -0.5], 1.0) == -2
    assert residual_bits([0.0, 0.0], 1.0) == -104
    assert residual_bits([0.0, 0.0], 1.0, least=0.25) == -4
    assert residual_bits([float("nan"), 0.0], 1.0) > 0


def test_an_outlier_that_a_law_fits_saves_the_bits_of_one_row() -> None:
    noise = np.random.default_rng(1).standard_normal(200)
    outlier = np.append(noise, 1_000.0)
    spread = float(np.std(outlier))
    saved = residual_bits(outlier, spread) - residual_bits(np.append(noise, 0.0), spread)
    assert 10 < saved < 50  # 1,000 bits and more, if all were normally distributed


def test_normally_distributed_residuals_take_the_bits_of_their_spread() -> None:
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal(200)
        spread = float(np.std(noise))
        noise -= noise.mean()
        assert -3 < residual_bits(noise, spread) <= 1e-5
        assert abs(residual_bits(noise / 8, spread) - residual_bits(noise, spread) + 600) < 1e-4


def test_bits_do_not_depend_on_the_unit() -> None:
    noise = np.random.default_rng(2).standard_t(2, 100)
    known = residual_bits(noise, 2.0)
    for unit in (2.0**-450, 2.0**450):
        assert residual_bits(noise * unit, 2.0 * unit) == known
