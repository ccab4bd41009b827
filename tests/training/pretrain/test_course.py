"""In which numbers a pretraining multiplies, and how its learning rate goes.

Internals: the learning rate is read by the step, without a model.
"""

from __future__ import annotations

from types import MappingProxyType

import pytest

torch = pytest.importorskip("torch")

from peirce.training.pretrain import run  # noqa: E402

NONE = {"avx2": True, "avx512_f": True, "amx_bf16": False, "avx512_bf16": False}


@pytest.mark.parametrize(
    ("told", "halves"),
    [(NONE, False), (NONE | {"amx_bf16": True}, True), (NONE | {"avx512_bf16": True}, True),
     ({"neon": True, "bf16": True}, True), ({"neon": True}, False)],
)  # fmt: skip
def test_a_processor_multiplies_halves_where_it_has_instructions_for_them(
    monkeypatch, told, halves
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: MappingProxyType(told))
    assert run.supports_bfloat16("cpu") is halves
    assert not run.supports_bfloat16("mps")


def test_the_learning_rate_rises_over_the_warmup_and_falls_to_a_twentieth() -> None:
    share = [run.learning_rate_factor(n / 100, 0.1) for n in range(101)]
    assert share[0] == pytest.approx(0.01) and share[100] == pytest.approx(0.05)
    assert share[:11] == sorted(share[:11]) and share[10:] == sorted(share[10:], reverse=True)
    assert max(share) > 0.95
    assert share[50] == pytest.approx((1 + 0.05) / 2)
