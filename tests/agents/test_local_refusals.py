"""Checks what is refused of models in this process (`hf:`), each in one sentence. Skipped where the extra
`local` is absent."""

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
    alone,
    refused,
    told,
    using,
)
from peirce.records import DataError, Unavailable
from tiny_model import edit_json, make_model, require

require()

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
        ({"timeout_s": 5}, "does not take a setting 'timeout_s'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(base, settings, said):
    assert said in refused(f"hf:{base}", **settings)


def test_what_is_no_model_is_refused_with_what_it_lacks(base, adapter, copied, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "names no model" in refused("hf:")
    assert f"model folder {str(tmp_path / 'gone')!r} does not exist" in refused(
        f"hf:{tmp_path}/gone"
    )
    assert "is a file" in refused(f"hf:{base / 'config.json'}")
    assert "'empty' does not contain a model: config.json" in refused(f"hf:{empty}")
    assert " does not contain a LoRA adapter: " in refused(f"hf:{base}+{empty}")
    assert "does not exist" in refused(f"hf:{base}+{tmp_path}/gone")
    (copied / "model.safetensors").unlink()
    assert "'copied' does not contain weights" in refused(f"hf:{copied}")
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
    assert "is incomplete: 12 of its weights are missing or have another shape (" in refused(
        f"hf:{copied}", DataError
    )
    small = make_model(tmp_path / "small", vocab_size=50)
    assert "more than the 50 that the model embeds" in refused(f"hf:{small}", DataError)


def test_a_folder_without_a_tokenizer_is_refused(copied):
    for path in copied.glob("tokenizer*"):
        path.unlink()
    said = refused(f"hf:{copied}", DataError)
    assert said == "'copied' does not contain a usable tokenizer (tokenizer.json)"


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
         "does not end: it was stopped after 1,000,000 steps"),
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


# Opens an id, once with the variables of each argument. The hub's client reads them when it is imported,
# so each is a process, forked from one that has imported torch.
OPENING = """
import asyncio, json, os, sys, time
import torch
from peirce.agents import open_model

def open_it():
    began = time.monotonic()
    try:
        proposer = asyncio.run(open_model("hf:org/tiny", {}))
        print(proposer.settings()["commits"], proposer.settings()["answers_from"])
    except Exception as error:
        print(type(error).__name__, error)
    assert time.monotonic() - began < 30

assert "huggingface_hub" not in sys.modules
for variables in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.environ.update(json.loads(variables))
        open_it()
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
COMMIT = "0" * 40


@pytest.fixture(scope="module")
def opened(base, tmp_path_factory):
    """What opening an id says: with the hub switched off, with a hub that is not reached, and with one
    that is not reached but has the model in its cache."""
    folder = tmp_path_factory.mktemp("hub")
    repository = folder / "cached" / "hub" / "models--org--tiny"
    shutil.copytree(base, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    dead = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    empty = {**dead, "HF_HOME": str(folder / "empty")}
    cases = {
        "offline": {**empty, "HF_HUB_OFFLINE": "1"}, "online": {**empty, "HF_HUB_OFFLINE": "0"},
        "cached": {**dead, "HF_HOME": str(folder / "cached")},
    }  # fmt: skip
    command = [sys.executable, "-c", OPENING, *map(json.dumps, cases.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) == len(cases), done.stdout
    return dict(zip(cases, said, strict=True))


@pytest.mark.parametrize("hub", ["offline", "online"])
def test_an_id_that_cannot_be_fetched_is_one_sentence_and_no_minutes_of_retries(opened, hub):
    assert opened[hub].startswith("UsageError model 'org/tiny' is no folder here, is not in the hub's cache")  # fmt: skip
    assert ("HF_HUB_OFFLINE is set" in opened[hub]) == (hub == "offline")


def test_an_id_in_the_hubs_cache_is_taken_from_there_with_its_commit(opened):
    assert opened["cached"] == f"['{COMMIT}', None] {{'name': 'org/tiny'}}"
