"""Tiny models whose chat templates and special tokens behave like those of families of models.

The templates in chat_templates/ were written for these tests. Their behaviour follows the model
cards and public descriptions of the formats, not their text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tiny_model import TEXTS, make_model

TEMPLATES = Path(__file__).parent / "chat_templates"
DATE = "02 Jan 2025"


@dataclass(frozen=True)
class ModelFamily:
    """A chat template, its special tokens, and what it writes around an answer without reasoning.

    `lead` stands between prompt and answer, and `end` after the answer. `plain_tokens` are added
    tokens that are not special, as the tags of reasoning are in most models.
    """

    template: str
    special: Sequence[str]
    end: str
    lead: str = ""
    bos: str | None = None
    plain_tokens: Sequence[str] = ()
    variables: Mapping[str, object] = field(default_factory=dict)
    writes_date: bool = False

    @property
    def source(self) -> str:
        """The text of the template."""
        return (TEMPLATES / f"{self.template}.jinja").read_text("utf-8")


CHATML = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
THINK = ("<think>", "</think>")
EMPTY_BLOCK = "<think>\n\n</think>\n\n"
LLAMA = ("<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>")
R1 = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>")
HARMONY = ("<|endoftext|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>", "<|message|>",
           "<|constrain|>", "<|end|>")  # fmt: skip
COHERE = ("<PAD>", "<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>",
          "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|START_THINKING|>", "<|END_THINKING|>",
          "<|START_RESPONSE|>", "<|END_RESPONSE|>")  # fmt: skip

FAMILIES = {
    "qwen2.5": ModelFamily("qwen2_5", CHATML, "<|im_end|>"),
    "qwen3": ModelFamily("qwen3", CHATML, "<|im_end|>", EMPTY_BLOCK, plain_tokens=THINK),
    "qwen3 without thinking": ModelFamily(
        "qwen3", CHATML, "<|im_end|>", plain_tokens=THINK, variables={"enable_thinking": False}
    ),
    "llama3.2": ModelFamily(
        "llama3_2", LLAMA, "<|eot_id|>", bos="<|begin_of_text|>", variables={"date_string": DATE}
    ),
    "llama3.2 of today": ModelFamily(
        "llama3_2", LLAMA, "<|eot_id|>", bos="<|begin_of_text|>", writes_date=True
    ),
    "gemma3": ModelFamily(
        "gemma3", ("<pad>", "<bos>", "<start_of_turn>", "<end_of_turn>"), "<end_of_turn>", bos="<bos>"
    ),
    "r1": ModelFamily("r1", R1, R1[1], "\n</think>\n\n", bos=R1[0], plain_tokens=THINK),
    "gpt-oss": ModelFamily(
        "gpt_oss", HARMONY, "<|return|>", "<|channel|>final<|message|>",
        variables={"reasoning_effort": "low"}, writes_date=True,
    ),
    "command-a": ModelFamily(
        "command_a", COHERE, COHERE[3], "<|START_THINKING|><|END_THINKING|><|START_RESPONSE|>", bos=COHERE[1]
    ),
    "command-a without reasoning": ModelFamily(
        "command_a", COHERE, COHERE[3], "<|START_RESPONSE|>", bos=COHERE[1],
        variables={"reasoning": False},
    ),
    "unknown marks": ModelFamily(
        "open_ponder", ("<pad>", "@@end"), "@@end", "\n<<settled>>\n\n", plain_tokens=("<<ponder>>",)
    ),
}  # fmt: skip


def make_family_model(folder: Path, name: str, **config) -> Path:
    """Write a tiny Qwen2 with random weights, and a tokenizer with the family's special tokens.

    The tokenizer joins line feeds, as those of Qwen do. Otherwise a lead that begins with one would
    be tokenized in the same way alone and after the prompt."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GenerationConfig, PreTrainedTokenizerFast

    family = FAMILIES[name]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=list(family.special), show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    raw.train_from_iterator(TEXTS * 4 + ["a\n\n", "\n\nb"] * 40, trainer)
    raw.add_tokens(
        [AddedToken(one, special=False, normalized=False) for one in family.plain_tokens]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token=family.bos,
        eos_token=family.end,
        pad_token=family.special[0],
    )
    tokenizer.chat_template = family.source
    assert len(tokenizer.encode("\n\n", add_special_tokens=False)) == 1
    end = tokenizer.convert_tokens_to_ids(family.end)
    vocabulary = len(tokenizer) + 4  # AutoTokenizer may add special tokens of its own
    make_model(folder, vocab_size=vocabulary, eos_token_id=end, num_hidden_layers=1, **config)
    tokenizer.save_pretrained(folder)
    GenerationConfig(
        eos_token_id=[0, end] if end else [end], pad_token_id=0, do_sample=False
    ).save_pretrained(folder)
    return folder
