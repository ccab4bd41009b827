"""Checks adapters, chat templates and tools of models in this process (`hf:`), on a tiny Qwen2 made here.
Skipped where the extra `local` is absent.

Internals: the wording of a template and the reading of tool calls are pure functions, compared
one by one.
"""

from __future__ import annotations

import shutil
import sys
import warnings

import pytest
from local_asking import VIEW, WITH_TOOLS, alone, ask, refused, together, told, using, wording
from peirce.agents.prompts.protocol import build_tool_messages
from peirce.records import PROMPT_DIGEST, DataError, ToolSpec, Unavailable
from tiny_model import TEMPLATE, edit_json, make_model, require, with_adapter

require()
from peirce.agents.local.chat import ChatFormat, extract_tool_calls  # noqa: E402
from peirce.agents.local.model import Answer  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

EXECUTE = ToolSpec("execute", "runs code", {"type": "object", "properties": {"code": {}}})


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
    words = ChatFormat("m", tokenizer, "plain", {}, False)
    assert tokenizer.decode(words.tokenize_prompt(ask(1), ())).endswith(
        "User: a question \n\nAssistant:"
    )
    ids = tokenizer(" an answer\n\nUser: a question")["input_ids"]
    assert words.parse_reply([0], Answer(ids, True, len(ids)), ()).text == "an answer"


def test_a_template_of_ones_own_takes_the_place_of_the_models(base, tmp_path):
    (tmp_path / "mine.jinja").write_text("{{ messages[-1].content }}")
    (reply,) = alone(f"hf:{base}", [ask(1)], chat_template=str(tmp_path / "mine.jinja"))
    assert reply.usage.tokens_in < alone(f"hf:{base}", [ask(1)])[0].usage.tokens_in
    assert "cannot be read (No such file" in refused(f"hf:{base}", chat_template="no.jinja")
    (tmp_path / "bad.jinja").write_text("{% for %}")
    assert "is broken" in refused(
        f"hf:{base}", DataError, chat_template=str(tmp_path / "bad.jinja")
    )


def test_a_template_with_a_power_is_refused_before_it_is_rendered(base, tmp_path):
    (tmp_path / "mine.jinja").write_text("{% if false %}{{ 9 ** (9 ** 9) }}{% endif %}x")
    said = refused(f"hf:{base}", DataError, chat_template=str(tmp_path / "mine.jinja"))
    assert "uses `**`, which is refused" in said


def test_variables_of_the_template_are_settings_and_others_are_refused(base):
    template = "{% if enable_thinking %}think {% endif %}" + TEMPLATE
    words, tokenizer = wording(base, template, enable_thinking=True)
    assert tokenizer.decode(words.tokenize_prompt(ask(1), ())).startswith(
        "think <|im_start|>system"
    )
    said = refused(f"hf:{base}", model_args={"enable_thinking": True})
    assert " does not take a setting 'enable_thinking'" in said and "it has none" in said


def test_a_template_that_refuses_a_role_gets_it_as_the_users_text(base):
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    words, tokenizer = wording(base, refusing + TEMPLATE)
    text = tokenizer.decode(words.tokenize_prompt(ask(1), ()))
    assert text.startswith("<|im_start|>user\nYou find rules.\n\na question")
    words, _ = wording(base, "{{ raise_exception('never so') }}")
    with pytest.raises(Unavailable, match="refuses the conversation: never so"):
        words.tokenize_prompt(ask(1), ())


def test_tools_are_offered_through_a_template_that_takes_them_and_only_where_it_is_set(
    base, copied
):
    async def work(proposer):
        return await proposer.propose(VIEW, ask(1), [EXECUTE], 1)

    assert told(f"hf:{base}")["tools"] is False
    assert using(f"hf:{base}", work).finish == "no_tools"
    assert " does not support tools: omit tools=true" in refused(f"hf:{base}", tools=True)
    (copied / "chat_template.jinja").write_text(WITH_TOOLS)
    assert told(f"hf:{copied}", tools=True)["tools"] is True
    assert using(f"hf:{copied}", work, tools=True).finish in ("stop", "length")
    words, tokenizer = wording(base, WITH_TOOLS, tools=True)
    assert tokenizer.decode(words.tokenize_prompt(ask(1), [EXECUTE])).startswith("tool execute\n")


def test_a_tool_call_is_read_and_its_result_goes_back_through_the_template(base):
    words, tokenizer = wording(base, WITH_TOOLS, tools=True)
    said = 'so: <tool_call>\n{"name": "execute", "arguments": {"code": "x"}}\n</tool_call>'
    reply = words.parse_reply([0], Answer(tokenizer(said)["input_ids"], True, 9), [EXECUTE])
    (call,) = reply.tool_calls
    assert (reply.text, reply.finish, call.name, call.arguments) == ("so:", "tool_calls", "execute", {"code": "x"})  # fmt: skip
    turns = [*ask(1), *build_tool_messages(reply, ["it failed"])]
    text = tokenizer.decode(words.tokenize_prompt(turns, [EXECUTE]))
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
    text, (call,) = extract_tool_calls(f"<tool_call>{said}</tool_call>", [EXECUTE])
    assert (text, call.name, call.arguments) == ("", name, arguments)


def test_numbers_of_a_call_are_ones_that_json_can_store():
    said = '<tool_call>{"name": "execute", "arguments": {"a": NaN, "b": [1e999, 1.5]}}</tool_call>'
    (call,) = extract_tool_calls(said, [EXECUTE])[1]
    assert call.arguments == {"a": None, "b": [sys.float_info.max, 1.5]}


def test_a_deeply_nested_call_stays_a_text():
    deep = '{"name": "f", "arguments": {"a": ' + "[" * 5000 + "]" * 5000 + "}}"
    (call,) = extract_tool_calls(f"<tool_call>{deep}</tool_call>", [EXECUTE])[1]
    assert call.arguments == deep


def test_a_date_in_prompts_can_be_fixed(base, tmp_path):
    dated = make_model(tmp_path / "dated", "{{ strftime_now('%d %b %Y') }}\n" + TEMPLATE)
    first, second = (told(f"hf:{dated}", prompt_date=day) for day in ("2024-02-29", "2024-03-01"))
    assert (first["prompt_date"], second["prompt_date"]) == ("2024-02-29", "2024-03-01")
    asked = [
        using(f"hf:{dated}", lambda model: model.propose(VIEW, ask(1), (), 0), prompt_date=day)
        for day in ("2024-02-29", "2024-02-29", "2024-03-01")
    ]
    prints = [one.meta[PROMPT_DIGEST] for one in asked]
    assert prints[0] == prints[1] != prints[2]
    assert "prompt_date" not in told(f"hf:{base}", prompt_date="2024-02-29")  # it writes no date
    assert "write it as 2026-11-29" in refused(f"hf:{dated}", prompt_date="tomorrow")
