"""Trainings in the store: their rows, their points, and stores that have none of these tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.records import StoreError
from peirce.store import Point, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.duckdb"


def test_a_training_comes_back_with_its_points_in_order(path: Path) -> None:
    points = [Point(64, "gear", "probe_loss", 0.5), Point(0, "", "train_loss", 0.7),
              Point(64, "consistency", "probe_loss", 0.25)]  # fmt: skip
    with Store.open(path, write=True) as store:
        store.trainings.begin("abcd", {"schedule": "fixed"})
        store.trainings.add("abcd", points)
        store.trainings.end("abcd", "done", {"seconds": 3.5})
    with Store.open(path, write=False) as store:
        (row,) = store.trainings.list()
        assert {key: row[key] for key in ("training", "status", "settings", "fields", "examples")} == {
            "training": "abcd", "status": "done", "settings": {"schedule": "fixed"},
            "fields": {"seconds": 3.5}, "examples": 64,
        }  # fmt: skip
        assert store.trainings.points("abcd") == [points[1], points[2], points[0]]
        assert store.trainings.get("abcd") == row


def test_writing_again_replaces(path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.trainings.begin("abcd", {"seed": 1}, created="2026-01-01")
        store.trainings.add("abcd", [Point(n, "", "train_loss", float(n)) for n in (16, 32)])
        store.trainings.end("abcd", "interrupted", {"at": 48})
        store.trainings.begin("abcd", {"seed": 2})
        again = [Point(32, "", "train_loss", 0.5), Point(32, "", "train_loss", 0.25)]
        store.trainings.add("abcd", again)
        assert [(p.examples, p.value) for p in store.trainings.points("abcd")] == [
            (16, 16.0), (32, 0.25)
        ]  # fmt: skip
        row = store.trainings.get("abcd")
        assert (row["status"], row["settings"], row["fields"], row["created"]) == (
            "running", {"seed": 1}, {"at": 48}, "2026-01-01"
        )  # fmt: skip


def test_more_points_than_a_statement_holds_and_values_that_are_no_numbers(path: Path) -> None:
    many = [Point(n, "gear", "probe_loss", n / 7) for n in range(1_000)]
    with Store.open(path, write=True) as store:
        store.trainings.begin("abcd", {})
        store.trainings.add("abcd", [*many, Point(0, "", "train_loss", float("nan"))])
        found = store.trainings.points("abcd")
        assert found[1:] == many and found[0].value != found[0].value


def test_a_training_is_found_by_prefix_and_last(path: Path) -> None:
    with Store.open(path, write=True) as store:
        with pytest.raises(StoreError, match="holds no training yet"):
            store.trainings.find("last")
        for name in ("abcd", "abef"):
            store.trainings.begin(name, {})
        assert store.trainings.find("last") == "abef" and store.trainings.find("abc") == "abcd"
        with pytest.raises(StoreError, match="ambiguous: abcd, abef"):
            store.trainings.find("ab")
        with pytest.raises(StoreError, match="did you mean abef"):
            store.trainings.find("abeg")
        with pytest.raises(StoreError, match="status is one of"):
            store.trainings.end("abcd", "finished", {})
        with pytest.raises(StoreError, match="no training zz"):
            store.trainings.end("zz", "done", {})


def test_a_store_of_version_3_has_no_trainings_and_says_so(path: Path) -> None:
    import duckdb

    Store.open(path, write=True).close()
    connection = duckdb.connect(str(path))
    for table in ("pair_set", "pair_prompt", "pair_answer", "pair", "training", "training_point"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("UPDATE meta SET value = '3' WHERE name = 'schema'")
    connection.close()
    with Store.open(path, write=False) as store:
        assert store.trainings.list() == [] and store.trainings.points("abcd") == []
        with pytest.raises(StoreError, match="open for reading"):
            store.trainings.begin("abcd", {})
