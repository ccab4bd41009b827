"""`peirce train --labels`: a classifier for each data set, and its row in HypoBench's tables.

Internals: settings as a file of YAML gives them, and the rows of a data set as the command reads them.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import peirce
import pytest
from peirce.commands.train.labelled_training import make_settings, read_sets
from peirce.records import DataError, UsageError
from peirce.store import Store
from peirce.tasks import DataWarning
from peirce.training.classifier import encode_rows
from tiny_model import make_adapter, make_model, require

WORDS = {"wet": ("rain", "flood", "storm"), "dry": ("sun", "dust", "heat")}


def write_set(folder: Path, counts: dict[str, int]) -> Path:
    """A published layout: a word says the label."""
    folder.mkdir(parents=True)
    lines = ["task_name: weather"]
    for split, count in counts.items():
        rows = [list(WORDS)[n % 2] for n in range(count)]
        texts = [
            f"{split} day {n} had {WORDS[label][n // 2 % 3]} again" for n, label in enumerate(rows)
        ]
        place = folder / f"weather_{split}.json"
        place.write_text(json.dumps({"text": texts, "label": rows}))
        key = {"train": "train", "val": "val", "test": "test", "ood": "ood"}[split]
        lines.append(f"{key}_data_path: ./{place.name}")
    (folder / "config.yaml").write_text("\n".join([*lines, "label_name: label", ""]))
    return folder


def test_settings_are_read_as_yaml_gives_them() -> None:
    """YAML 1.1 reads 1e-4 as a text, and a name may be a number."""
    assert make_settings({"learning_rate": "1e-4", "report_to": "1e4"}).learning_rate == 1e-4
    with pytest.raises(UsageError, match="has no setting 1; valid choices are"):
        make_settings({1: 2})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require()
    place = tmp_path_factory.mktemp("labels")
    make_model(place / "base", initializer_range=0.02)
    write_set(place / "data" / "weather", {"train": 60, "val": 20, "test": 30, "ood": 20})
    write_set(place / "data" / "other", {"train": 40, "test": 12})
    return place


@pytest.fixture(scope="module")
def record(place: Path) -> dict:
    told = peirce.train_labels(
        str(place / "data"), base=str(place / "base"), out=place / "out", store=place / "s.duckdb",
        epochs=6, batch=8,
    )  # fmt: skip
    json.dumps(told.to_dict())
    return told


def test_a_classifier_learns_what_makes_the_label_also_on_another_source(record: dict) -> None:
    other, weather = record["sets"]
    assert (other["set"], weather["set"]) == ("other", "weather") and record["status"] == "done"
    assert weather["scores"]["ind"]["accuracy"] == weather["scores"]["ood"]["f1"] == 1.0
    assert (
        weather["rows"] == {"train": 60, "val": 20, "ind": 30, "ood": 20} and weather["held"] == 0
    )
    assert weather["scores"]["ind"]["low"] < 1.0 == weather["scores"]["ind"]["high"]


def test_a_set_without_validation_rows_gives_up_a_tenth_of_its_training_rows(record: dict) -> None:
    assert record["sets"][0]["held"] == 4 and "val" not in record["sets"][0]["scores"]


def test_its_files_say_what_it_said_of_each_row(place: Path, record: dict) -> None:
    folder = place / "out" / "sets" / "weather"
    rows = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    assert len(rows) == 30 + 20 + 20
    right = [row["label"] == row["predicted"] for row in rows if row["split"] == "ood"]
    assert sum(right) / len(right) == record["sets"][1]["scores"]["ood"]["accuracy"]
    card = (folder / "README.md").read_text()
    assert str(place) not in card and record["sets"][1]["digests"]["ood"][:16] in card
    assert {one.name for one in (place / "out").iterdir()} == {
        ".log.lock",
        "asked.json",
        "log.jsonl",
        "sets",
    }


def test_the_model_that_it_leaves_is_an_ordinary_one(place: Path, record: dict) -> None:
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        place / "out" / "sets" / "weather" / "model"
    )
    assert dict(model.config.id2label) == {0: "dry", 1: "wet"}


def test_its_log_has_every_pass(place: Path, record: dict) -> None:
    with Store.open(place / "s.duckdb", write=False) as store:
        points = store.trainings.points(record["training"])
    passes = {p.examples for p in points if (p.stage, p.name) == ("weather", "val_f1")}
    assert passes == {60 * n for n in range(1, record["sets"][1]["epochs"] + 1)}


def test_a_second_training_of_one_seed_is_the_same(place: Path, record: dict) -> None:
    again = peirce.train_labels(
        str(place / "data"), base=str(place / "base"), out=place / "again", store=place / "s.duckdb",
        problem=["weather"], epochs=6, batch=8,
    )  # fmt: skip
    assert {k: v for k, v in again["sets"][0].items() if k != "model"} == {
        k: v for k, v in record["sets"][1].items() if k != "model"
    }


def test_a_stopped_training_goes_on_with_the_sets_that_are_left(place: Path, record: dict) -> None:
    def stop(told) -> None:
        if told["set"] == "weather" and told["epoch"] is not None and told["epoch"].number == 2:
            raise KeyboardInterrupt

    out, store = place / "stopped", place / "s.duckdb"
    with pytest.raises(KeyboardInterrupt):
        peirce.train_labels(
            str(place / "data"), base=str(place / "base"), out=out, store=store, on_progress=stop,
            epochs=6, batch=8,
        )  # fmt: skip
    assert peirce.trainings(store=store)[-1]["status"] == "interrupted"
    cut = sorted((out / "sets").glob("*/checkpoints/checkpoint-*"))[-1]
    killed = cut.with_name("checkpoint-9999")  # of a process that was killed while it wrote it
    shutil.copytree(cut, killed)
    state = killed / "trainer_state.json"
    state.write_text(state.read_text()[:40])
    told = peirce.train_labels(out=out, resume=True)
    assert not killed.exists()
    assert [{k: v for k, v in one.items() if k != "model"} for one in told["sets"]] == [
        {k: v for k, v in one.items() if k != "model"} for one in record["sets"]
    ]
    with pytest.raises(UsageError, match="other settings"):
        peirce.train_labels(out=out, resume=True, epochs=3)
    with pytest.raises(UsageError, match="contains a classifier"):
        peirce.train(out=out, resume=True)
    (out / "sets" / "weather" / "scores.json").write_text("{")
    with pytest.raises(DataError, match="contains no scores; remove it to train this set again"):
        peirce.train_labels(out=out, resume=True)


def test_skip_bad_goes_on_without_rows_that_cannot_be_read(place: Path) -> None:
    rows = [f"{n} {WORDS[label][n % 3]},{label}" for n in range(20) for label in WORDS]
    file = place / "bad.csv"
    file.write_text("\n".join(["text,label", rows[0], "no label,", *rows[1:], ""]))
    options = {"base": str(place / "base"), "store": place / "bad.duckdb", "epochs": 1, "batch": 8}
    with pytest.raises(DataError, match=r"bad\.csv, line 3: there is no label"):
        peirce.train_labels(str(file), out=place / "refused", **options)
    with pytest.warns(DataWarning, match=r"bad\.csv: 1 record that .* is left out: line 3"):
        told = peirce.train_labels(str(file), out=place / "skipped", skip_bad=True, **options)
    assert sum(told["sets"][0]["rows"].values()) == 40
    with pytest.warns(DataWarning, match="line 3"):
        again = peirce.train_labels(out=place / "skipped", resume=True)
    assert again["sets"][0]["rows"] == told["sets"][0]["rows"]


def test_it_stands_as_a_row_of_hypobench(place: Path, record: dict) -> None:
    session = peirce.run(
        "labels", data=str(place / "data"), model="search", method="hypogenic", store=place / "s.duckdb",
        observations="20",
    ).session  # fmt: skip
    result = peirce.evaluate(
        session, name="hypobench", store=place / "s.duckdb", out=place / "tables"
    )
    mine = [one for one in result["fine_tuned"] if one["training"] == record["training"]]
    assert {one["problem"] for one in mine} == {"other#0", "weather#0"}
    for table, metric in (("table5", "ood"), ("table12", "ind")):
        with (place / "tables" / f"{table}.csv").open(newline="") as opened:
            rows = [row for row in csv.DictReader(opened) if row["row"] == "fine-tuned base"]
        (row,) = [row for row in rows if row["value"] and row["metric"] == "accuracy"]
        assert row["column"] == "base" and float(row["value"]) == pytest.approx(
            sum(o["scores"][metric]["accuracy"] for o in record["sets"] if metric in o["scores"])
            / sum(metric in o["scores"] for o in record["sets"])
        )
    text = (place / "tables" / "table5.txt").read_text()
    assert "fine-tuned Llama-8B" in text and "fine-tuned base" in text


def test_bad_input_is_one_sentence_each(place: Path, tmp_path: Path) -> None:
    base, data = str(place / "base"), str(place / "data")
    make_adapter(tmp_path / "adapter", place / "base")
    write_set(tmp_path / "few", {"train": 6, "test": 4})
    for wanted, kind, match in (
        (dict(data=data, base=None), UsageError, "--labels DATA --base DIR"),
        (dict(data=str(place / "nowhere"), base=base), UsageError, "nowhere"),
        (dict(data=data, base=str(place / "nowhere")), UsageError, "does not exist"),
        (dict(data=data, base=base, problem=["wether"]), UsageError, "did you mean weather"),
        (dict(data="labels:storms", base=base), UsageError, "labels has no generator 'storms'"),
        (
            dict(data=data, base=base, epoch=3),
            UsageError,
            "no setting 'epoch'; did you mean epochs",
        ),
        (dict(data=data, base=str(tmp_path / "adapter")), UsageError, "is an adapter"),
        (dict(data=data, base=base, report_to="notes"), UsageError, "notes is not supported"),
        (dict(data=str(tmp_path / "few"), base=base), DataError, "6 training rows"),
        (
            dict(data=[{"text": "mild"}], base=base),
            DataError,
            "^table of 1 row and 1 column: there is no label column 'label'",
        ),
    ):
        with pytest.raises(kind, match=match):
            peirce.train_labels(**wanted, out=tmp_path / "out", store=tmp_path / "s.duckdb")


def test_an_adapter_that_is_loaded_again_says_what_it_said(place: Path) -> None:
    import peft
    import torch
    import transformers

    told = peirce.train_labels(
        str(place / "data"), base=str(place / "base"), out=place / "lora", store=place / "s.duckdb",
        problem=["weather"], epochs=4, batch=8, full=False, lora_rank=4, learning_rate=1e-2,
    )["sets"][0]  # fmt: skip
    assert told["trained"] < told["weights"] / 4 and told["scores"]["ind"]["accuracy"] > 0.9
    folder = place / "lora" / "sets" / "weather"
    base = transformers.AutoModelForSequenceClassification.from_pretrained(
        place / "base", num_labels=2
    )
    model = peft.PeftModel.from_pretrained(base, folder / "model").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "model")
    (data,) = read_sets(str(place / "data" / "weather"), (), None, None, 0)
    rows, _ = encode_rows(tokenizer, data.rows["ind"], 512)
    said = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    with torch.no_grad():
        got = [told["labels"][model(torch.tensor([row])).logits.argmax()] for row in rows]
    assert got == [one["predicted"] for one in said if one["split"] == "ind"]
