"""Checks that the reasoning of local models is separated from their answers: where the prompt opens the
block of reasoning, where the tags are special tokens, and where a model writes into channels.
Skipped where the extra `local` is absent.

Internals: the reading of an answer is a pure function of its tokens.
"""

from __future__ import annotations

import pytest
from local_asking import alone, ask
from model_families import COHERE, FAMILIES, make_family_model
from peirce.records import PROMPT_DIGEST, ToolSpec, digest_prompt
from tiny_model import require

require()
from peirce.agents.local.chat import ChatFormat  # noqa: E402
from peirce.agents.local.example_format import ExampleFormat  # noqa: E402
from peirce.agents.local.model import Answer  # noqa: E402
from peirce.agents.local.reasoning_formats import split_channels  # noqa: E402
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
        ("qwen2.5", "<thought>I try 1.</thought>an answer", "an answer", "I try 1."),
        ("qwen2.5", "<reasoning>\nI try 1.\n</reasoning>\nan answer", "an answer", "I try 1."),
        ("qwen2.5", "<seed:think>I try 1.</seed:think>an answer", "an answer", "I try 1."),
        ("qwen2.5", "[THINK]I try [1].[/THINK]an answer", "an answer", "I try [1]."),
        ("qwen2.5", "<|channel>thought\nI try 1.<channel|>an answer", "an answer", "I try 1."),
        (
            "command-a",
            f"{COHERE[7]}I try 1.{COHERE[8]}{COHERE[9]}an answer{COHERE[10]}{COHERE[3]}",
            "an answer",
            "I try 1.",
        ),
        ("command-a", f"{COHERE[7]}I try 1 and do not end", "", "I try 1 and do not end"),
        ("command-a without reasoning", f"{COHERE[9]}an answer{COHERE[10]}", "an answer", None),
        ("unknown marks", "I try 1.\n<<settled>>\n\nan answer@@end", "an answer", "I try 1."),
        ("unknown marks", "<<ponder>>I try 1.\n<<settled>>an answer", "an answer", "I try 1."),
        ("unknown marks", "I try 1 and do not end", "", "I try 1 and do not end"),
    ],
)  # fmt: skip
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
    assert not wording.open_mark
    assert ExampleFormat(wording).find_lead([{"role": "user", "content": "?"}]) == ""


@pytest.fixture
def wording_of(folders, tmp_path):
    def open_template(text, **variables):
        (tmp_path / "template.jinja").write_text(text)
        tokenizer = AutoTokenizer.from_pretrained(folders("qwen3"))
        return ChatFormat("m", tokenizer, str(tmp_path / "template.jinja"), variables, False)

    return open_template


TURNS = (
    "{% for m in messages %}{{ m.content if m.role == 'user' else 'A:' + m.content }}{% endfor %}"
)


@pytest.mark.parametrize(
    ("end", "known", "lead"),
    [
        ("A:", True, ""),
        ("A:<think>", True, "</think>"),
        ("A:<think>\n", True, "\n</think>\n\n"),
        ("A:[THINK]", True, "[/THINK]"),
        ("A:<seed:think>", True, "</seed:think>"),
        ("A:<|START_THINKING|>", True, "<|END_THINKING|>"),
        ("A:<think></think>", True, ""),
        ("A:{# ends with [/MUSE] #}[MUSE]", True, "[/MUSE]"),
        ("A:[MUSE]", False, ""),
        ("A: Let me reason first.", False, ""),
    ],
)
def test_a_prompt_that_opens_reasoning_is_noticed_if_its_marks_are_known(
    wording_of, end, known, lead
):
    wording = wording_of(TURNS + "{% if add_generation_prompt %}" + end + "{% endif %}")
    examples = ExampleFormat(wording)
    assert examples.knows_lead() is known
    assert examples.find_lead([{"role": "user", "content": "?"}]) == lead


# --- marks that the template itself shows -----------------------------------------------------------

HEAD = "{% for m in messages %}{% if m.role == 'user' %}<q>{{ m.content }}<a>{% else %}"
TAIL = "{{ m.content }}<e>{% endif %}{% endfor %}"
PARTS = (
    "{% if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}"
    "{{ '{{' + part.thinking + '}}' if part.type == 'thinking' else part.text }}"
    "{% endfor %}{% endif %}<e>{% endif %}{% endfor %}"
)
SWITCH = (
    "{% if add_generation_prompt and not use_reasoning | default(true) %}[MUSE] [/MUSE]{% endif %}"
)


@pytest.mark.parametrize(
    ("template", "marks"),
    [
        (HEAD + "{% if m.thought %}◁muse▷{{ m.thought }}◁/muse▷{% endif %}" + TAIL, ("◁muse▷", "◁/muse▷")),
        (HEAD + "{% if 'reasoning' in m %}My thoughts: {{ m['reasoning'] }}\nMy reply: {% endif %}" + TAIL,
         ("My thoughts:", "My reply:")),
        (HEAD + "<in>{{ m.get('thinking', '') }}<out>" + TAIL, ("<in>", "<out>")),
        (HEAD + PARTS, ("{{", "}}")),
        (HEAD + TAIL + SWITCH, ("[MUSE]", "[/MUSE]")),
    ],
)  # fmt: skip
def test_marks_are_learnt_from_the_template(wording_of, template, marks):
    wording = wording_of(template)
    assert wording.blocks.marks == (marks,)
    ids = wording.tokenizer(f"{marks[0]}I try 1.{marks[1]}an answer")["input_ids"]
    reply = wording.parse_reply([0], Answer(ids, True, len(ids)), ())
    assert (reply.text, reply.meta["reasoning"]) == ("an answer", "I try 1.")


def test_words_with_which_a_prompt_opens_reasoning_are_its_mark(wording_of):
    wording = wording_of(
        HEAD + "\n{% if m.thought %}{{ m.thought }}\n[REPLY]\n{% endif %}" + TAIL
        + "{% if add_generation_prompt %}\nMy steps:\n{% endif %}"
    )  # fmt: skip
    assert wording.blocks.marks == (("My steps:", "[REPLY]"),) and wording.open_mark == "My steps:"
    assert ExampleFormat(wording).find_lead([{"role": "user", "content": "?"}]) == "\n[REPLY]\n"
    ids = wording.tokenizer("I try 1.\n[REPLY]\nan answer")["input_ids"]
    reply = wording.parse_reply([0], Answer(ids, True, len(ids)), ())
    assert (reply.text, reply.meta["reasoning"]) == ("an answer", "I try 1.")


def test_an_empty_block_at_the_end_of_a_prompt_opens_nothing(wording_of):
    wording = wording_of(
        HEAD + "{% if m.thought %}[MUSE]\n{{ m.thought }}\n[/MUSE]\n{% endif %}" + TAIL
        + "{% if add_generation_prompt and not musing %}[MUSE]\n\n[/MUSE]\n{% endif %}",
        musing=False,
    )  # fmt: skip
    assert wording.blocks.marks == (("[MUSE]", "[/MUSE]"),) and wording.open_mark == ""
    examples = ExampleFormat(wording)
    assert examples.knows_lead() and examples.find_lead([{"role": "user", "content": "?"}]) == ""
    ids = wording.tokenizer("an answer")["input_ids"]
    assert wording.parse_reply([0], Answer(ids, True, len(ids)), ()).text == "an answer"


@pytest.mark.parametrize(
    "template",
    [
        HEAD + "{% if m.thought %}{{ m.thought }}\n\n{% endif %}" + TAIL,  # without marks
        HEAD + "{% if m.thought %}{{ m.thought }}<e><a>{% endif %}" + TAIL,  # as a turn of its own
        HEAD + TAIL.replace("<e>", "{% if m.thought %}<t>{{ m.thought }}</t>{% endif %}<e>"),
    ],
)  # fmt: skip
def test_headers_and_ends_of_turns_are_no_marks(wording_of, template):
    assert wording_of(template).blocks.marks == ()


@pytest.mark.parametrize("name", ["qwen2.5", "llama3.2", "gemma3", "gpt-oss"])
def test_templates_without_blocks_show_none(folders, name):
    tokenizer = AutoTokenizer.from_pretrained(folders(name))
    wording = ChatFormat(name, tokenizer, None, FAMILIES[name].variables, False)
    assert wording.blocks.marks == () and wording.open_mark == ""
