"""Agreement of raters against values worked by hand.

Internals: the agreement of raters is a pure function that reports call.
"""

from __future__ import annotations

import pytest
from peirce.tools.discovery.scores import agreement

YES_NO = (0.0, 1.0)
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def test_kappa_is_that_worked_by_hand() -> None:
    # 20 both yes, 15 both no, 5 and 10 apart: the same .7, by chance .25 * ... = .5.
    one = [1.0] * 20 + [1.0] * 5 + [0.0] * 10 + [0.0] * 15
    other = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    found = agreement(one, other, YES_NO)
    assert (found.n, found.same, found.near) == (50, 0.7, 1.0)
    assert found.kappa == found.weighted == pytest.approx((0.7 - 0.5) / 0.5)


def test_weighted_kappa_is_that_worked_by_hand() -> None:
    one, other = [0, 0.5, 1, 1], [0.25, 0.5, 0, 1]
    # Squares of the distances in points: 1, 0, 16, 0, so 17/4 on average. By chance each of
    # (0, 2, 4, 4) with each of (1, 2, 0, 4): 1+4+0+16, 1+0+4+4, 9+4+16+0 twice: 88/16.
    # Plain distances: (1 + 0 + 4 + 0)/4 and (1+2+0+4, 1+0+2+2, 3+2+4+0 twice: 30)/16.
    found = agreement(one, other, QUARTERS)
    assert found.weighted == pytest.approx(1 - (17 / 4) / (88 / 16))
    assert found.weighted_linear == pytest.approx(1 - (5 / 4) / (30 / 16))
    assert (found.same, found.near) == (0.5, 0.75)
    # Alike on 2 of 4; by chance on (0: 1*1, .5: 1*1, 1: 2*1)/16.
    assert found.kappa == pytest.approx((0.5 - 0.25) / 0.75)


def test_a_missing_rating_leaves_its_item_out() -> None:
    found = agreement([1, None, 0, 1], [1, 1, None, 0], YES_NO)
    assert (found.n, found.same) == (2, 0.5)
    assert agreement([None], [1], YES_NO).kappa is None


def test_raters_who_always_say_one_thing_have_no_kappa() -> None:
    found = agreement([1, 1], [1, 1], YES_NO)
    assert (found.same, found.kappa, found.weighted) == (1.0, None, None)


def test_a_rating_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.6 is no point"):
        agreement([0.6], [1], QUARTERS)
