"""The tokenizer of a small proposer: byte-level BPE, trained on its own examples.

Digits that make a number from 0 to 99 are one token, alone or behind a blank; the digits of larger
numbers and of the rows of a grid (`012/345`) are a token each, and so is a line break. Names that
the caller gives, such as the objects of scenes, are one token too. Everything else is left to the
merges, over blanks too, so that a phrase or the beginning of a function that stands in many answers
becomes one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

END, PAD, USER, ASSISTANT = "<|end|>", "<|pad|>", "<|user|>", "<|assistant|>"
PIECES = r"\n| \d{1,2}(?![\d/])|(?<![\d/])\d{1,2}(?![\d/])|\d"
OFTEN = (
    20_000  # how often each number or name is shown to the merges, beside what the examples hold
)
TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}"
    f"{{{{ '{ASSISTANT}' + message['content'] + '{END}' }}}}"
    "{% else %}"
    f"{{{{ '{USER}' + message['content'] }}}}"
    "{% endif %}"
    "{% endfor %}"
    f"{{% if add_generation_prompt %}}{{{{ '{ASSISTANT}' }}}}{{% endif %}}"
)


def train(
    texts: Iterable[str], names: Sequence[str], vocabulary: int, context: int
) -> PreTrainedTokenizerFast:
    """A tokenizer with a chat template. names: texts of one token each. vocabulary: entries, at
    least 600 and room for the names. context: tokens that its model holds."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    longest = sorted(names, key=len, reverse=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex("|".join([*map(re.escape, longest), PIECES])), "isolated"),
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
        chat_template=TEMPLATE,
        model_max_length=context,
        clean_up_tokenization_spaces=False,
        padding_side="left",
    )


def _often(names: Sequence[str]) -> Iterable[str]:
    """Each number and name so often that it becomes a token before the phrases do."""
    for number in range(100):
        yield f" {number}" * OFTEN
        yield f"{number}\n" * OFTEN
    for name in names:
        yield f"{name}\n" * OFTEN
