"""`peirce train`: from stored pairs to weights, log, card and figures, on a tiny model.

Internals: which answers are asked for while it trains is seen where the sampler is made; and the
file of what was asked is read alone.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import peirce
import pytest
from peirce.records import PeirceError, StoreError, UsageError
from peirce.store import Store
from stored_pairs import TINY, store_pairs
from tiny_model import make_model, require

require("trl", "datasets")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("train")
    make_model(place / "base", initializer_range=0.02)
    store_pairs(place / "s.duckdb")
    return place


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are left out, as where matplotlib is absent: to draw them takes longer than to train."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *more: None if name == "matplotlib" else find_spec(name, *more),
    )


@pytest.fixture(scope="module")
def record(place: Path) -> dict:
    return peirce.train(str(place / "base"), out=place / "out", store=place / "s.duckdb", **TINY)


def test_the_record_says_what_the_training_came_to(place: Path, record: dict) -> None:
    assert record["status"] == "done" and record["examples"] == 16
    assert record["model"] == str(place / "out" / "model") and record["schedule"] == "momentum"
    assert set(record["stages"]) == {"parsing", "consistency", "gear"}
    for told in record["stages"].values():
        assert told["accuracy"][0] == 0.5 and len(told["loss"]) == 2
    json.dumps(record.to_dict())


@pytest.mark.usefixtures("without_figures")
def test_before_the_first_checkpoint_a_resume_begins_anew_with_other_settings(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, *_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    store_pairs(tmp_path / "s.duckdb")
    told = {"base": str(place / "base"), "out": tmp_path / "out", "store": tmp_path / "s.duckdb"}
    with monkeypatch.context() as patch:
        patch.setattr("trl.DPOTrainer.training_step", fail)
        with pytest.raises(PeirceError, match="Continue in the same folder with a smaller device_"):
            peirce.train(**told, **TINY)
    first = json.loads((tmp_path / "out" / "training.json").read_text())["training"]
    (tmp_path / "out" / "log.jsonl").open("a").write('[3, "", "train_loss", 9.0]\n')
    again = peirce.train(**told, **{**TINY, "beta": 0.3, "seed": 4}, resume=True)
    assert again["status"] == "done" and again["seed"] == 4 and again["training"] != first
    with Store.open(tmp_path / "s.duckdb", write=False) as store:
        assert 3 not in {p.examples for p in store.trainings.points(again["training"])}
    with pytest.raises(UsageError, match=r"contains a training with beta 0\.3, not 0\.2"):
        peirce.train(**told, **{**TINY, "beta": 0.2, "seed": 4}, resume=True)


def test_its_log_stands_in_the_store(place: Path, record: dict) -> None:
    with Store.open(place / "s.duckdb", write=False) as store:
        points = store.trainings.points(record["training"])
        (row,) = store.trainings.list()
    assert {p.examples for p in points if p.name == "probe_loss"} == {0, 8, 16}
    assert row["status"] == "done" and row["settings"]["pairs"] == record["pairs"]
    (listed,) = peirce.trainings(store=place / "s.duckdb")
    assert (listed["kind"], listed["schedule"], listed["examples"], listed["total"]) == (
        "dpo", "momentum", 16, 16
    )  # fmt: skip


def test_a_card_names_sessions_by_digest_and_no_path(place: Path, record: dict) -> None:
    text = (place / "out" / "README.md").read_text()
    assert f"`{'ab' * 8}`" in text and "| list_functions | abduce | hf:tiny |" in text
    assert str(place) not in text and "base_model: base" in text
    assert record["pairs"][:16] in text and "schedule: momentum" in text


@pytest.mark.usefixtures("without_figures")
def test_a_training_that_is_done_is_told_again_and_not_done_again(
    place: Path, record: dict
) -> None:
    again = peirce.train(out=place / "out", resume=True, store=place / "s.duckdb")
    assert {k: v for k, v in again.items() if k != "files"} == {
        k: v for k, v in record.items() if k != "files"
    }
    with pytest.raises(
        UsageError,
        match="already contains a training: continue it with --resume, or choose another folder",
    ):
        peirce.train(str(place / "base"), out=place / "out", store=place / "s.duckdb", **TINY)


@pytest.mark.usefixtures("without_figures")
def test_an_interrupted_training_goes_on_to_the_same_weights(place: Path, record: dict) -> None:
    import os
    import signal

    import torch
    from safetensors.torch import load_file

    sent = []

    def stop(told) -> None:
        if told.examples == 8 and told.phase == "train" and not sent:
            sent.append(told)
            os.kill(os.getpid(), signal.SIGINT)

    out = place / "stopped"
    base = str(place / "base")
    first = peirce.train(base, out=out, store=place / "s.duckdb", on_progress=stop, **TINY)
    assert first["status"] == "interrupted" and first["model"] is None
    second = peirce.train(out=out, resume=True, store=place / "s.duckdb")
    assert second["status"] == "done" and second["training"] == first["training"]
    whole, parts = (load_file(p / "model" / "model.safetensors") for p in (place / "out", out))
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    curves = peirce.training_curves(
        record["training"], second["training"], store=place / "s.duckdb"
    )
    one, other = (found["curves"]["gear"]["probe_loss"] for found in curves["trainings"])
    assert one == other


@pytest.mark.usefixtures("without_figures")
def test_a_resume_takes_what_a_file_says_and_what_is_not_said_as_it_was(
    place: Path, record: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peirce.commands.train import training

    out, asked = place / "unsampled", []
    sampler = training._sampler

    def watched(store, pairs, counts, answers, settings):
        asked.append((answers, settings.keep))
        return sampler(store, pairs, counts, answers, settings)

    monkeypatch.setattr(training, "_sampler", watched)
    told = {**TINY, "examples": 8, "keep": 3}
    peirce.train(str(place / "base"), out=out, store=place / "s.duckdb", sample_answers=0, **told)
    peirce.train(out=out, resume=True)
    config = tmp_path / "settings.yaml"
    config.write_text("keep: 5")
    peirce.train(out=out, resume=True, config=config)
    peirce.train(out=out, resume=True, config=config, keep=4, sample_answers=2)
    assert asked == [(0, 3), (0, 3), (0, 5), (2, 4)]
    config.write_text("learning_rate: 0.5")
    with pytest.raises(UsageError, match=r"with learning_rate 0.001, not 0.5"):
        peirce.train(out=out, resume=True, config=config)


def test_what_was_asked_is_damaged_in_one_sentence(tmp_path: Path) -> None:
    from peirce.commands.train.training_folder import read_request
    from peirce.records import DataError

    for text in ("[]", "{", '{"kind": "dpo", "settings": [1]}', '{"kind": "none"}'):
        (tmp_path / "asked.json").write_text(text)
        with pytest.raises(DataError, match=r"asked\.json"):
            read_request(tmp_path, "dpo")


def test_bad_input_is_one_sentence_each(place: Path, tmp_path: Path) -> None:
    base, store = str(place / "base"), place / "s.duckdb"
    empty = tmp_path / "empty.duckdb"
    Store.open(empty, write=True).close()
    for wanted, kind, match in (
        (dict(base=base, store=empty), StoreError, "holds no pairs yet"),
        (dict(base=base, pairs="zz"), StoreError, "no pairs 'zz'"),
        (dict(base=str(place / "nowhere")), UsageError, "does not exist"),
        (dict(base=base, schedule="moment"), UsageError, "valid: momentum, fixed"),
        (dict(base=base, perod=8), UsageError, "did you mean period"),
        (dict(base=base, sample_answers=-1), UsageError, "at least 0"),
        (
            dict(base=None),
            UsageError,
            "no model to train is given: add --base DIR",
        ),
        (dict(base=None, resume=True), UsageError, "contains no training yet"),
    ):
        out = tmp_path / "out"
        with pytest.raises(kind, match=match):
            peirce.train(**{"store": store, "out": out, **TINY, **wanted})
        assert not (out / "asked.json").exists()
