"""What `peirce pairs --format hf` writes is what TRL's own DPOTrainer takes, in both forms, and the two
forms are one set to it. Skipped where the extra `train` is absent."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from peirce.training.pairs import ModelText, export
from tiny_model import make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
import datasets  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402
from trl import DPOConfig, DPOTrainer  # noqa: E402

TABLE = make_table(6)


class Quiet(DPOTrainer):  # type: ignore[misc]
    def _send_telemetry(self) -> None:
        return None


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "base", initializer_range=0.02)


def trained(base: Path, folder: Path) -> tuple[DPOTrainer, list[float]]:
    """One update by TRL on the training split as `datasets` loads it, and the losses it logs."""
    rows = datasets.load_dataset(str(folder), split="train", cache_dir=str(folder / "cache"))
    args = DPOConfig(output_dir=str(folder / "out"), use_cpu=True, bf16=False, max_steps=1,
                     per_device_train_batch_size=4, learning_rate=1e-3, logging_steps=1, seed=0,
                     gradient_checkpointing=False, save_strategy="no", report_to=[],
                     disable_tqdm=True)  # fmt: skip
    trainer = Quiet(
        model=AutoModelForCausalLM.from_pretrained(base, dtype="float32"), args=args,
        train_dataset=rows, processing_class=AutoTokenizer.from_pretrained(base),
    )  # fmt: skip
    trainer.train()
    return trainer, [one["loss"] for one in trainer.state.log_history if "loss" in one]


def test_trl_trains_on_an_exported_set_in_both_forms(base: Path, tmp_path: Path) -> None:
    export(TABLE, tmp_path / "turns", "hf")
    export(TABLE, tmp_path / "texts", "hf", ModelText(base).render_prompt)
    (turns, first), (texts, second) = (trained(base, tmp_path / n) for n in ("turns", "texts"))
    assert (
        len(turns.train_dataset) == len(texts.train_dataset) == len(TABLE.positions(split="train"))
    )
    for losses in (first, second):
        assert losses == [pytest.approx(math.log(2), abs=1e-6)]
    tokenizer = AutoTokenizer.from_pretrained(base)
    for one, other in zip(turns.train_dataset, texts.train_dataset, strict=True):
        assert one["prompt_ids"] == other["prompt_ids"]
        for name in ("chosen_ids", "rejected_ids"):
            # The chat template has a line break behind the end of a turn, and TRL trains on it.
            assert other[name][-1] == tokenizer.eos_token_id
            assert one[name][: len(other[name])] == other[name]
            assert tokenizer.decode(one[name][len(other[name]) :]).strip() == ""
