"""Checks that the reasoning of local models is separated from their answers: where the prompt opens the
block of reasoning, where the tags are special tokens, and where a model writes into channels.
Skipped where the extra `local` is absent.

Internals: the reading of an answer is a pure function of its tokens.
"""

from __future__ import annotations

import pytest
from local_asking import alone, ask
from model_families import FAMILIES, make_family_model
from peirce.records import PROMPT_DIGEST, ToolSpec, digest_prompt
from tiny_model import require

require()
from peirce.agents.local.channels import split_channels  # noqa: E402
from peirce.agents.local.chat import ChatFormat  # noqa: E402
from peirce.agents.local.example_format import ExampleFormat  # noqa: E402
from peirce.agents.local.model import Answer  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

EXECUTE = ToolSpec("execute", "runs code", {"type": "object", "properties": {"code": {}}})
ANALYSIS, FINAL = "<|channel|>analysis<|message|>", "<|channel|>final<|message|>"
NEXT = "<|end|><|start|>assistant"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}

    def folder_of(name):
        if name not in made:
            made[name] = make_family_model(tmp_path_factory.mktemp("family") / "model", name)
        return made[name]

    return folder_of


def read(folder, name, said, ended=True, tools=(), **changed):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for tag, special in changed.items():
        tokenizer.add_tokens([f"<{tag}>", f"</{tag}>"], special_tokens=special)
    words = ChatFormat(name, tokenizer, None, FAMILIES[name].variables, False)
    ids = tokenizer(said, add_special_tokens=False)["input_ids"]
    return words.parse_reply([0], Answer(ids, ended, len(ids)), tools)


@pytest.mark.parametrize(
    ("name", "said", "answer", "reasoning"),
    [
        ("r1", "I try 1.\n</think>\n\nan answer", "an answer", "I try 1."),
        ("r1", "\n</think>\n\nan answer", "an answer", None),
        ("r1", "<think>again</think>an answer", "an answer", "again"),
        ("r1", "I try 1 and do not end", "", "I try 1 and do not end"),
        ("qwen3", "<think>\nI try 1.\n</think>\n\nan answer", "an answer", "I try 1."),
        ("qwen3", "an answer", "an answer", None),
        ("qwen3 without thinking", "an answer", "an answer", None),
        ("gpt-oss", f"{ANALYSIS}I try 1.{NEXT}{FINAL}an answer", "an answer", "I try 1."),
        ("gpt-oss", f"{FINAL}an answer", "an answer", None),
        ("gpt-oss", f"{ANALYSIS}I try 1 and do not end", "", "I try 1 and do not end"),
        ("gpt-oss", f"{ANALYSIS}a{NEXT}{ANALYSIS}b{NEXT}{FINAL}c<think>d", "c<think>d", "a\n\nb"),
        ("gpt-oss", "an answer", "an answer", None),
        ("qwen2.5", "an answer", "an answer", None),
    ],
)
def test_reasoning_is_no_part_of_the_answer(folders, name, said, answer, reasoning):
    reply = read(folders(name), name, said)
    assert (reply.text, reply.meta.get("reasoning")) == (answer, reasoning)
    assert bool(reply.usage.tokens_reasoning) is (reasoning is not None)


def test_tags_that_are_special_tokens_still_mark_reasoning(folders):
    said = "<think>I try 1.</think>an answer<|im_end|>"
    reply = read(folders("qwen2.5"), "qwen2.5", said, think=True)
    assert (reply.text, reply.meta["reasoning"]) == ("an answer", "I try 1.")


def test_a_tool_call_to_the_commentary_channel_is_read(folders):
    said = (
        f"{ANALYSIS}I run it.{NEXT}<|channel|>commentary to=functions.execute "
        '<|constrain|>json<|message|>{"code": "x"}'
    )
    reply = read(folders("gpt-oss"), "gpt-oss", said, tools=[EXECUTE])
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, reply.text) == ("execute", {"code": "x"}, "")
    assert reply.meta["reasoning"] == "I run it."
    other = ' to=functions.execute<|channel|>commentary json<|message|>{"code'
    (call,) = read(folders("gpt-oss"), "gpt-oss", other, tools=[EXECUTE]).tool_calls
    assert call.name == "execute" and isinstance(call.arguments, str)
    assert read(folders("gpt-oss"), "gpt-oss", said).tool_calls == ()


def test_a_channel_without_a_header_is_an_answer():
    assert split_channels("The answer<|end|>") == ("The answer", "", [])


def test_channels_of_any_length_are_read_in_linear_time():
    text = "<|channel|>" * 200_000 + "final<|message|>an answer"
    assert split_channels(text)[0] == "an answer"


def test_a_reply_holds_the_digest_of_the_prompt_s_tokens(folders):
    (reply,) = alone(f"hf:{folders('gemma3')}", [ask(2)], max_tokens=3)
    tokenizer = AutoTokenizer.from_pretrained(folders("gemma3"))
    ids = tokenizer.apply_chat_template(ask(2), add_generation_prompt=True, return_dict=False)
    assert reply.meta == {PROMPT_DIGEST: digest_prompt(ids)} and len(digest_prompt(ids)) == 16


# --- templates that only look as if they left something between prompt and answer ------------

SPACED = "{% for m in messages %}{{ '[INST] ' + m.content + ' [/INST]' if m.role == 'user' else ' ' + m.content }}{% endfor %}"
ADVISED = "{% for m in messages %}{{ m.content }} Reason inside <think> tags first.\n{% endfor %}A:"


@pytest.mark.parametrize("template", [SPACED, ADVISED])
def test_white_space_and_tags_in_instructions_are_no_lead(folders, tmp_path, template):
    path = tmp_path / "template.jinja"
    path.write_text(template)
    tokenizer = AutoTokenizer.from_pretrained(folders("qwen3"))
    wording = ChatFormat("m", tokenizer, str(path), {}, tools=False)
    assert not wording.opens_reasoning
    assert ExampleFormat(wording).find_lead([{"role": "user", "content": "?"}]) == ""


@pytest.mark.parametrize(
    ("end", "known"), [("A:", True), ("A:<think>", True), ("A:[THINK]", False)]
)
def test_a_template_with_unknown_marks_of_reasoning_is_noticed(folders, tmp_path, end, known):
    path = tmp_path / "template.jinja"
    path.write_text(
        "{% for m in messages %}{{ m.content if m.role == 'user' else 'A:' + m.content }}{% endfor %}"
        "{% if add_generation_prompt %}" + end + "{% endif %}"
    )
    wording = ChatFormat("m", AutoTokenizer.from_pretrained(folders("qwen3")), str(path), {}, False)
    assert ExampleFormat(wording).knows_lead() is known
