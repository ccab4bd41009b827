"""The implementation of attention is recorded, and one that cannot be used is refused.

Internals: FlashAttention needs a GPU, so the choice is tested without a training.
"""

from __future__ import annotations

import json

import pytest
from tiny_model import make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
from peirce.records import UsageError  # noqa: E402
from peirce.training.dpo import (  # noqa: E402
    ListLog,
    TrainConfig,
    models,
    train,
)

SETTINGS = {
    "examples": 8,
    "period": 8,
    "batch": 8,
    "probe_pairs": 4,
    "lora_rank": 2,
    "device": "cpu",
}


@pytest.mark.parametrize(("attention", "used"), [("auto", "sdpa"), ("eager", "eager")])
def test_the_record_says_which_attention_was_used(tmp_path, attention, used):
    base = make_model(tmp_path / "base", num_hidden_layers=1)
    settings = TrainConfig.from_mapping({**SETTINGS, "attention": attention})
    train(str(base), make_table(), settings, tmp_path / "out", ListLog())
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (record["attention"], record["processes"]) == (used, 1)


def test_flash_attention_is_refused_where_it_cannot_run(monkeypatch):
    flash = TrainConfig.from_mapping({"attention": "flash_attention_2"})
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs the package flash-attn"):
        models.find_attention(flash, "cuda")
    monkeypatch.setattr(models, "find_spec", lambda name: name)
    with pytest.raises(UsageError, match="needs a GPU"):
        models.find_attention(flash, "cpu")
    assert models.find_attention(flash, "cuda") == "flash_attention_2"
    assert models.find_attention(TrainConfig(), "cuda") is None


def test_the_base_is_not_in_4_bits_by_default_with_fsdp2(monkeypatch):
    assert models.loads_in_4bit(TrainConfig(), "cuda")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    assert not models.loads_in_4bit(TrainConfig(), "cuda")
