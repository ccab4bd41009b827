"""A model with variables in its chat template is trained on the token ids that it was asked, and
sessions that differ in such variables make no set. Skipped where the extra `train` is absent.

Internals: the tokens of a training's pairs are compared with those of a session's requests.
"""

from __future__ import annotations

import json

import peirce
import pytest
from peirce.records import UsageError, Verdict, digest_prompt
from peirce.store import Store
from peirce.training.pairs import ModelText, PairChoices, TokenLimit
from peirce.training.pairs.build_pairs import build_pairs
from sessions_of_pairs import answered, problem, space, write
from tiny_model import TEMPLATE, make_model, require

require("trl", "datasets")
from peirce.agents.scripted import FunctionProposer  # noqa: E402
from peirce.training import find_base, read_table  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from peirce.training.dpo import pair_tokens as tokens_module  # noqa: E402
from peirce.training.dpo.models import load_base  # noqa: E402
from peirce.training.dpo.pair_tokens import PairTokens  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

THINKING = TEMPLATE.replace(
    "assistant\n{% endif %}",
    "assistant\n{% if not enable_thinking | default(true) %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}",
).replace(
    "{% for", "{% if effort %}<|im_start|>system\n{{ effort }}<|im_end|>\n{% endif %}{% for", 1
)
VARIABLES = {"enable_thinking": False, "effort": "low"}
GOOD = repr(("doubles", "def f(x):\n    return [2 * one for one in x]"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "base", THINKING)


@pytest.fixture(scope="module")
def asked_session(base, tmp_path_factory):
    """A store with a session of the model, whose answers are cut, and two that bring answers for pairs;
    the token ids of the model's prompts by problem."""
    folder = tmp_path_factory.mktemp("asked")
    pairs = [{"problem": f"p{n}", "input": [n], "output": [2 * n]} for n in range(12)]
    for name, rows in (("pairs", pairs), ("space", [[1], [60], [70]])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    told = dict(data=str(folder / "pairs.jsonl"), space=str(folder / "space.jsonl"), max_answers=1,
                tool_calls=0, workers=1, store=folder / "store.duckdb", template="compact")  # fmt: skip
    own = peirce.run("examples", model=f"hf:{base}", model_arg=VARIABLES, max_tokens=8, **told)
    others = [
        peirce.run(
            "examples", model=FunctionProposer(lambda messages, text=text: text, text), **told
        )
        for text in (GOOD, "no function")
    ]
    tokenizer = AutoTokenizer.from_pretrained(base)
    prompts = {}
    with Store.open(folder / "store.duckdb", write=False) as store:
        for call in store.calls(own["session"]):
            if call["path"] == "step/1/propose/0":
                ids = tokenizer.apply_chat_template(
                    call["request"]["messages"], add_generation_prompt=True, return_dict=False,
                    **VARIABLES,
                )  # fmt: skip
                assert len(ids) == call["tokens_in"]
                prompts[call["problem"]] = ids
    assert len(prompts) == 12
    return folder / "store.duckdb", [one["session"] for one in (own, *others)], prompts


def test_the_tokens_that_train_are_those_that_were_asked(
    base, asked_session, tmp_path, monkeypatch
):
    place, sessions, prompts = asked_session
    peirce.pairs(*sessions, store=place, fractions=[0.5, 0.3, 0.2])
    with Store.open(place, write=False) as store:
        table = read_table(store, "last")
    trained = {}

    class Seen(PairTokens):
        def __getitem__(self, pair):
            example = super().__getitem__(pair)
            trained[table.prompt_problem[self.positions(pair)[0]]] = example["prompt_ids"]
            return example

    monkeypatch.setattr("peirce.training.dpo.run.PairTokens", Seen)
    settings = TrainConfig.from_mapping(
        {"examples": 16, "period": 8, "batch": 4, "device_batch": 4, "lora_rank": 2, "device": "cpu",
         "probe_pairs": 2}
    )  # fmt: skip
    train(str(base), table, settings, tmp_path / "out", ListLog())
    assert len(trained) >= 4
    assert trained == {name: prompts[name] for name in trained}
    assert table.settings["template_variables"] == VARIABLES


def test_lengths_and_plain_texts_are_those_of_the_prompts_that_were_asked(
    base, asked_session, tmp_path
):
    place, sessions, prompts = asked_session
    longest = max(map(len, prompts.values())) + len(GOOD)
    counts = peirce.pairs(*sessions, store=place, base=base, max_length=longest, dry_run=True)
    assert counts["left_out"].get("too_long", 0) == 0
    with Store.open(place, write=False) as store:
        length = TokenLimit(ModelText(base), 10_000)
        table = build_pairs(store, sessions, PairChoices(), length).table
        text = ModelText(base, table.settings["template_variables"])
    at = [prompts[name] for name in table.prompt_problem]
    assert text.count_prompt_tokens(table.prompts) == [len(ids) for ids in at]
    peirce.pairs(*sessions, store=place, base=base, plain=True, out=tmp_path / "out", format="hf")
    import duckdb

    rows = duckdb.execute(
        f"SELECT problem, prompt FROM '{tmp_path / 'out' / 'data' / '*.parquet'}'"
    ).fetchall()
    tokenizer = AutoTokenizer.from_pretrained(base)
    for name, prompt in rows:
        assert tokenizer(prompt, add_special_tokens=False)["input_ids"] == prompts[name]


LOCAL = {"scheme": "hf"}
SERVED = {"scheme": "openai"}
SEARCH = {"scheme": "search"}


def sessions_with(store, *models):
    listed = [
        (problem(f"p{i}", offset=i),
         [answered(Verdict.ACCEPTED, "wide", [1, 1, 1]), answered(Verdict.MALFORMED, "", [])])
        for i in range(4)
    ]  # fmt: skip
    return [
        write(store, listed, space(3), model_settings=one, model=str(n))
        for n, one in enumerate(models)
    ]


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ({**LOCAL, "model_args": {"enable_thinking": False}}, {**LOCAL, "model_args": {}},
         ("enable_thinking=false", "none")),
        ({**LOCAL, "model_args": {"effort": "low"}}, {**LOCAL, "model_args": {"effort": "high"}},
         ('effort="low"', 'effort="high"')),
        ({**SERVED, "model_args": {"reasoning_effort": "low"}}, {**SERVED, "model_args": {}},
         ('reasoning_effort="low"', "none")),
        ({**SERVED, "model_args": {"chat_template_kwargs": {"enable_thinking": False}}},
         {**LOCAL, "model_args": {"enable_thinking": True}},
         ("enable_thinking=false", "enable_thinking=true")),
    ],
)  # fmt: skip
def test_sessions_that_differ_in_them_make_no_set(tmp_path, first, second, named):
    with Store.open(tmp_path / "store.duckdb", write=True) as store:
        sessions = sessions_with(store, first, second)
        with pytest.raises(UsageError) as caught:
            build_pairs(store, sessions, PairChoices())
        said = str(caught.value)
        assert "\n" not in said and all(f"{one} with {two}" in said for one, two in zip(sessions, named, strict=True))  # fmt: skip
        for session in sessions:
            assert len(build_pairs(store, [session], PairChoices()).table)


@pytest.mark.parametrize(
    ("models", "variables"),
    [
        ([{**LOCAL, "model_args": {"enable_thinking": False}}, SEARCH], {"enable_thinking": False}),
        ([{**LOCAL, "model_args": {"a": 1}}, {**SERVED, "model_args": {"top_k": 5, "chat_template_kwargs": {"a": 1}}}], {"a": 1}),
        ([{**SERVED, "model_args": {"top_k": 5}}, {**SERVED, "model_args": {"top_k": 6}}, {**LOCAL, "model_args": {}}], None),
        ([SEARCH, None], None),
    ],
)  # fmt: skip
def test_sessions_that_agree_in_them_make_one_set(tmp_path, models, variables):
    with Store.open(tmp_path / "store.duckdb", write=True) as store:
        sessions = sessions_with(store, *models)
        assert (
            build_pairs(store, sessions, PairChoices()).table.settings.get("template_variables")
            == variables
        )


def test_a_base_whose_template_lacks_a_variable_is_worded_without_it(tmp_path):
    other = make_model(tmp_path / "other")
    messages = [{"role": "user", "content": "a"}]
    assert ModelText(other, VARIABLES).render_prompt(messages) == ModelText(other).render_prompt(
        messages
    )
    settings = TrainConfig.from_mapping({"device": "cpu"})
    opened = load_base(find_base(str(other)), settings, "cpu", VARIABLES)
    assert opened.wording.render_prompt(messages) == ModelText(other).render_prompt(messages)
    assert tokens_module.answer_end_token(opened.wording, [2]) == 2


def test_only_sessions_that_recorded_digests_of_prompts_are_described(tmp_path):
    told = {**LOCAL, "model_args": {}, "chat_template": "0" * 16}
    with Store.open(tmp_path / "store.duckdb", write=True) as store:
        sessions = sessions_with(store, told, SEARCH)
        assert "rendering" not in build_pairs(store, sessions, PairChoices()).table.settings


def test_a_set_describes_how_a_session_rendered_its_prompts(asked_session):
    place, sessions, prompts = asked_session
    with Store.open(place, write=False) as store:
        (told,) = build_pairs(store, sessions, PairChoices()).table.settings["rendering"]
        assert told["session"] == store.digest(sessions[0])
    assert told["variables"] == VARIABLES and len(told["chat_template"]) == 16
    assert len(told["prompts"]) == 4
    wanted = {digest_prompt(ids) for ids in prompts.values()}
    assert {one["digest"] for one in told["prompts"]} < wanted
