"""What a session on labelled text does where nothing is said: of the embedded search, and where its
proposer is the search by default but a model judges."""

from __future__ import annotations

import json
from pathlib import Path

import peirce
import pytest
from labelled_session import data_set

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def judge(tmp_path: Path) -> str:
    """A judge that calls every text good."""
    place = tmp_path / "judge.json"
    place.write_text(json.dumps({"rules": [{"when": "", "say": "Final answer: good"}]}))
    return f"scripted:{place}"


def last_reading(store: Path) -> dict:
    return peirce.load(store=store).steps[-1].fields["inference"]


def test_search_shows_all_rows_and_weighs_its_bank(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    peirce.run("labels", data=data_set(tmp_path), method="hypogenic", store=store)
    text = peirce.load(store=store).settings["text"]
    assert (text["examples"], text["hypotheses"], text["judge"]) == (None, 20, "exact")
    assert last_reading(store)["strategy"] == "weighted"


def test_what_is_typed_goes_before_the_defaults_of_search(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    peirce.run(
        "labels", data=data_set(tmp_path), method="hypogenic", store=store, inference="best",
        examples=12, hypotheses=4,
    )  # fmt: skip
    text = peirce.load(store=store).settings["text"]
    assert (text["examples"], text["hypotheses"], text["inference"]) == (12, 4, "best")


def test_direct_labels_by_the_judge_alone(tmp_path: Path, judge: str) -> None:
    store = tmp_path / "s.duckdb"
    peirce.run(
        "labels", data=data_set(tmp_path), method="direct", store=store,
        roles={"judge": {"model": judge}},
    )  # fmt: skip
    reading = last_reading(store)
    assert reading["strategy"] == "direct"
    assert set(reading["splits"]["ind"]["labels"]) == {"good"}


def test_a_bank_is_read_by_one_call_a_row_where_a_model_judges(tmp_path: Path, judge: str) -> None:
    store, bank = tmp_path / "s.duckdb", tmp_path / "bank.json"
    bank.write_text(json.dumps([{"text": "Texts that sound pleased are good."}]))
    session = peirce.run(
        "labels", data=data_set(tmp_path), method="infer", bank=[bank], store=store, split=["ind"],
        roles={"judge": {"model": judge}},
    )  # fmt: skip
    assert last_reading(store)["strategy"] == "multi"
    assert session.usage["by_kind"]["model"]["calls"] == 12
