"""Checks language models in this process (`hf:`) on a tiny Qwen2 made here: that an answer depends
on its own request alone, however many wait beside it; memory and giving up; that nothing of this
process is changed. Skipped where the extra `local` is absent. Adapters, templates and tools:
test_local_templates.py; what is refused: test_local_refusals.py.
Not covered: accelerators, and models whose answers mean something.

Internals: answers are held back in the model's batch, and its noise is compared with a slow one.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time

import pytest
from local_asking import (
    PROMPTS,
    VIEW,
    WITH_TOOLS,
    alone,
    ask,
    together,
    told,
    using,
    wording,
)
from peirce.agents import open_model
from peirce.records import PeirceError, Unavailable
from tiny_model import edit_json, make_model, require

require()
import torch  # noqa: E402
from peirce.agents.local.model import Answer  # noqa: E402
from peirce.agents.local.sampling import GumbelNoise  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402


def rows_of(proposer):
    """A list that will hold the rows of each forward pass."""
    rows = []
    proposer._model.model.register_forward_pre_hook(
        lambda module, args, more: rows.append(more["input_ids"].shape[0]), with_kwargs=True
    )
    return rows


# --- an answer depends on its own request alone -----------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{}, {"temperature": 1.0}, {"temperature": 0.7, "top_p": 0.9, "top_k": 50}],
    ids=["greedy", "sampled", "sampled from the likely"],
)
def test_eight_prompts_of_different_lengths_get_the_same_tokens_batched_or_alone(
    base, adapter, settings
):
    spec = f"hf:{base}+{adapter}"
    batched, single = together(spec, **settings), alone(spec, **settings)
    assert batched == single and len({reply.text for reply in batched}) == len(PROMPTS)
    assert {reply.finish for reply in batched} <= {"stop", "length"}


def test_what_waits_at_a_moment_is_one_batch_of_at_most_so_many(base):
    async def work(proposer):
        rows = rows_of(proposer)
        await asyncio.gather(*(proposer.propose(VIEW, ask(1), (), n) for n in range(7)))
        return rows

    rows = using(f"hf:{base}", work, batch=4, max_tokens=5)
    assert rows == [4] * 6 + [3] * 5  # the first pass reads a prompt that the last three share


def test_those_that_return_soon_share_the_next_batch_and_take_no_turns(base):
    async def work(proposer):
        rows = rows_of(proposer)

        async def problem(number):
            for step in range(4):
                await proposer.propose(VIEW, ask(1), (), 10 * number + step)
                for _ in range(number):  # so that one is always back before the others
                    await asyncio.sleep(0)

        await asyncio.gather(*(problem(number) for number in range(4)))
        return rows

    rows = using(f"hf:{base}", work, max_tokens=60)
    assert sum(rows) == 964 and len(rows) <= 300  # 241 where all share; 420 where one goes ahead


def test_a_seed_decides_a_sampled_answer_and_another_gives_another(base):
    same = [ask(3)] * 6

    async def work(proposer):
        return [await proposer.propose(VIEW, ask(3), (), seed) for seed in (0, 1, 2, 1)]

    one, two, three, again = using(f"hf:{base}", work, temperature=1.0)
    assert two == again and len({one.text, two.text, three.text}) == 3
    assert together(f"hf:{base}", same, temperature=1.0)[1] == two


def test_a_sampled_token_is_drawn_from_the_softmax():
    logits = torch.tensor([0.0, 1.0, 2.0, -1.0, 0.5, float("-inf")])
    seeds, width, drawn = range(4000), 7, torch.zeros(6)
    for position in range(3):
        noisy = GumbelNoise(seeds, width)(
            torch.zeros(4000, width + position), logits.repeat(4000, 1)
        )
        drawn += torch.bincount(noisy.argmax(-1), minlength=6)
    expected = logits.softmax(-1)
    error = (drawn / 12000 - expected).abs() / (expected * (1 - expected) / 12000).sqrt().clamp(
        1e-9
    )
    assert error.max() < 4.5 and drawn[5] == 0


def test_padding_is_no_repetition_where_the_model_penalises_them(copied):
    edit_json(copied / "tokenizer_config.json", pad_token="44")  # which its answers are full of
    likewise = {"max_tokens": 80, "temperature": 1.0}
    without = together(f"hf:{copied}", **likewise)
    edit_json(copied / "generation_config.json", repetition_penalty=1.8)
    batched, single = together(f"hf:{copied}", **likewise), alone(f"hf:{copied}", **likewise)
    assert batched == single != without and "stop" in {reply.finish for reply in batched}


def test_the_models_own_generation_config_is_followed_and_recorded(copied):
    edit_json(copied / "generation_config.json", do_sample=True, temperature=0.6, top_p=0.8, top_k=20)  # fmt: skip
    sampling = told(f"hf:{copied}")["sampling"]
    assert (sampling["temperature"], sampling["top_p"], sampling["top_k"]) == (0.6, 0.8, 20)
    greedy = told(f"hf:{copied}", temperature=0)["sampling"]
    assert greedy["temperature"] == 0 and greedy["top_p"] is None
    assert told(f"hf:{copied}", top_p=0.5)["sampling"]["top_p"] == 0.5
    edit_json(copied / "generation_config.json", do_sample=False, temperature=1.0)
    assert told(f"hf:{copied}")["sampling"]["temperature"] == 0
    assert alone(f"hf:{copied}", temperature=0) == alone(f"hf:{copied}")


# --- what an answer is ----------------------------------------------------------------------------


def test_an_answer_that_reaches_max_tokens_is_cut_and_one_that_ends_is_not(base, adapter):
    spec = f"hf:{base}+{adapter}"
    for reply in (*together(spec, max_tokens=7), *together(spec, temperature=1.5, max_tokens=300)):
        assert (reply.finish == "stop") or (reply.usage.tokens_out in (7, 300))
    finishes = {reply.finish for reply in together(spec, temperature=1.5, max_tokens=300)}
    assert "stop" in finishes


def test_the_prompt_is_counted_as_the_tokenizer_has_it(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    (reply,) = alone(f"hf:{base}", [ask(5)])
    ids = tokenizer.apply_chat_template(ask(5), add_generation_prompt=True)["input_ids"]
    assert reply.usage.tokens_in == len(ids)


def test_a_request_beyond_the_context_is_refused_with_the_figures_and_nothing_is_cut(base):
    with pytest.raises(Unavailable, match=r"prompt of 4,\d+ tokens and an answer of 40 .* 2,048"):
        alone(f"hf:{base}", [ask(1500)])
    with pytest.raises(Unavailable, match="more than the 60 that it holds"):
        alone(f"hf:{base}", [ask(10)], context_tokens=60)


def test_reasoning_is_split_off_and_counted(base):
    words, tokenizer = wording(base)
    ids = tokenizer("<think>one question</think>an answer")["input_ids"]
    reply = words.parse_reply([0] * 9, Answer(ids, True, len(ids)), ())
    assert reply.text == "an answer" and reply.meta["reasoning"] == "one question"
    assert reply.usage.tokens_reasoning == len(tokenizer("one question")["input_ids"])
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (9, len(ids))


# --- 4 bits ---------------------------------------------------------------------------------------


def test_a_model_in_4_bits_answers_with_its_adapter_too(base, adapter):
    require("bitsandbytes")
    spec = f"hf:{base}+{adapter}"
    try:
        settings = told(spec, load_in_4bit=True)
    except PeirceError as error:
        pytest.skip(f"NO 4-BIT WEIGHTS HERE: {error}")
    assert settings["quantization"] == "nf4"
    answered = together(spec, load_in_4bit=True)
    assert answered == together(spec, load_in_4bit=True) != together(spec)


# --- settings that are recorded -------------------------------------------------------------------


def test_the_digest_follows_the_files_and_not_their_place(base, copied):
    assert told(f"hf:{copied}")["digest"] == told(f"hf:{base}")["digest"]
    make_model(copied, seed=5)
    assert told(f"hf:{copied}")["digest"] != told(f"hf:{base}")["digest"]
    shutil.rmtree(copied)
    shutil.copytree(base, copied)
    (copied / "chat_template.jinja").write_text(WITH_TOOLS)
    assert told(f"hf:{copied}")["digest"] != told(f"hf:{base}")["digest"]


def test_settings_hold_what_shapes_answers_and_apart_from_it_what_does_not(base):
    settings = told(f"hf:{base}", temperature=0.5, batch=3, device="cpu", dtype="bfloat16")
    assert settings["endpoint"] == "local" and settings["dtype"] == "bfloat16"
    assert settings["max_tokens"] == 40 and settings["context_tokens"] == 2048
    assert settings["transport"]["batch"] == 3 and settings["transport"]["device"] == "cpu"
    apart = {
        key: value for key, value in settings.items() if key not in ("transport", "answers_from")
    }
    assert str(base) not in json.dumps(apart)


# --- memory, giving up, closing -------------------------------------------------------------------


def out_of_memory_above(proposer, most):
    """Lets the model run out of memory, as torch does, for more than `most` rows."""
    rows = []

    def check(module, args, more):
        rows.append(more["input_ids"].shape[0])
        if rows[-1] > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

    proposer._model.model.register_forward_pre_hook(check, with_kwargs=True)
    return rows


def test_a_batch_without_memory_is_halved_and_every_answer_is_the_same(base):
    async def work(proposer):
        rows = out_of_memory_above(proposer, 3)
        asked = (proposer.propose(VIEW, one, (), n) for n, one in enumerate(PROMPTS))
        return await asyncio.gather(*asked), rows

    replies, rows = using(f"hf:{base}", work)
    assert list(replies) == together(f"hf:{base}")
    assert [number for number in rows if number > 3] == [5, 4]  # of 8, and of their half


def test_a_request_without_memory_even_alone_is_unavailable_and_the_next_is_answered(base):
    async def work(proposer):
        rows = out_of_memory_above(proposer, 0)
        with pytest.raises(Unavailable, match=r"no memory for a prompt of \d+ tokens"):
            await proposer.propose(VIEW, ask(1), (), 1)
        proposer._model.model._forward_pre_hooks.clear()
        return rows, await proposer.propose(VIEW, ask(1), (), 1)

    rows, reply = using(f"hf:{base}", work)
    assert rows == [1] and reply.usage.tokens_out


def test_what_is_given_up_stops_within_a_token_and_others_go_on(base):
    async def work(proposer):
        rows = rows_of(proposer)
        asking = asyncio.create_task(proposer.propose(VIEW, ask(1), (), 1))
        while not rows:
            await asyncio.sleep(0.001)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        given_up = len(rows)
        reply = await proposer.propose(VIEW, ask(2), (), 1)
        return given_up, len(rows) - reply.usage.tokens_out, reply

    before, stopped, reply = using(f"hf:{base}", work, max_tokens=1500, temperature=0.3)
    assert stopped < before + 50 and reply.usage.tokens_out > 0


def test_closing_stops_what_runs_and_frees_the_model(base):
    async def work():
        proposer = await open_model(f"hf:{base}", {"max_tokens": 2000, "temperature": 0.01})
        asking = [asyncio.create_task(proposer.propose(VIEW, ask(n), (), n)) for n in (1, 2)]
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await proposer.close()
        took = time.monotonic() - began
        ended = await asyncio.gather(*asking, return_exceptions=True)
        await proposer.close()
        return took, ended, proposer._model

    took, ended, model = asyncio.run(work())
    assert took < 4 and model is None  # 2,000 tokens take longer
    assert all(isinstance(one, Unavailable) for one in ended)


def test_nothing_of_this_process_is_changed(base, adapter, capfd):
    import logging

    from transformers.utils import logging as transformers_logging

    torch.manual_seed(3)
    level, threads = logging.getLogger("transformers").level, torch.get_num_threads()
    before = torch.get_rng_state()
    together(f"hf:{base}+{adapter}", temperature=1.0)
    assert torch.equal(before, torch.get_rng_state()) and torch.get_num_threads() == threads
    assert logging.getLogger("transformers").level == level
    assert transformers_logging.is_progress_bar_enabled()
    assert capfd.readouterr() == ("", "")


def test_importing_the_module_imports_no_torch():
    code = (
        "import sys, peirce.agents.local.proposer;"
        "print([m for m in sys.modules if m.split('.')[0] in ('torch', 'transformers', 'peft')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
