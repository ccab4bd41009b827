"""Checks how a small local model is answered for token by token (agents/decoding.py): rows that
join and leave, fronts that are read once, long rows and failures give what `generate` gives alone, for
models of two kinds with random weights. Skipped where the extra `local` is absent. Not covered:
accelerators, half precision.

Internals: rows join and leave the decoder at chosen tokens, which no request can bring about.
"""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest
from peirce.agents.local.proposer import LocalProposer
from peirce.records import Unavailable
from tiny_model import require

require()
import torch  # noqa: E402
from peirce.agents.local import decoding  # noqa: E402
from peirce.agents.local.decoding import Prompt, make_decoder  # noqa: E402
from peirce.agents.local.model import BATCH, LocalModel, default_batch  # noqa: E402
from peirce.agents.local.sampling import Sampling  # noqa: E402
from transformers import (  # noqa: E402
    BloomConfig,
    BloomForCausalLM,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
)

MOST = 24
SAMPLED = Sampling(temperature=1.0, top_k=60)
FRONT = [5, 9, 2, 44, 31, 8, 7, 60, 13, 21, 3]
PROMPTS = [
    Prompt(tokens, seed)
    for seed, tokens in enumerate(
        [[*FRONT, 11], [*FRONT, 12, 13], FRONT, [*FRONT, 11], FRONT[:4] + [70] * 60, [8], [50, 51],
         [*FRONT, 11, 12, 13, 14], FRONT[:4] + [70] * 40]
    )
]  # fmt: skip


def made(kind: str):
    sizes = {"vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": 64, "max_position_embeddings": 1024, "initializer_range": 0.3,
             "bos_token_id": None, "eos_token_id": 0, "pad_token_id": 0}  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        if kind == "llama":
            model = LlamaForCausalLM(LlamaConfig(**sizes, num_key_value_heads=2))
        elif kind == "gpt_neox":
            model = GPTNeoXForCausalLM(GPTNeoXConfig(**sizes))
        else:
            model = BloomForCausalLM(
                BloomConfig(vocab_size=97, hidden_size=48, n_layer=2, n_head=4)
            )
    model.eval()
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = [0], 0
    return model


@pytest.fixture(scope="module", params=["llama", "gpt_neox"])
def model(request):
    return made(request.param)


def generated(model, prompts, sampling=SAMPLED):
    """By `generate`, each alone."""
    plain = LocalModel(model, None, sampling, MOST, None, 1)
    return [plain.answer([one])[0] for one in prompts]


def decoded(decoder, prompts, at_once=100):
    """Rows join as others leave, and are handed back in the prompts' order."""
    waiting, found = list(prompts), {}
    while waiting or decoder.rows:
        if waiting and len(decoder.rows) < at_once:
            joining = [
                waiting.pop(0) for _ in range(min(len(waiting), at_once - len(decoder.rows)))
            ]
            decoder.add_prompts(joining)
        found |= {id(prompt): answer for prompt, answer in decoder.step()}
    return [found[id(one)] for one in prompts]


@pytest.mark.parametrize("sampling", [Sampling(), SAMPLED], ids=["greedy", "sampled"])
def test_rows_that_come_and_go_are_answered_as_each_alone_by_generate(model, sampling):
    expected = generated(model, PROMPTS, sampling)
    if sampling.temperature:
        assert len({len(one.tokens) for one in expected}) > 2  # they leave at different times
    decoder = make_decoder(model, sampling, MOST)
    for at_once in (1, 2, 3, 100):
        assert decoded(decoder, PROMPTS, at_once) == expected
    for at_once in (100, 2):  # nothing known of the prompts
        decoder.release()
        assert decoded(decoder, PROMPTS[::-1], at_once) == expected[::-1]


def test_a_front_that_was_read_is_not_read_again(model):
    decoder = make_decoder(model, SAMPLED, MOST)
    read = []
    hook = model.register_forward_pre_hook(
        lambda module, args, more: read.append(more["input_ids"].numel()), with_kwargs=True
    )
    try:
        decoder.add_prompts([Prompt([*FRONT, 11], 0)])
        decoder.add_prompts([Prompt([*FRONT, 11, 12, 13], 1)])
        decoder.add_prompts([Prompt([*FRONT, 11], 2)])
    finally:
        hook.remove()
    assert read == [len(FRONT), 2]
    decoder.abort_all()


def test_a_row_longer_than_the_buffer_widens_it_and_changes_nobody(model):
    long = Prompt([n % 90 + 1 for n in range(500)], 3)
    decoder = make_decoder(model, SAMPLED, MOST)
    assert decoded(decoder, [*PROMPTS, long], 3) == generated(model, [*PROMPTS, long])


def test_a_buffer_that_was_large_once_is_given_up_and_what_is_kept_is_bounded(model, monkeypatch):
    monkeypatch.setattr(decoding, "KEPT_BYTES", 20_000)
    decoder = make_decoder(model, SAMPLED, MOST)
    expected = generated(model, PROMPTS)
    assert decoded(decoder, PROMPTS) == expected
    large = decoder._buffer.nbytes
    assert decoded(decoder, PROMPTS, 2) == expected
    assert decoder._known._bytes <= 20_000
    decoded(decoder, PROMPTS[5:6])
    assert decoder._buffer.nbytes < large / 4


def test_after_a_pass_that_failed_the_rows_are_gone_and_others_are_answered(model):
    decoder = make_decoder(model, SAMPLED, MOST)
    decoder.add_prompts(PROMPTS[:3])
    decoder.step()

    def fail(*args):
        raise RuntimeError("a row that raises")

    for work in (lambda: decoder.add_prompts(PROMPTS[4:6]), decoder.step):
        hook = model.register_forward_pre_hook(fail)
        with pytest.raises(RuntimeError):
            work()
        hook.remove()
        assert decoder.abort_all()
        assert decoder.rows == []
        assert decoded(decoder, PROMPTS[:4], 2) == generated(model, PROMPTS[:4])
        decoder.add_prompts(PROMPTS[:3])
    decoder.abort_all()


def test_models_that_are_large_or_called_otherwise_are_left_to_generate(model, monkeypatch):
    assert make_decoder(made("bloom"), SAMPLED, MOST) is None
    assert make_decoder(model, Sampling(repetition_penalty=1.2), MOST) is None
    monkeypatch.setattr(model.config, "rope_parameters", {"rope_type": "dynamic"}, raising=False)
    assert make_decoder(model, SAMPLED, MOST) is None
    monkeypatch.undo()
    monkeypatch.setattr(decoding, "SMALL", 1_000)
    assert make_decoder(model, SAMPLED, MOST) is None
    assert default_batch(model, None) == BATCH


# --- the thread that feeds it: nobody waits for ever ------------------------------------------------


def local(model, batch=4):
    from concurrent.futures import ThreadPoolExecutor

    decoder = make_decoder(model, SAMPLED, MOST)
    whole = LocalModel(model, None, SAMPLED, MOST, None, batch, decoder)
    wording = SimpleNamespace(
        tools=False,
        tokenize_prompt=lambda messages, tools: messages,
        parse_reply=lambda n, answer, tools: answer,
    )
    told = {"answers_from": {"name": "tiny"}, "dtype": "float32"}
    return LocalProposer(whole, wording, ThreadPoolExecutor(1), told)


def asked(proposer, prompts):
    return [
        asyncio.ensure_future(proposer.propose(None, one.tokens, (), one.seed)) for one in prompts
    ]


def test_a_pass_that_raises_tells_all_of_its_rows_and_later_ones_are_answered(model):
    async def session():
        proposer = local(model)

        def fail(*args):
            raise RuntimeError("a row that raises")

        hook = model.register_forward_pre_hook(fail)
        failed = await asyncio.gather(*asked(proposer, PROMPTS[:3]), return_exceptions=True)
        hook.remove()
        answers = await asyncio.wait_for(asyncio.gather(*asked(proposer, PROMPTS)), 60)
        await proposer.close()
        return failed, answers

    failed, answers = asyncio.run(session())
    assert [str(one) for one in failed] == ["a row that raises"] * 3
    assert answers == generated(model, PROMPTS)


def test_many_that_are_cancelled_at_any_moment_hold_up_no_other(model):
    async def session():
        proposer = local(model)
        for delay in range(12):
            going = asked(proposer, PROMPTS)
            await asyncio.sleep(delay / 1000)
            for one in going[delay % 2 :: 2]:
                one.cancel()
            left = await asyncio.wait_for(asyncio.gather(*going, return_exceptions=True), 60)
            kept = [one for n, one in enumerate(left) if n % 2 != delay % 2]
            expected = [one for n, one in enumerate(EXPECTED) if n % 2 != delay % 2]
            assert kept == expected
        await proposer.close()

    EXPECTED = generated(model, PROMPTS)
    asyncio.run(session())


def test_a_loop_that_ends_in_the_middle_takes_nothing_from_the_next(model):
    proposer = local(model)
    expected = generated(model, PROMPTS)

    async def left():
        asked(proposer, PROMPTS)
        await asyncio.sleep(0.003)

    async def whole():
        return await asyncio.wait_for(asyncio.gather(*asked(proposer, PROMPTS)), 60)

    for _ in range(4):
        asyncio.run(left())
        assert asyncio.run(whole()) == expected
    asyncio.run(proposer.close())
    assert not any(one.name.startswith("ThreadPool") for one in threading.enumerate())


def test_closing_at_any_moment_tells_all_that_wait(model):
    async def session(delay):
        proposer = local(model, batch=2)
        going = asked(proposer, PROMPTS)
        await asyncio.sleep(delay)
        await asyncio.wait_for(proposer.close(), 60)
        return await asyncio.wait_for(asyncio.gather(*going, return_exceptions=True), 60)

    expected = generated(model, PROMPTS)
    for delay in (0, 0.001, 0.004, 0.02):
        for said, answer in zip(asyncio.run(session(delay)), expected, strict=True):
            assert isinstance(said, Unavailable) or said == answer
