"""Build small decoder models with random weights, and train their tokenizer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .settings import SIZES

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


def build_model(
    architecture: str, size: str, tokenizer: Any, names: Sequence[str], context: int, seed: int
) -> Any:
    """Return an untrained model on the CPU, in float32, with tied embeddings.

    Args:
        architecture: One of `settings.ARCHITECTURES`.
        size: A key of `settings.SIZES`.
        tokenizer: The tokenizer of the model.
        names: The texts that have a token of their own. The embedding of a name with several words
            starts close to the embeddings of these words.
        context: The context length in tokens.
        seed: The seed of the random weights.
    """
    import torch
    from transformers import AutoModelForCausalLM, GPTNeoXConfig, LlamaConfig

    hidden, between, layers, heads = SIZES[size][:4]
    shared: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "max_position_embeddings": context,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    config: Any
    if architecture == "llama":
        config = LlamaConfig(intermediate_size=between, num_key_value_heads=heads, **shared)
    else:
        config = GPTNeoXConfig(
            intermediate_size=4 * hidden,
            rotary_pct=0.5,
            use_parallel_residual=False,
            attention_dropout=0.0,
            hidden_dropout=0.0,
            **shared,
        )
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    _numbers_alike(model, tokenizer)
    _names_alike(model, tokenizer, names)
    model.generation_config.do_sample = True
    model.generation_config.temperature = 1.0
    model.generation_config.top_k = 0
    model.generation_config.top_p = 1.0
    return model


def _numbers_alike(model: Any, tokenizer: Any) -> None:
    """Initialise embeddings of numbers by value and remainders.

    A number after a blank has the same starting features as the number itself.
    """
    import torch

    weights = model.get_input_embeddings().weight
    width = weights.shape[1]
    generator = torch.Generator().manual_seed(1)
    features = torch.stack([torch.tensor(_features(value)) for value in range(100)])
    features = features - features.mean(dim=0)
    mixed = features @ torch.randn(features.shape[1], width, generator=generator)
    scale = weights.std()
    mixed = mixed / mixed.std() * scale
    with torch.no_grad():
        for value in range(100):
            for text in (str(value), f" {value}"):
                (token,) = tokenizer(text, add_special_tokens=False)["input_ids"]
                weights[token] = 0.8 * mixed[value] + 0.6 * weights[token]


def _names_alike(model: Any, tokenizer: Any, names: Sequence[str]) -> None:
    """Initialise embeddings of names with several words near those of their words."""
    import torch

    weights = model.get_input_embeddings().weight
    with torch.no_grad():
        for name in names:
            words = name.split()
            if len(words) < 2:
                continue
            (token, *_), *parts = (
                tokenizer(text, add_special_tokens=False)["input_ids"] for text in (name, *words)
            )
            mixed = sum(weights[part[0]] for part in parts) / math.sqrt(len(parts))
            weights[token] = 0.8 * mixed + 0.6 * weights[token]


def _features(value: int) -> list[float]:
    waves = [f(2 * math.pi * value / period) for period in (2, 3, 4, 5, 10, 20, 40, 100, 200)
             for f in (math.sin, math.cos)]  # fmt: skip
    return [*waves, 2 * value / 99 - 1, 2 * min(value, 9) / 9 - 1]


# --- The tokenizer of a small proposer: byte-level BPE, trained on its own examples.
#
# A number from 0 to 99 is one token, alone or after a blank. The digits of larger numbers and of
# the rows of a grid (`012/345`) are one token each, and so is a line break. Names from the caller,
# such as the objects of scenes, are one token too. Everything else is left to the merges, which
# cross blanks, so that a phrase or the start of a function that occurs in many answers becomes one
# token.

END, PAD, USER, ASSISTANT = "<|end|>", "<|pad|>", "<|user|>", "<|assistant|>"
TOKEN_PATTERN = r"\n| \d{1,2}(?![\d/])|(?<![\d/])\d{1,2}(?![\d/])|\d"
NAME_REPETITIONS = (
    20_000  # extra occurrences of each number and name, in addition to those in the examples
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}"
    f"{{{{ '{ASSISTANT}' + message['content'] + '{END}' }}}}"
    "{% else %}"
    f"{{{{ '{USER}' + message['content'] }}}}"
    "{% endif %}"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{{{{ '{ASSISTANT}' }}}}{{% endif %}}"
)


def train_tokenizer(
    texts: Iterable[str], names: Sequence[str], vocabulary: int, context: int
) -> PreTrainedTokenizerFast:
    """Train a tokenizer, and give it a chat template.

    Args:
        texts: The texts to train on.
        names: The texts that get a token of their own.
        vocabulary: The size of the vocabulary. It must be at least 600 and large enough for
            `names`.
        context: The context length of the model in tokens.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    longest = sorted(names, key=len, reverse=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(
                Regex("|".join([*map(re.escape, longest), TOKEN_PATTERN])), "isolated"
            ),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END, PAD, USER, ASSISTANT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*_often(names), *texts], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[USER, ASSISTANT],
        chat_template=CHAT_TEMPLATE,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )


def _often(names: Sequence[str]) -> Iterable[str]:
    """Yield numbers and names often enough to become tokens before phrases do."""
    for number in range(100):
        yield f" {number}" * NAME_REPETITIONS
        yield f"{number}\n" * NAME_REPETITIONS
    for name in names:
        yield f"{name}\n" * NAME_REPETITIONS
