"""The reference scores an answer once in a whole training, resumes included; and a pair's tokens are
what a model is asked and what it would write. Skipped where the extra `train` is absent.

Internals: the reference, the tokens of a pair and the pools are used without a training.
"""

from __future__ import annotations

import numpy as np
import pytest
from tiny_model import TEMPLATE, make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
from peirce.training import STAGES, find_base  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from peirce.training.dpo.models import load_base  # noqa: E402
from peirce.training.dpo.pair_tokens import PairTokens, answer_end_token, shuffle_pairs  # noqa: E402
from peirce.training.dpo.scoring import (  # noqa: E402
    ReferenceLogps,
    Scorer,
    draw_pools,
)
from transformers import AutoTokenizer  # noqa: E402

TABLE = make_table()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(scope="module")
def tokenizer(base):
    return AutoTokenizer.from_pretrained(base)


def wording_of(folder, **changed):
    """The form that a training gives to prompts of this model."""
    settings = TrainConfig.from_mapping({"device": "cpu", **changed})
    return load_base(find_base(str(folder)), settings, "cpu").wording


@pytest.fixture(scope="module")
def wording(base):
    return wording_of(base)


def test_the_reference_scores_no_answer_twice_over_a_stop(base, tmp_path, monkeypatch):
    scored = []
    work = Scorer.reference_logps
    monkeypatch.setattr(Scorer, "reference_logps", lambda self, keys: scored.append(list(keys)) or work(self, keys))  # fmt: skip
    told = {"examples": 32, "period": 16, "batch": 8, "probe_pairs": 4, "lora_rank": 2, "device": "cpu"}  # fmt: skip
    settings, calls = TrainConfig.from_mapping(told), []
    stop = lambda: calls.append(1) or len(calls) == 3
    train(str(base), TABLE, settings, tmp_path / "out", ListLog(), interrupt=stop)
    probe, *before = scored
    assert len(before) == 2  # of two periods; the second was begun
    scored.clear()
    train(str(base), TABLE, settings, tmp_path / "out", ListLog(), resume=True)
    assert scored == [probe]  # which no checkpoint holds; what the periods draw is known
    all_of_them = [key for keys in before for key in keys]
    assert len(set(all_of_them)) == len(all_of_them)


def test_references_come_back_to_the_last_digit():
    first = ReferenceLogps()
    first.logps = {(3, 7): -12.345678901234567, (0, 1): -1e-300}
    second = ReferenceLogps()
    second.load_arrays(*first.to_arrays())
    assert second.logps == first.logps
    empty = ReferenceLogps()
    empty.load_arrays(*ReferenceLogps().to_arrays())
    assert empty.logps == {}


def test_tokens_are_the_prompt_as_it_is_asked_then_the_answer_and_its_end(tokenizer, wording):
    tokens = PairTokens(TABLE, wording, 2, 2_048)
    pairs = TABLE.positions(None, "train")
    assert tokens.select_fitting(pairs, 10**9) == pairs.tolist()
    for pair in pairs.tolist():
        prompt, chosen, rejected = TABLE.texts(pair)
        example = tokens[pair]
        assert example["prompt_ids"] == wording.tokenize_prompt(prompt)
        for name, answer in (("chosen_ids", chosen), ("rejected_ids", rejected)):
            whole = tokenizer.decode(example["prompt_ids"] + example[name])
            assert whole == wording.render_prompt(prompt) + answer + "<|im_end|>"
        assert example.keys() == {"prompt_ids", "chosen_ids", "rejected_ids"}


def test_of_several_ends_the_one_that_the_template_writes_is_taught(
    tokenizer, wording, base, tmp_path
):
    end, text_end = (
        tokenizer.convert_tokens_to_ids(one) for one in ("<|im_end|>", "<|endoftext|>")
    )
    assert answer_end_token(wording, [text_end, end]) == end
    assert answer_end_token(wording, [text_end]) == text_end
    bare = wording_of(base, chat_template="plain")
    assert answer_end_token(bare, [text_end, end]) == text_end
    template = "{{ raise_exception('no') if messages[-1].role == 'assistant' else 'x' }}"
    silent = wording_of(make_model(tmp_path / "silent", template))
    assert answer_end_token(silent, [text_end, end]) == text_end
    assert "<|im_end|>" in TEMPLATE


def test_as_many_pairs_as_are_wanted_fit_though_long_ones_stand_between(wording):
    table = make_table(24, long=6)
    tokens = PairTokens(table, wording, 2, 300)
    order = shuffle_pairs(np.arange(len(table)), 3, "test")
    found = tokens.select_fitting(order, 50)
    assert len(found) == 50 and not tokens.too_long & set(found)
    assert found == [pair for pair in order.tolist() if pair >= 36][:50]  # six pairs a prompt
    assert tokens.too_long and max(tokens.too_long) < 36


def test_a_pool_is_drawn_by_the_seed_among_all_pairs_of_its_stage_and_split(wording):
    tokens = PairTokens(TABLE, wording, 2, 2_048)
    first, again, other = (draw_pools(TABLE, tokens, "train", 7, seed) for seed in (1, 1, 2))
    assert first == again and not tokens.too_long
    for number, stage in enumerate(STAGES):
        there = TABLE.positions(number, "train").tolist()
        assert len(set(first[stage])) == 7 and set(first[stage]) <= set(there)
        assert first[stage] != there[:7] and first[stage] != other[stage]
    assert (
        draw_pools(TABLE, tokens, "train", 10**6, 1)["gear"] != TABLE.positions(2, "train").tolist()
    )


def test_the_order_of_pairs_is_of_the_seed_and_the_purpose_and_of_nothing_else():
    pairs = np.arange(100, 400)
    first = shuffle_pairs(pairs, 1, "train/gear")
    assert first.tolist() == shuffle_pairs(pairs, 1, "train/gear").tolist() != pairs.tolist()
    assert sorted(first.tolist()) == pairs.tolist()
    assert first.tolist() != shuffle_pairs(pairs, 2, "train/gear").tolist()
    assert first.tolist() != shuffle_pairs(pairs, 1, "train/parsing").tolist()
    assert first[:3].tolist() == [300, 330, 371]  # on any machine, with any version of numpy
