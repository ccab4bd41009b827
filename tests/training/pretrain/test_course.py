"""In which numbers a pretraining multiplies."""

from __future__ import annotations

from types import MappingProxyType

import pytest

torch = pytest.importorskip("torch")

from peirce.training.pretrain import course  # noqa: E402

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
    assert course.multiplies_halves("cpu") is halves
    assert not course.multiplies_halves("mps")
