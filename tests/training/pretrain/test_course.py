"""In which numbers a pretraining multiplies."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace

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


@pytest.mark.parametrize("halves", [False, True])
def test_the_default_goes_by_the_hardware(monkeypatch, halves) -> None:
    asked, enabled = [], []

    class Seen(Exception):
        pass

    class Autocast:
        def __init__(self, device, dtype, enabled):
            self.told = (device, dtype, enabled)

        def __enter__(self):
            enabled.append(self.told)
            raise Seen

        def __exit__(self, *told):
            return False

    monkeypatch.setattr(course, "multiplies_halves", lambda device: asked.append(device) or halves)
    monkeypatch.setattr(torch, "autocast", Autocast)
    model = torch.nn.Linear(4, 4)
    model.device, model.get_output_embeddings = torch.device("cpu"), lambda: None
    row = SimpleNamespace(weights=torch.ones(1, 1).numpy())
    with pytest.raises(Seen):
        course.learn(model, iter([row]), course.Pace(tokens=10))
    assert asked == ["cpu"] and enabled == [("cpu", torch.bfloat16, halves)]
