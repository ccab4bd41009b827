"""Sets of pairs in a store: what is written comes back, and a store of version 3 gets the tables.

Internals: stores of version 3 are made from the tables that version 4 added.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from peirce.records import StoreError, UsageError
from peirce.store import Store, connection, schema
from peirce.training import PairTable, Split, read_table, save_table

REPORT = {"pairs": 3}


def table(answers: int = 3, seed: int = 0) -> PairTable:
    rng = np.random.default_rng(seed)
    pairs = 2 * answers

    def places(most: int) -> np.ndarray:
        return rng.integers(0, most, pairs, dtype=np.int32)

    return PairTable(
        prompts=[
            ({"role": "user", "content": "a\n1 → 2"},),
            ({"role": "user", "content": "\udcff"},),
        ],
        prompt_task=["list_functions", "acre"],
        prompt_problem=["p1", "p2"],
        prompt_split=[Split.TRAIN, Split.HELD_OUT],
        prompt_context=[0, 2],
        answers=[f"answer {n} \ud800" for n in range(answers)],
        answer_model=["search"] * answers,
        prompt=places(2),
        chosen=places(answers),
        rejected=places(answers),
        stage=rng.integers(0, 3, pairs, dtype=np.int8),
        digest="",
        settings={"seed": seed},
    ).with_digest()


def columns(one: PairTable) -> list[object]:
    return [
        list(one.prompts), list(one.prompt_task), list(one.prompt_problem), list(one.prompt_split),
        list(one.prompt_context), list(one.answers), list(one.answer_model), one.prompt.tolist(),
        one.chosen.tolist(), one.rejected.tolist(), one.stage.tolist(), one.digest, one.settings,
    ]  # fmt: skip


@pytest.mark.parametrize("answers", [1, 5, 70_000])
def test_a_set_that_was_saved_comes_back_whole(path: Path, answers: int) -> None:
    made = table(answers)
    with Store.open(path, write=True) as store:
        assert save_table(store, made, REPORT) == made.digest
        assert columns(read_table(store, made.digest[:9])) == columns(made)
    with Store.open(path, write=False) as store:
        read = read_table(store)
    assert columns(read) == columns(made)
    assert read.with_digest().digest == made.digest
    assert read.prompt.dtype == np.int32 and read.stage.dtype == np.int8


def test_a_set_is_read_through_its_owner(path: Path) -> None:
    with Store.open(path, write=True) as store:
        save_table(store, table(), REPORT)
        with Store.open(path, write=False) as reader:
            assert columns(read_table(reader)) == columns(table())


def test_a_set_saved_again_is_the_last_one_and_stands_once(path: Path) -> None:
    first, second = table(seed=1), table(seed=2)
    with Store.open(path, write=True) as store:
        for one in (first, second, first):
            save_table(store, one, REPORT)
        assert [row["digest"] for row in store.pairs.list()] == [second.digest, first.digest]
        assert store.pairs.list()[0]["counts"] == REPORT
        assert read_table(store, "last").digest == first.digest
        assert len(read_table(store, first.digest)) == len(first)


def test_a_name_that_is_none_is_one_sentence(path: Path) -> None:
    with Store.open(path, write=True) as store:
        with pytest.raises(StoreError, match="the store holds no pairs yet"):
            read_table(store)
        save_table(store, table(), REPORT)
        with pytest.raises(StoreError, match=r"no pairs 'xyz'; did you mean [0-9a-f]{12}, or last"):
            read_table(store, "xyz")
        with pytest.raises(StoreError, match=r"no pairs ''; did you mean [0-9a-f]{12}, or last"):
            read_table(store, "")
        with pytest.raises(UsageError, match="name it first"):
            save_table(store, PairTable(**{**vars_of(table()), "digest": ""}), REPORT)
    with (
        Store.open(path, write=False) as reader,
        pytest.raises(StoreError, match="is open for reading"),
    ):
        save_table(reader, table(), REPORT)


def vars_of(one: PairTable) -> dict[str, object]:
    return {name: getattr(one, name) for name in PairTable.__dataclass_fields__}


def test_the_digest_changes_with_every_column() -> None:
    one = vars_of(table())
    seen = {table().digest}
    for name, value in one.items():
        if name == "digest":
            continue
        if name == "settings":
            other: object = {"seed": 1}
        elif name in ("prompt", "chosen", "rejected", "stage"):
            other = np.where(value == value[0], (value[0] + 1) % 2, value).astype(value.dtype)
        else:
            other = [value[-1], *value[1:]] if value[0] != value[-1] else ["another", *value[1:]]
        seen.add(PairTable(**{**one, name: other}).with_digest().digest)
    assert len(seen) == len(one)


def test_places_that_do_not_fit_are_refused() -> None:
    one = vars_of(table())
    with pytest.raises(ValueError, match="a place in chosen is not within 0 and 2"):
        PairTable(**{**one, "chosen": one["chosen"] + np.int32(3)})
    with pytest.raises(ValueError, match="answer_model 1 of 3 answers"):
        PairTable(**{**one, "answer_model": ["search"]})
    with pytest.raises(ValueError, match=r"prompt is no int32 \(6,\): int64"):
        PairTable(**{**one, "prompt": one["prompt"].astype(np.int64)})


def test_where_finds_the_pairs_of_a_stage_and_a_split() -> None:
    one = table(50)
    for stage in (None, 0, 1, 2):
        for split in (None, "train", "held-out", "validation"):
            wanted = [
                pair
                for pair in range(len(one))
                if stage in (None, one.stage[pair])
                and split in (None, one.prompt_split[one.prompt[pair]])
            ]
            assert one.positions(stage, split).tolist() == wanted


# --- stores of version 3 ------------------------------------------------------------------


def version_3(path: Path) -> None:
    """A store as version 3 wrote it: the same tables but for those that version 4 added."""
    import duckdb

    Store.open(path, write=True).close()
    with duckdb.connect(str(path)) as database:
        for name in schema.TABLES_ADDED_SINCE["3"]:
            database.execute(f"DROP TABLE {name}")
        database.execute("UPDATE meta SET value = '3' WHERE name = 'schema'")


def tables(path: Path) -> set[str]:
    with Store.open(path, write=False) as store:
        return {name for (name,) in store.query("SELECT table_name FROM duckdb_tables()")}


def test_a_store_of_version_3_is_read_as_it_is(path: Path) -> None:
    version_3(path)
    content = path.read_bytes()
    with Store.open(path, write=False) as store:
        assert store.sessions() == [] and store.pairs.list() == []
        with pytest.raises(StoreError, match="holds no pairs yet"):
            store.pairs.read("last")
    assert path.read_bytes() == content
    assert "pair" not in tables(path)


def test_a_store_of_version_3_gets_the_tables_when_it_is_opened_for_writing(path: Path) -> None:
    version_3(path)
    with Store.open(path, write=True) as store:
        store.create_session({"task": "t"}, [])
        save_table(store, table(), REPORT)
    assert tables(path) == set(schema.TABLES)
    with Store.open(path, write=False) as store:
        assert store.query("SELECT value FROM meta WHERE name = 'schema'") == [
            (str(schema.SCHEMA_VERSION),)
        ]
        assert len(store.sessions()) == 1


def test_an_upgrade_that_fails_leaves_version_3(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version_3(path)
    whole = schema.upgrade_statements
    with monkeypatch.context() as patched:
        patched.setattr(
            connection, "upgrade_statements", lambda query: [*whole(query)[:3], "CREATE nonsense"]
        )
        with pytest.raises(StoreError, match="no store can be created at "):
            Store.open(path, write=True)
    assert "pair_set" not in tables(path)
    Store.open(path, write=True).close()
    assert "pair_set" in tables(path)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE pair SET chosen = rejected, rejected = chosen",
        'UPDATE pair_prompt SET messages = \'[{"content":"b","role":"user"}]\'',
        "UPDATE pair_prompt SET messages = '5'",
        "UPDATE pair_prompt SET messages = '[5]'",
        "UPDATE pair_set SET settings = '{\"seed\":1}'",
    ],
)
def test_a_set_that_was_altered_in_the_store_is_refused_by_its_name(path: Path, sql: str) -> None:
    made = table()
    with Store.open(path, write=True) as store:
        save_table(store, made, REPORT)
    with duckdb.connect(str(path)) as raw:
        raw.execute(sql)
    with (
        Store.open(path, write=False) as store,
        pytest.raises(StoreError, match=made.digest[:12]),
    ):
        read_table(store)
