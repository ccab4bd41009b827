"""Every strategy on a bank worked by hand, by exact rules alone and with a model that is scripted."""

from __future__ import annotations

import asyncio

import pytest
import reading_bank as bank
from peirce.graphs.inference import Predicted, Reading, predict
from peirce.graphs.inference.scores import accuracy, macro_f1


def predicted(name: str, one: Reading, inputs: object = None) -> Predicted:
    return asyncio.run(predict(name, one, bank.INPUTS if inputs is None else inputs))


# B is the most accurate. r2 and r5: B does not apply, the majority of the shown rows is deny.
# multi: log-odds of (right + 1) / (10 + 2): A ln(7/5) = .336, B ln(9/3) = 1.099, C ln(8/4) = .693,
# D 0 (below chance, and the bank does not say where it applied). r0: grant A + B; r1: grant A + C 1.030 < deny B 1.099; r2: grant C; r3: grant A + D .336 < deny B; r4: deny A + B
# 1.435 > grant C; r5: D alone, whose weight 0 counts as 1: grant.
@pytest.mark.parametrize(
    ("name", "codes", "right", "f1"),
    [
        ("best", [1, 0, 0, 0, 0, 0], 4 / 6, (2 * 3 / 8 + 2 * 1 / 4) / 2),
        ("multi", [1, 0, 1, 0, 0, 1], 4 / 6, (2 * 2 / 6 + 2 * 2 / 6) / 2),
    ],
)
def test_exact_rules_alone_give_hand_worked_values(
    name: str, codes: list[int], right: float, f1: float
) -> None:
    got = predicted(name, bank.reading())
    assert got.codes == codes
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(right)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx(f1)


def test_multi_asks_one_prompt_a_row_that_lists_the_whole_bank() -> None:
    said = {f"many|A+B+C+D|r{i}": f"Final answer: {'grant' if i < 4 else 'deny'}" for i in range(5)}
    model = bank.Model(said)
    got = predicted("multi", bank.reading(ask=model))
    assert got.codes == [1, 1, 1, 1, 0, -2]
    assert got.counts == {"model": 5, "unreadable": 1}
    assert sorted(place for _, place, _ in model.asked) == [f"multi/{i}" for i in range(6)]
    assert accuracy(got.codes, bank.GOLD) == pytest.approx(4 / 6)
    assert macro_f1(got.codes, bank.GOLD) == pytest.approx((2 * 1 / 4 + 2 * 3 / 7) / 2)
