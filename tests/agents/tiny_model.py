"""A tiny Qwen2 that a test makes itself, with a tokenizer trained in process, a chat template and a
LoRA adapter that changes what it says. Its answers are nonsense, and always the same."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

NEEDED = ("torch", "transformers", "peft", "accelerate")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXTS = [
    "def f(xs):\n    return sorted(xs)[::-1]\n",
    "Return the elements of the list in reverse order, without the first one.",
    "The input is a list of integers: [1, 2, 3, 44, 57] and the output is [3, 2, 1].",
    "a question, an answer, a hypothesis and a function of one argument that explains the data",
    'user system assistant tool <think> {"name": "execute", "arguments": {"code": "x"}}',
]


def require(*more: str) -> None:
    """Skips, loudly, where the packages of the extras `local` (and `more`) are absent."""
    absent = [name for name in (*NEEDED, *more) if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(
            f"NO LOCAL MODELS HERE: {', '.join(absent)} absent; make test EXTRAS=test,local,serve",
            allow_module_level=True,
        )


def make_model(folder: Path, template: str | None = TEMPLATE, seed: int = 1, **config) -> Path:
    """Writes model and tokenizer. The weights are drawn wide, so that logits lie far apart."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(TEXTS * 4, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = template
    settings = {"vocab_size": len(tokenizer), "hidden_size": 64, "intermediate_size": 128,
                "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
                "max_position_embeddings": 2048, "initializer_range": 0.3,
                "eos_token_id": 2, "bos_token_id": None, "pad_token_id": 0}  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen2ForCausalLM(Qwen2Config(**{**settings, **config}))
    model.lm_head.weight.data[:2] = 0.0  # servers differ in how they show other special tokens
    model.generation_config.eos_token_id = [2, 0]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_short_model(folder: Path, base: Path, positions: int) -> Path:
    """Writes a tiny GPT-2 with the tokenizer of `base`, whose learned positions end after so many."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    tokenizer = AutoTokenizer.from_pretrained(base)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=positions, n_embd=32, n_layer=2, n_head=2,
        eos_token_id=2, bos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def with_adapter(folder: Path, base: Path, adapter: Path) -> Path:
    """Copies a model and its adapter into one folder, as servers take them."""
    for source in (base, adapter):
        shutil.copytree(source, folder, dirs_exist_ok=True)
    return folder


def make_adapter(folder: Path, base: Path, seed: int = 8) -> Path:
    """Writes a LoRA adapter whose B is not zero, so that it does something."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    config = LoraConfig(r=4, lora_alpha=16, target_modules=["q_proj", "v_proj", "down_proj"],
                        task_type="CAUSAL_LM")  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(base), config)
        for name, weights in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weights, std=0.3)
    model.save_pretrained(folder)
    return folder


def edit_json(path: Path, **fields) -> None:
    """Sets fields of a JSON file; None takes one away."""
    told = json.loads(path.read_text()) | fields
    path.write_text(json.dumps({key: value for key, value in told.items() if value is not None}))
