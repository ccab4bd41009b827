"""`peirce train` and `peirce eval training` on the command line."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from peirce.store import Point, Store
from peirce.training.dpo import TrainConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))


@pytest.fixture
def folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "140")
    return folder


def test_every_setting_has_a_flag_with_its_default(peirce) -> None:
    code, out, _ = peirce("train", "--help")
    assert code == 0
    for name in TrainConfig.model_fields:
        assert f"--{name.replace('_', '-')}" in out
    told = " ".join(out.replace("│", " ").split())
    assert "Beta of the DPO loss (0.5)" in told and "--four-bit --no-four-bit" in told


def test_settings_of_a_training_do_not_come_from_peirce_toml(peirce, tmp_path) -> None:
    """`batch` of [proposer] is that of a local model, `examples` that of labelled text."""
    (tmp_path / "peirce.toml").write_text('examples = "7"\n[proposer]\nbatch = 4\n')
    code, out, _ = peirce("doctor", "--json")
    settings = {one["key"]: one["value"] for one in json.loads(out)["settings"]}
    assert code == 0 and str(settings["proposer.batch"]) == "4" and settings["examples"] == "7"
    (tmp_path / "peirce.toml").write_text("period = 4\n")
    code, _, err = peirce("doctor", "--json")
    assert code == 2 and "unknown key 'period'" in err


# torch warns when it is first imported; pytest shows what Python's own filter hides from a user.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_does_not_go_together_is_one_sentence(peirce) -> None:
    Path("file").touch()
    for arguments, sentence in (
        (["--list", "--merge", "a"], "--merge and --list cannot be combined: use one of them"),
        (["--merge", "a", "--out", "b", "--schedule", "fixed"], "--merge does not take --schedule"),
        (["--merge", "a", "--out", "file/b"], "cannot be created; choose another folder"),
        (
            ["--base", "a", "--out", "b", "--seed", str(2**32)],
            "seed is 4294967296; it must be from",
        ),
        (["--labels", "a", "--out", "b", "--pairs", "last"], "--labels does not take --pairs"),
        (
            ["--base", "a", "--out", "b", "--skip-bad"],
            "a training on pairs does not take --skip-bad",
        ),
        (
            ["--base", "a", "--out", "b", "--epochs", "3"],
            "a training on pairs does not take --epochs",
        ),
        (["--base", "a"], "no output folder is given: add --out DIR, or type peirce train --quick"),
        (
            ["--out", "a"],
            "no model to train is given: add --base DIR (a folder, or an id of the Hugging Face hub)",
        ),
    ):
        code, out, err = peirce("train", *arguments)
        assert (code, out) == (2, "") and sentence in err and err.count("\n") == 1, err


def test_trainings_are_listed_and_a_dead_one_is_interrupted(peirce, tmp_path) -> None:
    with Store.open(tmp_path / "peirce.duckdb", write=True) as store:
        settings = {"settings": {"schedule": "fixed", "seed": 1, "examples": 96}, "stages": ["gear"],
                    "base": {"name": "models/small", "weights": "ab"}}  # fmt: skip
        store.trainings.begin("abcd", settings)
        store.trainings.add(
            "abcd", [Point(48 * n, "gear", "probe_accuracy", 0.5 + n / 10) for n in range(3)]
        )
    code, out, _ = peirce("train", "--list", "--json")
    (row,) = json.loads(out)
    assert code == 0 and row["status"] == "interrupted" and row["examples"] == 96
    code, out, _ = peirce("train", "--list")
    assert code == 0 and "96 of 96" in out
    code, out, _ = peirce("eval", "training", "abcd", "--out", "curves", "--json")
    told = json.loads(out)
    assert told["trainings"][0]["curves"]["gear"]["probe_accuracy"] == [
        [0, 0.5],
        [48, 0.6],
        [96, 0.7],
    ]
    assert {"curves/training.csv", "curves/training.md"} <= set(told["files"])
    code, out, _ = peirce("eval", "training")
    assert code == 0 and "0.500 → 0.700" in out
    code, _, err = peirce("eval", "training", "zz")
    assert code == 1 and "no training 'zz'" in err


def test_a_training_by_flags_and_a_file_is_told_live_and_printed(
    peirce, tmp_path, monkeypatch
) -> None:
    from tiny_model import make_model, require

    require("trl", "datasets")
    find_spec = importlib.util.find_spec  # figures are left out: they take longer than the training
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *more: None if name == "matplotlib" else find_spec(name, *more),
    )
    from stored_pairs import TINY, store_pairs

    make_model(tmp_path / "base", initializer_range=0.02)
    store_pairs(tmp_path / "peirce.duckdb")
    told = {
        name: value for name, value in TINY.items() if name not in ("batch", "full", "schedule")
    }
    lines = [f"{name}: {json.dumps(value)}" for name, value in told.items()]
    Path("settings.yaml").write_text("\n".join([*lines, "schedule: momentum"]))
    code, out, err = peirce(
        "train", "--base", "base", "--out", "out", "--config", "settings.yaml", "--schedule", "fixed",
        "--batch", "4", "--full",
    )  # fmt: skip
    assert code == 0, err
    assert "16 of 16 examples, loss" in err and "accuracy parsing 1.000" in err
    assert "done after 16 examples" in out and "hf:out/model" in out
    record = json.loads(Path("out/training.json").read_text())
    assert record["settings"]["schedule"] == "fixed" and record["settings"]["period"] == 8
    code, out, err = peirce("train", "--resume", "--out", "out", "--json", "-q")
    assert code == 0 and json.loads(out)["schedule"] == "fixed"
    code, _, err = peirce("train", "--merge", "out/model", "--base", "base", "--out", "merged")
    assert code == 2 and "does not contain a LoRA adapter" in err
