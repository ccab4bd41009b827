"""A training's tokens are those that a session's model was asked, for templates that behave like those
of Qwen2.5, Qwen3, Llama 3.2, Gemma 3, the distillations of R1, gpt-oss and Command A, and for one
with marks of its own. What follows up to the
answer is what the family writes where there is no reasoning, and it is not trained. Lengths agree.
Skipped where the extra `train` is absent.

Internals: the tokens of a training's pairs are compared with those of a proposer.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from model_families import FAMILIES, make_family_model
from tiny_model import require
from tiny_pairs import make_table

require("trl", "datasets")
from peirce.agents import open_model  # noqa: E402
from peirce.records import PROMPT_DIGEST, InputSet, View, digest_prompt  # noqa: E402
from peirce.training import find_base  # noqa: E402
from peirce.training.dpo import TrainConfig  # noqa: E402
from peirce.training.dpo.models import load_base, open_wording  # noqa: E402
from peirce.training.dpo.pair_tokens import PairTokens  # noqa: E402
from peirce.training.pairs import ModelText  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402
from trl.trainer.dpo_trainer import DataCollatorForPreference  # noqa: E402

VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))
INSTRUCTIONS = {"role": "system", "content": "You find rules.\n"}


def table_of_prompts():
    """Pairs whose prompts have one turn, instructions and a turn, or an earlier answer in between."""
    table = make_table(problems=6)
    prompts = []
    for number, (asked,) in enumerate(table.prompts):
        again = ({"role": "assistant", "content": "<think>no</think>an answer"}, asked)
        prompts.append(((asked,), (INSTRUCTIONS, asked), (INSTRUCTIONS, asked, *again))[number % 3])
    odd = ["\n\nb", " a", *table.answers[2:]]  # may merge with the text before them
    return replace(table, prompts=prompts, answers=odd).with_digest()


TABLE = table_of_prompts()


@pytest.fixture(scope="module", params=list(FAMILIES))
def family(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("family") / "model"
    return FAMILIES[request.param], make_family_model(folder, request.param)


@pytest.fixture(scope="module")
def trained(family):
    """The tokens of a training, as `train` opens them."""
    kind, folder = family
    settings = TrainConfig.from_mapping({"device": "cpu"})
    opened = load_base(find_base(str(folder)), settings, "cpu", kind.variables)
    tokens = PairTokens(TABLE, opened.wording, opened.end, 4_096)
    assert tokens.select_fitting(range(len(TABLE)), len(TABLE)) == list(range(len(TABLE)))
    return tokens


def apply_template(kind, folder, messages):
    """The ids of a prompt as transformers itself makes them."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return tokenizer.apply_chat_template(
        list(messages), add_generation_prompt=True, return_dict=False, **kind.variables
    )


def ask_session_model(folder, kind, prompts):
    """The digests of the prompts' tokens that a model in a session recorded with its replies."""

    async def work():
        variables = {"model_args": dict(kind.variables)} if kind.variables else {}
        proposer = await open_model(f"hf:{folder}", {"max_tokens": 2, **variables})
        try:
            replies = [await proposer.propose(VIEW, one, (), 1) for one in prompts]
        finally:
            await proposer.close()
        return [reply.meta[PROMPT_DIGEST] for reply in replies]

    return asyncio.run(work())


def test_a_training_s_prompt_is_the_session_s_prompt_and_what_precedes_an_answer(family, trained):
    kind, folder = family
    tokenizer = AutoTokenizer.from_pretrained(folder)
    asked = ask_session_model(folder, kind, TABLE.prompts)
    for pair in range(len(TABLE)):
        place = int(TABLE.prompt[pair])
        prompt = apply_template(kind, folder, TABLE.prompts[place])
        ids = trained[pair]["prompt_ids"]
        assert digest_prompt(prompt) == asked[place]
        assert ids[: len(prompt)] == prompt
        assert tokenizer.decode(ids[len(prompt) :]) == kind.lead


def test_loss_begins_at_the_answer_and_ends_with_the_family_s_end(family, trained):
    kind, folder = family
    tokenizer = AutoTokenizer.from_pretrained(folder)
    examples = [trained[pair] for pair in range(len(TABLE))]
    batch = DataCollatorForPreference(pad_token_id=0)(examples)
    texts = [TABLE.texts(pair) for pair in range(len(TABLE))]
    answers = [better for _, better, _ in texts] + [worse for _, _, worse in texts]
    assert len(batch["input_ids"]) == len(answers)
    for ids, mask, answer in zip(
        batch["input_ids"].tolist(), batch["completion_mask"].tolist(), answers, strict=True
    ):
        learnt = [one for one, bit in zip(ids, mask, strict=True) if bit]
        assert tokenizer.decode(learnt) == answer + kind.end
        before = tokenizer.decode(ids[: mask.index(1)])
        assert before.endswith(kind.lead) and before.count("<think>") == before.count("</think>")


def test_lengths_are_those_of_the_training(family, trained):
    kind, folder = family
    text = ModelText(folder, kind.variables)
    examples = [trained[pair] for pair in range(len(TABLE))]
    prompts = dict(zip(TABLE.prompt.tolist(), (one["prompt_ids"] for one in examples), strict=True))
    answers = {
        int(place): one[f"{name}_ids"]
        for name in ("chosen", "rejected")
        for place, one in zip(getattr(TABLE, name), examples, strict=True)
    }
    assert text.count_prompt_tokens([TABLE.prompts[place] for place in prompts]) == [
        len(ids) for ids in prompts.values()
    ]
    assert text.count_answer_tokens([TABLE.answers[place] for place in answers]) == [
        len(ids) for ids in answers.values()
    ]


def test_a_plain_prompt_ends_where_the_answer_begins(family):
    kind, folder = family
    text = ModelText(folder, kind.variables)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for messages in TABLE.prompts[:3]:
        prompt = tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=True, tokenize=False, **kind.variables
        )
        assert text.render_prompt(messages) == prompt + kind.lead


def test_the_families_that_write_a_date_are_known(family):
    kind, folder = family
    settings = TrainConfig.from_mapping({"device": "cpu"})
    words = open_wording(find_base(str(folder)), None, settings, kind.variables)
    assert words.writes_date() is words.writes_date(("system", "user")) is kind.writes_date
