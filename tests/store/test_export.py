"""Exports read back by others hold what the session holds.

Internals: the exported files are compared with the list of tables.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
import yaml
from peirce.records import CallKey, Outcome, UsageError
from peirce.store import Store
from peirce.store.export import COLUMNS

NewSession = Callable[..., str]


@pytest.fixture
def session(store: Store, new_session: NewSession, made: SimpleNamespace) -> str:
    session = new_session("1", "π\ud800", budget=float("inf"))
    journal, ledger = store.journal(session), store.ledger(session)

    async def write() -> None:
        for name in ("1", "π\ud800"):
            for number in range(2):
                key = CallKey(session, name, f"step/{number}/tool/0")

                async def make(key: CallKey = key) -> Outcome:
                    return made.outcome(key, "tool")

                await journal.record_once(key, "tool", {}, make)
                await ledger.record_step(made.step(name, number))
        await ledger.record_end("1", "done", "three bad")

    asyncio.run(write())
    return session


def read(file: Path, columns: str = "*", where: str = "true") -> list[tuple]:
    return duckdb.sql(f"SELECT {columns} FROM '{file}' WHERE {where}").fetchall()


def test_parquet_holds_every_table(
    store: Store, session: str, made: SimpleNamespace, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    said = store.export(session, out, "parquet")
    assert said["files"] == sorted(f"{name}.parquet" for name in COLUMNS)
    for name, count in said["rows"].items():
        assert len(read(out / f"{name}.parquet")) == count, name
    rows = {name: said["rows"][name] for name in ("problems", "steps", "answers", "hypotheses")}
    assert rows == {"problems": 2, "steps": 4, "answers": 8, "hypotheses": 12}
    record = made.step("1", 1)
    judged = record.answers[1].judged[0]
    (row,) = read(
        out / "hypotheses.parquet",
        "text, verdict, shown, hidden, shown_right, hidden_right, coverage, undefined",
        "problem = '1' AND step = 1 AND answer = 1 AND ordinal = 0",
    )
    assert row[:6] == (judged.hypothesis.text, "accepted", [True, None], [False], 1, 0)
    assert row[6] == 0.25 and json.loads(row[7]) == judged.space.count_undefined()
    (row,) = read(
        out / "predictions.parquet",
        "codes, reasons, reason_names",
        "problem = '1' AND step = 1 AND ordinal = 0",
    )
    assert row[0] == judged.space.codes.tolist()
    assert list(row[1]) == judged.space.reasons.tolist()
    assert row[2] == ["IndexError", "steps"]
    assert {name for (name,) in read(out / "problems.parquet", "problem")} == {"1", "π\\ud800"}
    assert read(out / "session.parquet", "digest") == [(store.digest(session),)]
    names = ("rank", "hypothesis", "accuracy", "visits", "covered", "reward", "right")
    of_bank = read(out / "bank.parquet", ", ".join(f'"{name}"' for name in names))
    assert of_bank == [tuple(row[name] for name in names) for row in store.bank(session)]


def test_parquet_is_read_by_pyarrow(store: Store, session: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    store.export(session, tmp_path / "out", "parquet")
    table = parquet.read_table(tmp_path / "out" / "predictions.parquet")
    assert table.num_rows == 8 and len(table.column("codes")[0].as_py()) == 40


def test_jsonl_lines_are_strict_json_in_structural_order(
    store: Store, session: str, made: SimpleNamespace, tmp_path: Path
) -> None:
    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is no JSON")

    store.export(session, tmp_path / "out.jsonl", "jsonl")
    text = (tmp_path / "out.jsonl").read_text(encoding="ascii")
    lines = [json.loads(line, parse_constant=refuse) for line in text.splitlines()]
    kinds = [line["type"] for line in lines]
    one = ["problem", "step", "answer", "answer", "step", "answer", "answer", "bank", "bank"]
    assert kinds == ["session", *one, *one, "usage"]
    assert lines[0]["digest"] == store.digest(session)
    assert lines[0]["settings"]["budget"] is None
    record = made.step("1", 0)
    assert lines[2]["fields"] == record.fields
    assert lines[4]["text"] == record.answers[1].text
    assert [one["verdict"] for one in lines[4]["judged"]] == ["accepted", "redundant"]
    assert lines[4]["judged"][0]["shown"] == [True, None]
    assert lines[10]["problem"] == "π\ud800"


def test_the_hugging_face_folder_names_its_files(
    store: Store, session: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    store.export(session, out, "huggingface")
    _, head, text = (out / "README.md").read_text().split("---\n", 2)
    configs = yaml.safe_load(head)["configs"]
    assert [one["config_name"] for one in configs if one.get("default")] == ["hypotheses"]
    for one in configs:
        assert read(out / one["data_files"]), one
    assert store.digest(session) in text
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert loaded["train"].num_rows == 12


def test_the_card_holds_no_markup_of_a_damaged_store(
    store: Store, session: str, path: Path, tmp_path: Path
) -> None:
    store.close()
    other = "x: [\n- y\n---\n<script>"
    with duckdb.connect(str(path)) as raw:
        for table in ("session", "problem"):
            raw.execute(f"UPDATE {table} SET session = ?", (other,))
        raw.execute("UPDATE session SET created = ?", ("\n# <b>",))
    with Store.open(path, write=False) as reader:
        reader.export(other, tmp_path / "out", "huggingface")
    _, head, text = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    assert "\n" not in yaml.safe_load(head)["pretty_name"]
    assert "<" not in text.split("Settings:")[0]


@pytest.mark.parametrize("format", ["parquet", "jsonl", "huggingface"])
def test_nothing_is_overwritten_and_no_half_is_left(
    store: Store, session: str, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "there"
    out.write_text("mine")
    with pytest.raises(UsageError, match="already exists; choose another path or remove it first"):
        store.export(session, out, format)
    assert out.read_text() == "mine"

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("peirce.store.export.os.rename", fail)
    before = set(tmp_path.iterdir())
    with pytest.raises(OSError, match="disk full"):
        store.export(session, tmp_path / "new", format)
    assert set(tmp_path.iterdir()) == before


def test_an_unknown_format_names_the_known_ones(store: Store, session: str, tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="'csv' is unknown: it must be one of parquet, jsonl, huggingface"
    ):
        store.export(session, tmp_path / "out", "csv")


def test_a_session_without_steps_is_exported(
    store: Store, new_session: NewSession, tmp_path: Path
) -> None:
    said = store.export(new_session(), tmp_path / "out", "huggingface")
    assert said["rows"]["hypotheses"] == 0 and said["rows"]["problems"] == 1
