"""Checks language models in this process (`hf:`) on a tiny Qwen2 made here: that an answer depends
on its own request alone, however many wait beside it; adapters; what is refused, each in one
sentence; that nothing of this process is changed. Skipped where the extra `local` is absent.
Not covered: accelerators, and models whose answers mean something."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
import warnings

import pytest
from peirce.agents import open_model
from peirce.agents.prompts import tool_messages
from peirce.records import DataError, InputSet, PeirceError, ToolSpec, Unavailable, UsageError, View
from tiny_model import TEMPLATE, edit_json, make_adapter, make_model, require, with_adapter

require()
import torch  # noqa: E402
from peirce.agents.local_chat import Wording, tool_calls  # noqa: E402
from peirce.agents.local_model import Answer  # noqa: E402
from peirce.agents.local_sampling import Noise  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

VIEW = View("p", "t", "f", (), {}, InputSet("S", ()))
LENGTHS = (1, 5, 2, 40, 9, 3, 17, 30)
EXECUTE = ToolSpec("execute", "runs code", {"type": "object", "properties": {"code": {}}})
WITH_TOOLS = (
    "{% for t in tools or [] %}tool {{ t.function.name }}\n{% endfor %}"
    + TEMPLATE.replace(
        "{{ message.content }}",
        "{{ message.content }}{% for c in message.tool_calls or [] %}"
        "<tool_call>{{ c.function.name }} {{ c.function.arguments.code }}</tool_call>{% endfor %}",
    )
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(scope="module")
def adapter(base):
    return make_adapter(base.parent / "adapter", base)


@pytest.fixture
def copied(base, tmp_path):
    """A copy of the model, to be damaged."""
    return shutil.copytree(base, tmp_path / "copied")


def ask(repeats, system="You find rules."):
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": "a question " * repeats},
    ]


PROMPTS = [ask(length) for length in LENGTHS]


def using(spec, work, **settings):
    """What `work(proposer)` returns."""

    async def whole():
        proposer = await open_model(str(spec), {"max_tokens": 40, **settings})
        try:
            return await work(proposer)
        finally:
            await proposer.close()

    return asyncio.run(whole())


def together(spec, prompts=PROMPTS, **settings):
    async def work(proposer):
        asked = (proposer.propose(VIEW, one, (), n) for n, one in enumerate(prompts))
        return await asyncio.gather(*asked)

    return using(spec, work, **settings)


def alone(spec, prompts=PROMPTS, **settings):
    async def work(proposer):
        return [await proposer.propose(VIEW, one, (), n) for n, one in enumerate(prompts)]

    return using(spec, work, **settings)


def told(spec, **settings):
    async def work(proposer):
        return proposer.settings()

    return using(spec, work, **settings)


def refused(spec, kind=UsageError, **settings):
    """The sentence with which opening ends."""
    with pytest.raises(kind) as caught:
        told(spec, **settings)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    return str(caught.value)


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
        noisy = Noise(seeds, width)(torch.zeros(4000, width + position), logits.repeat(4000, 1))
        drawn += torch.bincount(noisy.argmax(-1), minlength=6)
    expected = logits.softmax(-1)
    error = (drawn / 12000 - expected).abs() / (expected * (1 - expected) / 12000).sqrt().clamp(
        1e-9
    )
    assert error.max() < 4.5 and drawn[5] == 0


def test_padding_is_no_repetition_where_the_model_penalises_them(copied):
    edit_json(copied / "tokenizer_config.json", pad_token="44")  # which its answers are full of
    without = together(f"hf:{copied}", max_tokens=200, temperature=1.0)
    edit_json(copied / "generation_config.json", repetition_penalty=1.8)
    likewise = {"max_tokens": 200, "temperature": 1.0}
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


def wording(base, template=None, tools=False, **variables):
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = template or TEMPLATE
    return Wording("m", tokenizer, None, variables, tools), tokenizer


def test_reasoning_is_split_off_and_counted(base):
    words, tokenizer = wording(base)
    ids = tokenizer("<think>one question</think>an answer")["input_ids"]
    reply = words.reply(9, Answer(ids, True, len(ids)), ())
    assert reply.text == "an answer" and reply.meta["reasoning"] == "one question"
    assert reply.usage.tokens_reasoning == len(tokenizer("one question")["input_ids"])
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (9, len(ids))


# --- adapters -------------------------------------------------------------------------------------


def test_an_adapter_changes_the_tokens_and_a_folder_of_it_alone_knows_its_base(base, adapter, tmp_path):  # fmt: skip
    plain, adapted = together(f"hf:{base}"), together(f"hf:{base}+{adapter}")
    assert all(one.text != other.text for one, other in zip(plain, adapted, strict=True))
    whole = with_adapter(tmp_path / "whole", base, adapter)
    assert adapted == together(f"hf:{adapter}") == together(f"hf:{whole}")
    assert told(f"hf:{adapter}")["digest"] == told(f"hf:{base}+{adapter}")["digest"]


def test_a_plus_in_a_folders_name_is_part_of_it(base, adapter, tmp_path):
    odd = shutil.copytree(base, tmp_path / "a+b")
    tuned = shutil.copytree(adapter, tmp_path / "c+d")
    assert told(f"hf:{odd}")["digest"] == told(f"hf:{base}")["digest"]
    assert told(f"hf:{odd}+{tuned}")["answers_from"] == {"name": "a+b+c+d"}
    assert told(f"hf:{odd}+{tuned}")["digest"] == told(f"hf:{base}+{adapter}")["digest"]


def test_an_adapter_that_does_not_fit_its_base_is_refused(base, adapter, tmp_path):
    adapter = shutil.copytree(adapter, tmp_path / "adapter")  # of a base that is not here
    edit_json(adapter / "adapter_config.json", base_model_name_or_path="nowhere/base")
    wide = make_model(tmp_path / "wide", hidden_size=96)
    assert "size mismatch" in refused(f"hf:{wide}+{adapter}", DataError)
    deep = make_model(tmp_path / "deep", num_hidden_layers=3)
    assert "adapter 'adapter' does not fit its base" in refused(f"hf:{deep}+{adapter}", DataError)
    other = shutil.copytree(adapter, tmp_path / "other")
    edit_json(other / "adapter_config.json", target_modules=["c_attn"])
    assert "c_attn" in refused(f"hf:{base}+{other}", DataError)


def test_what_a_training_wrote_is_called_by_the_trainings_folder(base, tmp_path):
    tuned = shutil.copytree(base, tmp_path / "fixed" / "model")
    assert told(f"hf:{tuned}")["answers_from"]["name"] == "model"
    (tuned / "peirce.json").write_text('{"training": "0a1b2c3d"}')
    assert told(f"hf:{tuned}")["answers_from"]["name"] == "fixed/model"


def test_an_adapters_own_tokenizer_and_template_are_used(base, adapter, tmp_path):
    tuned = shutil.copytree(adapter, tmp_path / "tuned")
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.chat_template = "{{ messages[-1].content }}"
    tokenizer.save_pretrained(tuned)
    (reply,) = alone(f"hf:{base}+{tuned}", [ask(1)])
    assert reply.usage.tokens_in == len(tokenizer("a question ")["input_ids"])


# --- templates and tools --------------------------------------------------------------------------


def test_a_model_without_a_template_is_asked_plainly_and_says_so(tmp_path):
    bare = make_model(tmp_path / "bare", template=None)
    with pytest.warns(UserWarning, match="'bare' has no chat template"):
        assert told(f"hf:{bare}")["chat_template"] == "plain"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert together(f"hf:{bare}", chat_template="plain") == alone(f"hf:{bare}", chat_template="plain")  # fmt: skip


def test_a_plain_answer_ends_where_the_next_turn_of_the_user_would_begin(base):
    tokenizer = AutoTokenizer.from_pretrained(base)
    words = Wording("m", tokenizer, "plain", {}, False)
    assert tokenizer.decode(words.tokens(ask(1), ())).endswith("User: a question \n\nAssistant:")
    ids = tokenizer(" an answer\n\nUser: a question")["input_ids"]
    assert words.reply(1, Answer(ids, True, len(ids)), ()).text == "an answer"


def test_a_template_of_ones_own_takes_the_place_of_the_models(base, tmp_path):
    (tmp_path / "mine.jinja").write_text("{{ messages[-1].content }}")
    (reply,) = alone(f"hf:{base}", [ask(1)], chat_template=str(tmp_path / "mine.jinja"))
    assert reply.usage.tokens_in < alone(f"hf:{base}", [ask(1)])[0].usage.tokens_in
    assert "cannot be read (No such file" in refused(f"hf:{base}", chat_template="no.jinja")
    (tmp_path / "bad.jinja").write_text("{% for %}")
    assert "is broken" in refused(
        f"hf:{base}", DataError, chat_template=str(tmp_path / "bad.jinja")
    )


def test_variables_of_the_template_are_settings_and_others_are_refused(base):
    template = "{% if enable_thinking %}think {% endif %}" + TEMPLATE
    words, tokenizer = wording(base, template, enable_thinking=True)
    assert tokenizer.decode(words.tokens(ask(1), ())).startswith("think <|im_start|>system")
    said = refused(f"hf:{base}", model_args={"enable_thinking": True})
    assert "takes no setting 'enable_thinking'" in said and "it has none" in said


def test_a_template_that_refuses_a_role_gets_it_as_the_users_text(base):
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    words, tokenizer = wording(base, refusing + TEMPLATE)
    text = tokenizer.decode(words.tokens(ask(1), ()))
    assert text.startswith("<|im_start|>user\nYou find rules.\n\na question")
    words, _ = wording(base, "{{ raise_exception('never so') }}")
    with pytest.raises(Unavailable, match="refuses the conversation: never so"):
        words.tokens(ask(1), ())


def test_tools_are_offered_through_a_template_that_takes_them_and_only_where_it_is_set(
    base, copied
):
    async def work(proposer):
        return await proposer.propose(VIEW, ask(1), [EXECUTE], 1)

    assert told(f"hf:{base}")["tools"] is False
    assert using(f"hf:{base}", work).finish == "no_tools"
    assert "knows no tools" in refused(f"hf:{base}", tools=True)
    (copied / "chat_template.jinja").write_text(WITH_TOOLS)
    assert told(f"hf:{copied}", tools=True)["tools"] is True
    assert using(f"hf:{copied}", work, tools=True).finish in ("stop", "length")
    words, tokenizer = wording(base, WITH_TOOLS, tools=True)
    assert tokenizer.decode(words.tokens(ask(1), [EXECUTE])).startswith("tool execute\n")


def test_a_tool_call_is_read_and_its_result_goes_back_through_the_template(base):
    words, tokenizer = wording(base, WITH_TOOLS, tools=True)
    said = 'so: <tool_call>\n{"name": "execute", "arguments": {"code": "x"}}\n</tool_call>'
    reply = words.reply(1, Answer(tokenizer(said)["input_ids"], True, 9), [EXECUTE])
    (call,) = reply.tool_calls
    assert (reply.text, reply.finish, call.name, call.arguments) == ("so:", "tool_calls", "execute", {"code": "x"})  # fmt: skip
    turns = [*ask(1), *tool_messages(reply, ["it failed"])]
    text = tokenizer.decode(words.tokens(turns, [EXECUTE]))
    assert "<tool_call>execute x</tool_call>" in text and "<|im_start|>tool\nit failed" in text


@pytest.mark.parametrize(
    ("said", "name", "arguments"),
    [
        ('{"name": "f", "arguments": {"code": "x"', "f", '{"name": "f", "arguments": {"code": "x"'),
        ("nonsense", "execute", "nonsense"),
        ('["a"]', "execute", '["a"]'),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', "f", {"a": 1}),
        ('{"name": "f", "parameters": {"a": 1}}', "f", {"a": 1}),
        ('{"name": "f"}', "f", {}),
    ],
)
def test_a_tool_call_of_any_form_is_kept(said, name, arguments):
    text, (call,) = tool_calls(f"<tool_call>{said}</tool_call>", [EXECUTE])
    assert (text, call.name, call.arguments) == ("", name, arguments)


def test_a_deeply_nested_call_stays_a_text():
    deep = '{"name": "f", "arguments": {"a": ' + "[" * 5000 + "]" * 5000 + "}}"
    (call,) = tool_calls(f"<tool_call>{deep}</tool_call>", [EXECUTE])[1]
    assert call.arguments == deep


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


# --- what is refused, and how ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temperature": -1}, "temperature -1 of model"),
        ({"temperature": "hot"}, "must be a number of at least 0"),
        ({"top_p": 0}, "above 0 and at most 1"),
        ({"top_k": 1.5}, "whole number"),
        ({"max_tokens": 0}, "max_tokens 0"),
        ({"batch": True}, "batch True"),
        ({"dtype": "int8"}, "one of auto, float32, bfloat16, float16"),
        ({"device": "tpu"}, "one of cpu"),
        ({"load_in_4bit": "yes"}, "true or false"),
        ({"tools": "auto"}, "true or false"),
        ({"model_args": [1]}, "a mapping"),
        ({"temprature": 1}, "did you mean temperature"),
        ({"timeout_s": 5}, "takes no setting 'timeout_s'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(base, settings, said):
    assert said in refused(f"hf:{base}", **settings)


def test_what_is_no_model_is_refused_with_what_it_lacks(base, adapter, copied, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "names no model" in refused("hf:")
    assert f"model folder {str(tmp_path / 'gone')!r} is not there" in refused(f"hf:{tmp_path}/gone")
    assert "is a file" in refused(f"hf:{base / 'config.json'}")
    assert "'empty' holds no model: it has no config.json" in refused(f"hf:{empty}")
    assert "holds no LoRA adapter" in refused(f"hf:{base}+{empty}")
    assert "is not there" in refused(f"hf:{base}+{tmp_path}/gone")
    (copied / "model.safetensors").unlink()
    assert "'copied' holds no weights" in refused(f"hf:{copied}")
    (copied / "model.safetensors").write_bytes(b"not weights at all")
    assert "model 'copied' cannot be loaded" in refused(f"hf:{copied}", DataError)


def test_files_that_are_broken_are_refused(base, copied, tmp_path):
    for name in ("config.json", "generation_config.json", "tokenizer.json"):
        kept = (copied / name).read_text()
        (copied / name).write_text('{"model_type": ')
        assert "copied" in refused(f"hf:{copied}", DataError), name
        (copied / name).write_text(kept)
    edit_json(copied / "config.json", model_type="no_such_kind")
    assert "no_such_kind" in refused(f"hf:{copied}", DataError)
    shutil.copy(base / "config.json", copied)
    edit_json(copied / "config.json", num_hidden_layers=3, layer_types=["full_attention"] * 3)
    assert "is not whole: 12 of its weights are missing" in refused(f"hf:{copied}", DataError)
    small = make_model(tmp_path / "small", vocab_size=50)
    assert "more than the 50 that the model embeds" in refused(f"hf:{small}", DataError)


def test_a_folder_without_a_tokenizer_is_refused(copied):
    for path in copied.glob("tokenizer*"):
        path.unlink()
    said = refused(f"hf:{copied}", DataError)
    assert said == "'copied' holds no tokenizer that reads a text (tokenizer.json)"


@pytest.mark.parametrize(
    ("key", "value"),
    [("temperature", "hot"), ("temperature", -1), ("top_p", 7), ("top_k", 0.5),
     ("repetition_penalty", 0)],
)  # fmt: skip
def test_a_generation_config_that_cannot_be_is_refused(copied, key, value):
    edit_json(copied / "generation_config.json", do_sample=True, **{key: value})
    assert f"'copied' has {key} {value!r}, which cannot be" in refused(f"hf:{copied}", DataError)


def test_a_configuration_of_the_wrong_kind_is_refused(copied):
    edit_json(copied / "config.json", max_position_embeddings="many")
    assert "max_position_embeddings" in refused(f"hf:{copied}", DataError)


def test_weights_that_are_no_numbers_are_said_and_answer_nothing(copied):
    from safetensors.torch import load_file, save_file

    path = copied / "model.safetensors"
    weights = {name: one * float("nan") for name, one in load_file(path).items()}
    save_file(weights, path, {"format": "pt"})
    for settings in ({}, {"temperature": 1.0}):
        with pytest.raises(Unavailable, match=r"model 'copied' gives no numbers \(NaN\)"):
            alone(f"hf:{copied}", PROMPTS[:1], **settings)


def test_one_request_whose_numbers_break_down_leaves_the_others_of_its_batch_alone(base):
    async def work(proposer):
        def spoil(module, args, output):
            output.logits[1:2] *= float("nan") if len(output.logits) == 3 else 1
            return output

        proposer._model.model.register_forward_hook(spoil)
        asked = (proposer.propose(VIEW, one, (), n) for n, one in enumerate(PROMPTS[:3]))
        return await asyncio.gather(*asked, return_exceptions=True)

    first, second, third = using(f"hf:{base}", work)
    assert isinstance(second, Unavailable)
    assert [first, third] == [alone(f"hf:{base}", PROMPTS[:3])[n] for n in (0, 2)]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{# #}", "writes nothing"),
        ("{{ 1/0 }}", "refuses the conversation: division by zero"),
        ("{{ messages[5000].content }}", "refuses the conversation"),
        ("{% for i in range(99999999999) %}{% endfor %}", "refuses the conversation: Range too big"),
        ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
         "comes to no end: it was left after 1,000,000 steps"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "refuses the conversation"),
        ("{{ 'x' * 30000000 }}", "writes 30,000,000 characters, more than 20,000,000"),
    ],
)  # fmt: skip
def test_a_template_that_fails_or_runs_away_is_one_sentence(base, tmp_path, template, said):
    (tmp_path / "own.jinja").write_text(template)
    before = sys.gettrace()
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        alone(f"hf:{base}", PROMPTS[:1], chat_template=str(tmp_path / "own.jinja"))
    assert str(caught.value).startswith("the chat template of model 'base'")
    assert said in str(caught.value) and time.monotonic() - began < 20
    assert sys.gettrace() is before


def test_an_empty_template_is_refused_at_once(base):
    assert "chat_template '/dev/null' is empty" in refused(f"hf:{base}", chat_template="/dev/null")


def test_absent_packages_are_named_with_the_install_line(base, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    assert refused(f"hf:{base}").endswith("needs peft: pip install 'peirce[local]'")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    assert "needs bitsandbytes" in refused(f"hf:{base}", load_in_4bit=True)
    told(f"hf:{base}")


OPENING = """
import asyncio, sys, time
from peirce.agents import open_model
began = time.monotonic()
try:
    proposer = asyncio.run(open_model("hf:org/tiny", {}))
    print(proposer.settings()["commits"], proposer.settings()["answers_from"])
except Exception as error:
    print(type(error).__name__, error)
assert time.monotonic() - began < 30
"""


@pytest.mark.parametrize("offline", [True, False])
def test_an_id_that_cannot_be_fetched_is_one_sentence_and_no_minutes_of_retries(tmp_path, offline):
    dead = {"HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": str(int(offline))}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", OPENING], env=os.environ | dead, capture_output=True,
                          text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0 and done.stdout.count("\n") == 1, done.stderr
    assert done.stdout.startswith("UsageError model 'org/tiny' is no folder here, is not in the hub's cache")  # fmt: skip
    assert ("HF_HUB_OFFLINE is set" in done.stdout) == offline


def test_an_id_in_the_hubs_cache_is_taken_from_there_with_its_commit(base, tmp_path):
    repository, commit = tmp_path / "hub" / "models--org--tiny", "0" * 40
    shutil.copytree(base, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    dead = {"HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}
    done = subprocess.run([sys.executable, "-c", OPENING], env=os.environ | dead, capture_output=True,
                          text=True, timeout=60)  # fmt: skip
    assert done.stdout == f"['{commit}', None] {{'name': 'org/tiny'}}\n", done.stderr


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
        "import sys, peirce.agents.local;"
        "print([m for m in sys.modules if m.split('.')[0] in ('torch', 'transformers', 'peft')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
