"""A training refuses a base that does not render the prompts as the sessions did, or that writes the
current date into them; --render-anew trains on the base's own rendering, with a date that a resume
keeps. Skipped where the extra `train` is absent.

Internals: the tokens of a training's pairs are read where it takes them.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import datetime

import peirce
import pytest
from model_families import FAMILIES, make_family_model
from tiny_model import TEMPLATE, make_model, require
from tiny_pairs import make_table

require("trl", "datasets")
from peirce.agents.scripted import FunctionProposer  # noqa: E402
from peirce.records import PROMPT_DIGEST, ToolSpec, UsageError, digest_prompt  # noqa: E402
from peirce.store import Store  # noqa: E402
from peirce.training import find_base, read_table  # noqa: E402
from peirce.training.dpo import ListLog, TrainConfig, train  # noqa: E402
from peirce.training.dpo.models import open_wording  # noqa: E402
from peirce.training.dpo.pair_tokens import PairTokens  # noqa: E402
from peirce.training.dpo.sampling import AnswerSampler  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

TABLE = make_table()
SMALL = {"examples": 16, "period": 8, "batch": 4, "device_batch": 4, "probe_pairs": 2, "lora_rank": 2,
         "device": "cpu", "schedule": "fixed"}  # fmt: skip
ASKED = [{"role": "system", "content": "You find rules."}, {"role": "user", "content": "What?"}]
GOOD = repr(("doubles", "def f(x):\n    return [2 * one for one in x]"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = {}

    def folder_of(name, **config):
        if (name, *config) not in made:
            folder = tmp_path_factory.mktemp("family") / name.replace(" ", "_").replace(".", "")
            made[name, *config] = make_family_model(folder, name, **config)
        return made[name, *config]

    return folder_of


def wording_of(folder, variables=None):
    return open_wording(find_base(str(folder)), None, TrainConfig.from_mapping({}), variables)


def rendered_by(folder, variables=None, asked=ASKED, **changed):
    """The table, as if one session with a model in this folder had asked `asked`."""
    words = wording_of(folder, variables)
    session = {
        "session": "ab" * 32, "model": "hf:0123", "chat_template": words.digest,
        "variables": dict(variables or {}),
        "prompts": [{"messages": asked, "digest": digest_prompt(words.tokenize_prompt(asked))}],
        **changed,
    }  # fmt: skip
    settings = {"sessions": ["ab" * 32], "rendering": [session]}
    if variables:
        settings["template_variables"] = dict(variables)
    return replace(TABLE, settings=settings).with_digest()


def run(folder, table, out, *, resume=False, interrupt=None, **changed):
    settings = TrainConfig.from_mapping({**SMALL, **changed})
    return train(str(folder), table, settings, out, ListLog(), resume=resume, interrupt=interrupt,
                 session_names={"ab" * 32: "session 4f1c of model big"})  # fmt: skip


def refused(folder, table, out, **changed):
    with pytest.raises(UsageError) as caught:
        run(folder, table, out, **changed)
    said = str(caught.value)
    assert "\n" not in said and "--render-anew" in said and len(said) < 500
    assert not (out / "training.json").exists()  # so another attempt can use the folder
    return said


def seen_prompts(monkeypatch, folder):
    """The prompts as texts that trainings take from now on."""
    tokenizer, seen = AutoTokenizer.from_pretrained(folder), []
    taken = PairTokens.__getitem__

    def see(self, pair):
        example = taken(self, pair)
        seen.append(tokenizer.decode(example["prompt_ids"]))
        return example

    monkeypatch.setattr(PairTokens, "__getitem__", see)
    return seen


# --- what is refused ------------------------------------------------------------------------------


def test_a_base_that_reproduces_the_prompts_trains_without_a_note(folders, tmp_path):
    folder = folders("qwen3 without thinking")
    table = rendered_by(folder, {"enable_thinking": False})
    assert run(folder, table, tmp_path / "out").fields["said"] == []


def test_another_template_is_refused_by_its_name(folders, tmp_path):
    question = ASKED[1:]  # without instructions, which Qwen2.5 then adds
    table = rendered_by(folders("qwen3"), asked=question)
    said = refused(folders("qwen2.5"), table, tmp_path / "out")
    assert "does not reproduce the prompts of session 4f1c of model big" in said
    assert "its chat template is another one" in said
    own = rendered_by(
        folders("qwen3"), asked=question, chat_template=None
    )  # of a model behind a URL
    said = refused(folders("qwen2.5"), own, tmp_path / "out")
    assert "template, the variables of the template or its tokenizer are different" in said
    same = rendered_by(folders("qwen3"))  # with instructions, both templates write the same prompt
    assert run(folders("qwen2.5"), same, tmp_path / "same").status == "done"


def test_other_variables_are_refused(folders, tmp_path):
    folder = folders("qwen3")
    table = rendered_by(folder, {"enable_thinking": False})
    settings = {k: v for k, v in table.settings.items() if k != "template_variables"}
    said = refused(folder, replace(table, settings=settings).with_digest(), tmp_path / "out")
    assert "the variables of its chat template are different" in said


def test_another_tokenizer_is_refused(folders, tmp_path):
    folder = folders("qwen2.5")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["You find"])
    other = shutil.copytree(folder, tmp_path / "other")
    tokenizer.save_pretrained(other)
    said = refused(folder, rendered_by(other), tmp_path / "out")
    assert "its tokenizer is another one" in said


def test_prompts_that_offered_tools_are_compared_with_the_tools(tmp_path):
    tool = {"name": "execute", "description": "runs code", "parameters": {"type": "object"}}
    offers = "{% for t in tools or [] %}tool {{ t.function.name }}\n{% endfor %}"
    folder = make_model(tmp_path / "offers", offers + TEMPLATE, num_hidden_layers=1)
    ids = wording_of(folder).tokenize_prompt(ASKED, [ToolSpec(**tool)])
    assert ids != wording_of(folder).tokenize_prompt(ASKED)
    prompt = {"messages": ASKED, "tools": [tool], "digest": digest_prompt(ids)}
    table = rendered_by(folder, prompts=[prompt])
    assert run(folder, table, tmp_path / "out").fields["said"] == []
    table = rendered_by(folder, prompts=[{**prompt, "tools": []}])
    assert "its tokenizer is another one" in refused(folder, table, tmp_path / "other")


def test_a_prompt_that_the_template_refuses_is_refused(folders, tmp_path):
    two = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}] * 2
    table = rendered_by(folders("gemma3"))
    (session,) = table.settings["rendering"]
    session = {**session, "prompts": [{"messages": [*two[1:], *two], "digest": "0" * 16}]}
    table = replace(table, settings={**table.settings, "rendering": [session]}).with_digest()
    said = refused(folders("gemma3"), table, tmp_path / "out")
    assert "cannot be rendered" in said and "must alternate" in said


def test_a_template_that_writes_the_date_is_refused_unless_a_variable_fixes_it(folders, tmp_path):
    llama, harmony = folders("llama3.2 of today"), folders("gpt-oss")
    said = refused(llama, rendered_by(llama), tmp_path / "out")
    assert "writes the current date into each prompt" in said
    assert "set the template variable date_string in the sessions (--model-arg)" in said
    said = refused(harmony, TABLE, tmp_path / "out")
    assert "writes the current date" in said and "date_string" not in said
    fixed = rendered_by(llama, FAMILIES["llama3.2"].variables)
    assert run(llama, fixed, tmp_path / "fixed").status == "done"


# --- --render-anew ----------------------------------------------------------------------------------


def test_rendering_anew_uses_the_base_s_own_template_without_the_variables(
    folders, tmp_path, monkeypatch
):
    folder = folders("qwen3")
    seen = seen_prompts(monkeypatch, folder)
    table = rendered_by(folders("qwen3 without thinking"), {"enable_thinking": False})
    trained = run(folder, table, tmp_path / "anew", render_anew=True)
    assert "rendered with the base's own chat template" in " ".join(trained.fields["said"])
    words = wording_of(folder)
    wanted = {words.render_prompt(one) + FAMILIES["qwen3"].lead for one in table.prompts}
    assert seen and set(seen) <= wanted
    other = run(folders("qwen2.5"), table, tmp_path / "other", render_anew=True)
    assert other.status == "done"


@pytest.mark.parametrize(
    ("name", "written"),
    [("llama3.2 of today", "Today Date: 29 Feb 2024\n"), ("gpt-oss", "Current date: 2024-02-29\n")],
)
def test_the_date_of_the_first_start_is_kept_over_a_resume(
    folders, tmp_path, monkeypatch, name, written
):
    class Past(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2024, 2, 29, 12, 0, 0)

    folder, out = folders(name), tmp_path / "out"
    seen = seen_prompts(monkeypatch, folder)
    stops = iter((False, True))
    with monkeypatch.context() as patch:
        patch.setattr("peirce.training.dpo.run.datetime", Past)
        first = run(folder, TABLE, out, render_anew=True, interrupt=lambda: next(stops))
    assert first.status == "interrupted"
    assert json.loads((out / "training.json").read_text())["prompt_date"] == "2024-02-29"
    before = len(seen)
    assert run(folder, TABLE, out, render_anew=True, resume=True).status == "done"
    assert len(seen) > before and all(written in one for one in seen)
    saved = AutoTokenizer.from_pretrained(out / "adapter").chat_template
    assert saved == FAMILIES[name].source  # which writes the current date in sessions
    with pytest.raises(UsageError, match="render_anew True, not False"):
        run(folder, TABLE, out, resume=True)


def test_a_resume_with_an_edited_template_is_refused(folders, tmp_path):
    folder, out, template = folders("qwen2.5"), tmp_path / "out", tmp_path / "own.jinja"
    template.write_text("{% for m in messages %}{{ m.content }}\n{% endfor %}A:")
    stops = iter((False, True))
    changed = {"chat_template": str(template), "render_anew": True}
    first = run(folder, TABLE, out, interrupt=lambda: next(stops), **changed)
    assert first.status == "interrupted"
    template.write_text("{% for m in messages %}{{ m.content }}\n{% endfor %}Answer:")
    with pytest.raises(UsageError, match="rendered its prompts with another chat template: resume"):
        run(folder, TABLE, out, resume=True, **changed)


DATE_CALL = 'strftime_now("%d %b %Y")'
HIDDEN_DATES = {
    "a computed format": ("{%- set day = '%d' -%}", "strftime_now(day ~ ' %b %Y')"),
    "a space before the bracket": ("", "strftime_now ('%d %b %Y')"),
    "another name": ("{%- set now = strftime_now -%}", "now('%d %b %Y')"),
    "a macro": (
        "{%- macro now() -%}{{ strftime_now(format='%d %b %Y') }}{%- endmacro -%}",
        "now()",
    ),
}


@pytest.mark.parametrize("kind", list(HIDDEN_DATES))
def test_a_date_is_noticed_and_fixed_however_the_template_asks_for_it(folders, tmp_path, kind):
    before, call = HIDDEN_DATES[kind]
    folder, path = folders("llama3.2 of today"), tmp_path / "own.jinja"
    path.write_text(before + FAMILIES["llama3.2"].source.replace(DATE_CALL, call))
    refused(folder, TABLE, tmp_path / "out", chat_template=str(path))
    settings = TrainConfig.from_mapping({**SMALL, "chat_template": str(path)})
    wording = open_wording(find_base(str(folder)), None, settings, {}, date="2024-07-26")
    assert "Today Date: 26 Jul 2024\n" in wording.render_prompt(ASKED)


def test_a_fixed_date_changes_nothing_else_in_a_prompt(folders, tmp_path):
    path = tmp_path / "own.jinja"
    for start in ("\n\n", "  {% if 1 %}x{% endif %}", "{{- ' a' }}", "{#- note -#} b"):
        path.write_text(start + "100%% {{ strftime_now('%Y 5%% %%Y') }}\n{{ messages[0].content }}")
        settings = TrainConfig.from_mapping({**SMALL, "chat_template": str(path)})
        base = find_base(str(folders("qwen3")))
        today = open_wording(base, None, settings, {}).render_prompt(ASKED)
        fixed = open_wording(base, None, settings, {}, date="0999-01-01").render_prompt(ASKED)
        year = str(datetime.now().year)
        assert f"{year} 5% %Y\n" in today
        assert fixed == today.replace(f"{year} 5% %Y", datetime(999, 1, 1).strftime("%Y 5%% %%Y"))


def test_a_template_that_only_asks_whether_dates_exist_writes_none(folders, tmp_path):
    path = tmp_path / "own.jinja"
    path.write_text("{{ 'dated' if strftime_now is defined }} {{ messages[0].content }}")
    settings = TrainConfig.from_mapping({**SMALL, "chat_template": str(path)})
    wording = open_wording(find_base(str(folders("qwen3"))), None, settings, {})
    assert wording.refers_to_date and not wording.writes_date()


@pytest.mark.parametrize("name", ["qwen3", "r1"])
def test_samples_begin_where_the_answers_of_pairs_begin(folders, tmp_path, monkeypatch, name):
    rows, work = [], AnswerSampler._batch

    def see(self, model, ids):
        rows.extend(ids)
        return work(self, model, ids)

    monkeypatch.setattr(AnswerSampler, "_batch", see)
    settings = TrainConfig.from_mapping({**SMALL, "sample_tokens": 3})
    train(str(folders(name)), TABLE, settings, tmp_path / "out", ListLog(),
          measure_samples=lambda ask: {"instruction_following": float(len(ask([ASKED], 1)))})  # fmt: skip
    tokenizer = AutoTokenizer.from_pretrained(folders(name))
    begun = wording_of(folders(name)).render_prompt(ASKED) + FAMILIES[name].lead
    assert len(rows) == 3 and {tokenizer.decode(row) for row in rows} == {begun}


# --- what a set of pairs holds ----------------------------------------------------------------------


def test_sets_without_recorded_prompts_train_with_a_note(folders, tmp_path):
    folder = folders("qwen2.5")
    assert run(folder, TABLE, tmp_path / "none").fields["said"] == []  # of no session
    for count, words in ((1, "of 1 session,"), (3, "of 3 sessions,")):
        table = replace(TABLE, settings={"sessions": ["0" * 64] * count}).with_digest()
        (said,) = run(folder, table, tmp_path / str(count)).fields["said"]
        assert words in said and said.startswith("No token ids are known of the prompts")


def test_a_session_a_set_and_a_training_of_one_model_agree(folders, tmp_path, monkeypatch):
    folder = folders("qwen3")
    pairs = [{"problem": f"p{n}", "input": [n], "output": [2 * n]} for n in range(12)]
    for name, rows in (("pairs", pairs), ("space", [[1], [60], [70]])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    told = dict(data=str(tmp_path / "pairs.jsonl"), space=str(tmp_path / "space.jsonl"), max_answers=1,
                tool_calls=0, workers=1, store=tmp_path / "store.duckdb", template="compact")  # fmt: skip
    sessions = [peirce.run("examples", model=f"hf:{folder}", max_tokens=4, **told)["session"]]
    for text in (GOOD, "no function"):
        model = FunctionProposer(lambda messages, text=text: text, text)
        sessions.append(peirce.run("examples", model=model, **told)["session"])
    peirce.pairs(*sessions, store=told["store"], fractions=[0.5, 0.3, 0.2])
    asked = {}
    with Store.open(told["store"], write=False) as store:
        table, digest = read_table(store, "last"), store.digest(sessions[0])
        for call in store.calls(sessions[0]):
            if call["path"] == "step/1/propose/0":
                asked[call["problem"]] = call["response"]["meta"][PROMPT_DIGEST]
    (session,) = table.settings["rendering"]
    assert session["session"] == digest and session["variables"] == {}
    assert len(session["prompts"]) == 4
    assert {one["digest"] for one in session["prompts"]} <= set(asked.values())
    trained = {}
    taken = PairTokens.__getitem__
    tokenizer = AutoTokenizer.from_pretrained(folder)
    lead = tokenizer(FAMILIES["qwen3"].lead, add_special_tokens=False)["input_ids"]

    def see(self, pair):
        example = taken(self, pair)
        place = self.positions(pair)[0]
        assert example["prompt_ids"][-len(lead) :] == lead
        trained[table.prompt_problem[place]] = digest_prompt(example["prompt_ids"][: -len(lead)])
        return example

    monkeypatch.setattr(PairTokens, "__getitem__", see)
    said = " ".join(run(folder, table, tmp_path / "out").fields["said"])
    assert "No token ids are known of the prompts of 2 sessions," in said
    assert trained and trained == {name: asked[name] for name in trained}
    with pytest.raises(UsageError) as caught:
        peirce.train(folders("gemma3"), out=tmp_path / "other", store=told["store"], **SMALL)
    assert f"the prompts of session {sessions[0]} of model hf:" in str(caught.value)


def test_a_date_that_is_none_is_refused(folders, tmp_path):
    settings = TrainConfig.from_mapping({**SMALL, "render_anew": True})
    with pytest.raises(UsageError, match="prompt_date 'today' is no date: write it as 2026-11-29"):
        train(
            str(folders("qwen3")), TABLE, settings, tmp_path / "out", ListLog(), prompt_date="today"
        )
    assert not (tmp_path / "out").exists()
