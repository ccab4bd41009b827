"""`peirce reproduce gear-table4` with settings that change between two starts, and with prompts that
have a date and variables. A tiny base and a scripted model in this process.

Internals: a training step is made to run out of memory, and the first start is moved into the past.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.records import PeirceError, UsageError
from peirce.store import Store
from peirce.training import read_table
from published_set import TRAINING, write_published
from tiny_model import TEMPLATE, make_model, require

SIZES: dict[str, Any] = {
    "held_out": 2, "max_answers": 5, "template": "compact", "max_tokens": 16, "examples": 16,
    "period": 8, "rounds": 1, "workers": 1, "concurrency": 1,
}  # fmt: skip
DATED = "{{ strftime_now('%d %b %Y') }} {{ tone }}\n" + TEMPLATE


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    require("trl", "datasets")
    monkeypatch.chdir(tmp_path)
    return write_published(tmp_path / "data", ("acre",), problems=4, counts=(2,))


def reproduce(data: Path, **changed: Any) -> Any:
    told = {
        "base": "tiny", "data": data, "out": data.parent / "out", "train_config": data / "train.yaml",
        "collect": ["scripted:data/script.json"], "schedule": ["momentum"], **SIZES, **changed,
    }  # fmt: skip
    return peirce.reproduce("gear-table4", **told)


def read(data: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((data.parent / "out" / name).read_text())
    return found


def configure(data: Path, **changed: object) -> None:
    lines = [one for one in TRAINING.splitlines() if one.partition(":")[0] not in changed]
    lines += [f"{name}: {value}" for name, value in changed.items()]
    (data / "train.yaml").write_text("\n".join(lines) + "\n")


def test_after_a_training_without_memory_other_settings_are_taken_until_one_has_begun(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_inconsistent_answer(data)  # for pairs of two stages, between which momentum can move draws

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patch:
        patch.setattr("trl.DPOTrainer.training_step", fail)
        with pytest.raises(PeirceError, match="smaller device_batch or with recompute true"):
            reproduce(data)
    paid = {
        name: one["session"] for name, one in read(data, "steps.json").items() if "session" in one
    }
    pairs = read(data, "steps.json")["pairs"]["digest"]
    configure(data, device_batch=4, max_length=600, learning_rate="1.0e-3")
    done = reproduce(data, schedule=["fixed"], examples=24)
    assert [row.trained_by for row in done.rows if row.source == "here"] == ["base", "fixed"]
    steps = read(data, "steps.json")
    assert paid.items() <= {name: one.get("session") for name, one in steps.items()}.items()
    assert steps["pairs"]["digest"] != pairs  # of the shorter limit
    assert steps["train fixed"]["examples"] == 24
    assert read(data, "experiment.json")["settings"]["train_config"]["max_length"] == 600
    configure(data, device_batch=4, max_length=600, learning_rate="2.0e-3")
    with pytest.raises(
        UsageError, match=r"with learning_rate 0\.001 of --train-config, not 0\.002"
    ):
        reproduce(data, schedule=["fixed"], examples=24)
    configure(data, device_batch=2, max_length=600, learning_rate="1.0e-3", recompute="true")
    with pytest.raises(UsageError, match="was begun with --examples 24, not 16"):
        reproduce(data, schedule=["fixed"])
    with pytest.raises(
        UsageError, match="begun with --schedule fixed, and this training has begun"
    ):
        reproduce(data, examples=24)
    more = reproduce(data, schedule=["fixed", "momentum"], examples=24)
    assert [row.trained_by for row in more.rows if row.source == "here"][2] == "momentum"
    held = read(data, "trainings/momentum/training.json")
    assert held["settings"]["device_batch"] == 2 and held["reach"]["schedule"] == "momentum"
    trainings = read(data, "results.json")["trainings"]
    assert trainings["momentum"]["reach"] == held["reach"] and trainings["fixed"]["reach"] is None
    assert "momentum moves at most" in (data.parent / "out" / "results.md").read_text()


def test_one_date_and_the_variables_of_base_arg_are_in_pairs_trainings_and_evaluations(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Past(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Past:
            return cls(2024, 2, 29, 12, 0, 0)

    base = make_model(data.parent / "base", DATED, num_hidden_layers=1)
    told: dict[str, Any] = {"base": base, "base_arg": ["tone=calm"], "skip_failed": True}
    with monkeypatch.context() as patch:
        patch.setattr("peirce.commands.reproduce.experiment.datetime", Past)
        patch.setattr("peirce.commands.reproduce.experiment._Experiment._train", stop)
        with pytest.raises(PeirceError, match="stopped here"):
            reproduce(data, **told)
    assert read(data, "experiment.json")["prompt_date"] == "2024-02-29"
    reproduce(data, **told)  # on another day
    held = read(data, "trainings/momentum/training.json")
    assert held["prompt_date"] == "2024-02-29" and held["rendering"]["variables"] == {
        "tone": "calm"
    }
    assert any('the variables tone="calm"' in one for one in held["fields"]["said"])
    steps = read(data, "steps.json")
    with Store.open(data.parent / "out" / "sessions.duckdb", write=False) as store:
        for name in ("evaluate base acre", "evaluate momentum acre"):
            settings = store.settings(steps[name]["session"])["model_settings"]
            assert settings["prompt_date"] == "2024-02-29"
            assert settings["model_args"] == {"tone": "calm"}
        rendered = read_table(store, steps["pairs"]["digest"]).settings["length"]["rendered"]
    assert rendered["date"] == "2024-02-29" and rendered["variables"] == {"tone": "calm"}


def stop(*_: object) -> None:
    raise PeirceError("stopped here")


def test_a_stage_whose_pairs_are_all_too_long_is_left_out_with_a_sentence(data: Path) -> None:
    add_inconsistent_answer(data, words=300)  # the only answer that consistency pairs reject
    configure(data, max_length=320)
    done = reproduce(data, schedule=["single:parsing", "single:consistency"])
    wanted = (
        "the sessions gave no consistency pairs for train and validation that fit the training ("
    )
    (said,) = (one for one in done.left_out if one.startswith("train single:consistency: "))
    assert wanted in said and said.endswith(" pairs of all stages were too long).")
    assert [row.trained_by for row in done.rows if row.source == "here"] == [
        "base",
        "single:parsing",
    ]


def add_inconsistent_answer(data: Path, words: int = 1) -> None:
    code = f"def f(x):\n    return 'off'  # {'never ' * words}"
    script = json.loads((data / "script.json").read_text())
    for answers in script.values():
        answers.append(repr(("nothing happens", code)))
    (data / "script.json").write_text(json.dumps(script))


def test_folders_of_something_else_stay_as_they_are(data: Path) -> None:
    other = data.parent / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"contains other files \(notes\.txt\)"):
        reproduce(data, out=other)
    assert [one.name for one in other.iterdir()] == ["notes.txt"]
    begun = data.parent / "begun"
    begun.mkdir()
    request = {"settings": {}, "data": {}, "base": {"name": "big", "weights": "0" * 64}}
    (begun / "experiment.json").write_text(json.dumps(request))
    with pytest.raises(UsageError, match="was begun with --base big, not tiny"):
        reproduce(data, out=begun)
    assert not (begun / "base").exists()


def test_the_folder_is_read_under_its_lock(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process recorded while this one waited for the lock counts."""
    from peirce.commands.reproduce.folder import ExperimentFolder

    folder = ExperimentFolder(data.parent / "out")
    with ExperimentFolder(data.parent / "out").locked():
        (data.parent / "out" / "experiment.json").write_text(
            json.dumps({"settings": {}, "data": {}, "base": {"name": "n", "weights": "w"}})
        )
        (data.parent / "out" / "steps.json").write_text('{"pairs": {}}')
        with pytest.raises(UsageError, match="another process works on this experiment"):
            folder.locked().__enter__()
    with folder.locked():
        assert folder.steps == {"pairs": {}} and folder.request["base"]["name"] == "n"


def test_fsdp_without_a_launcher_and_settings_of_prompts_in_other_places_are_refused(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("ACCELERATE_USE_FSDP", "true")
        with pytest.raises(UsageError, match="no launcher started this process"):
            reproduce(data)
    with pytest.raises(UsageError, match="--base-arg sets prompt_date: leave it out"):
        reproduce(data, base_arg=["prompt_date=2024-01-01"])
    configure(data, chat_template="plain")
    with pytest.raises(UsageError, match="use --base-arg chat_template=FILE of peirce reproduce"):
        reproduce(data)
    assert not (data.parent / "out").exists()
