"""One DPO training of a 7-billion-parameter model on one GPU: memory, and seconds an update.

    python bench/train_large.py [--updates N] [--device-batch N] [--tokens N] [--folder DIR]
        [--json FILE]

The model has the sizes of Qwen2.5-7B and random weights; it is written to a folder (15 GB) and then
loaded in 4 bits (NF4) with a LoRA adapter of rank 128 on all linear layers, batches of 32 pairs and
activations computed again, as `peirce train` does by default. It needs a GPU, and says so where none
is; `--tiny` goes the same way on a CPU with a model of some thousand weights, which measures nothing
and shows that the way is open.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from peirce.training.base_models import INSTALL, PACKAGES
from peirce.training.dpo.progress import ListLog, Progress
from peirce.training.dpo.run import train
from peirce.training.dpo.settings import TrainConfig
from peirce.training.pair_table import PairTable
from table import Row, add_json_option, write_rows, write_skipped

SEVEN_BILLION = {"vocab_size": 152_064, "hidden_size": 3_584, "intermediate_size": 18_944,
                 "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4}  # fmt: skip
TINY = {"vocab_size": 512, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2}  # fmt: skip
WORDS = 200  # of the tokenizer: which words a text has says nothing of memory or time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--updates", type=int, default=5)
    parser.add_argument("--device-batch", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=700, help="of a prompt; an answer has 150")
    parser.add_argument("--folder", type=Path, help="where the model is written, or lies already")
    parser.add_argument("--tiny", action="store_true")
    add_json_option(parser)
    asked = parser.parse_args()

    absent = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        write_skipped(asked.json, f"it needs {', '.join(absent)}: {INSTALL}")
        return
    import torch

    if not torch.cuda.is_available() and not asked.tiny:
        why = "it needs a GPU, and there is none here; --tiny goes the same way without one"
        write_skipped(asked.json, why)
        return
    with tempfile.TemporaryDirectory() as place:
        base = asked.folder or Path(place) / "base"
        if not (base / "config.json").is_file():
            make_base(base, TINY if asked.tiny else SEVEN_BILLION)
        settings = TrainConfig.from_mapping({
            "examples": 32 * asked.updates, "period": 32 * asked.updates, "schedule": "fixed",
            "device_batch": asked.device_batch, "probe_pairs": 8, "four_bit": True, "recompute": True,
            **({"device": "cpu", "lora_rank": 8} if asked.tiny else {}),
        })  # fmt: skip
        found = measured(base, settings, Path(place) / "out", asked.tokens)
        print(json.dumps(found, indent=1))
        work = f"an update of {found['weights']:,} weights in 4 bits, {found['device']}"
        figures = (
            (work, found["seconds_an_update"], "s"),
            (f"{work}, most memory", found["peak_memory_gib"], "GiB"),
        )
        rows = [Row(name, value, unit) for name, value, unit in figures if value is not None]
        write_rows(asked.json, rows)


def measured(base: Path, settings: TrainConfig, out: Path, tokens: int) -> dict[str, Any]:
    import torch

    times: list[float] = []

    def progress(told: Progress) -> None:
        if told.phase == "train" and told.train_loss is not None and told.examples:
            times.append(time.perf_counter())

    began, log = time.perf_counter(), ListLog()
    train(str(base), make_pairs(40, tokens), settings, out, log, progress=progress)
    steps = np.diff(times)[: settings.updates - 1]
    gpu = torch.cuda.is_available() and settings.device != "cpu"
    return {
        "device": torch.cuda.get_device_name() if gpu else "cpu",
        "weights": json.loads((base / "size.json").read_text())["weights"],
        "lora_rank": settings.lora_rank,
        "pairs_an_update": settings.batch,
        "pairs_at_once": settings.device_batch,
        "tokens_a_sequence": tokens + 150,
        "seconds_an_update": round(float(np.median(steps)), 3) if len(steps) else None,
        "peak_memory_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2) if gpu else None,
        "seconds_in_all": round(time.perf_counter() - began, 1),
        "train_loss": [value for _, value in log.curve("", "train_loss")],
    }


def make_pairs(problems: int, tokens: int) -> PairTable:
    """One pair of each stage a problem, every fourth problem for validation; texts of random words."""
    draw = np.random.default_rng(0)

    def words(count: int) -> str:
        return " ".join(f"w{one}" for one in draw.integers(0, WORDS, count))

    prompts = [({"role": "user", "content": words(tokens)},) for _ in range(problems)]
    answers = [words(150) for _ in range(6 * problems)]
    each = np.arange(3 * problems, dtype=np.int32)
    return PairTable(
        prompts=prompts, prompt_task=["made"] * problems, prompt_context=[0] * problems,
        prompt_problem=[str(one) for one in range(problems)], answers=answers,
        prompt_split=["validation" if one % 4 == 3 else "train" for one in range(problems)],
        answer_model=["made"] * len(answers), prompt=each // 3, chosen=2 * each,
        rejected=2 * each + 1, stage=(each % 3).astype(np.int8), digest="", settings={},
    ).with_digest()  # fmt: skip


def make_base(folder: Path, sizes: dict[str, int]) -> None:
    """Random weights in bfloat16, in shards, and a tokenizer of made words with a chat template."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(**sizes, max_position_embeddings=4_096, eos_token_id=1, pad_token_id=0,
                         bos_token_id=None, tie_word_embeddings=False)  # fmt: skip
    kind, device = torch.get_default_dtype(), "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            model = Qwen2ForCausalLM(config)
    finally:
        torch.set_default_dtype(kind)
    model.save_pretrained(folder, max_shard_size="4GB")
    (folder / "size.json").write_text(json.dumps({"weights": model.num_parameters()}))
    del model
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    marks = ["<pad>", "<end>", "<user>", "<assistant>", "<unknown>"]
    known = [
        *marks,
        *(f"w{one}" for one in range(WORDS)),
        *["A", "question", ",", "1", "2", "3", "?"],
    ]
    table = {word: place for place, word in enumerate(dict.fromkeys(known))}
    raw = Tokenizer(models.WordLevel(table, unk_token="<unknown>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", pad_token="<pad>",
                                        additional_special_tokens=marks[2:4])  # fmt: skip
    tokenizer.chat_template = (
        "{% for m in messages %}<{{ m.role }}> {{ m.content }} <end> {% endfor %}"
        "{% if add_generation_prompt %}<assistant> {% endif %}"
    )
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
