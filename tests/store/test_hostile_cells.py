"""A store that someone sends: whatever its cells hold, reading ends in one sentence.

Internals: cells are altered through a connection to DuckDB, and vectors with the codec.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from peirce.records import StoreError
from peirce.store import Store
from peirce.store.codec import encode_vector

from .conftest import SPACE, problem, step


@pytest.fixture
def stored(path: Path) -> tuple[Path, str]:
    """A closed store with one session of one step."""
    with Store.open(path, write=True) as store:
        session = store.create_session({"seed": 0}, [(problem("p"), SPACE)])
        asyncio.run(store.ledger(session).record_step(step("p", 1)))
    return path, session


def alter(path: Path, sql: str, *values: Any) -> None:
    with duckdb.connect(str(path)) as raw:
        raw.execute(sql, values)


@pytest.mark.parametrize(
    "inputs",
    [zlib.compress(b" " * 200_000_000 + b"[]", 9), b"x", zlib.compress(b"[1]")],
    ids=["bomb", "junk", "short"],
)
def test_an_input_set_that_is_a_bomb_or_damaged_is_refused(
    stored: tuple[Path, str], inputs: bytes
) -> None:
    path, _ = stored
    alter(path, "UPDATE input_set SET inputs = ?", inputs)
    with (
        Store.open(path, write=False) as store,
        pytest.raises(StoreError, match="cannot be read"),
    ):
        store.input_set(SPACE.digest)


def test_a_vector_longer_than_its_sample_space_is_refused(stored: tuple[Path, str]) -> None:
    path, session = stored
    alter(path, "UPDATE vector SET data = ?", encode_vector(np.zeros(41, np.int64)))
    with (
        Store.open(path, write=False) as store,
        pytest.raises(StoreError, match="41 items where 40 are expected"),
    ):
        list(store.steps(session))


READERS: dict[str, Callable[[Store, str], object]] = {
    "sessions": lambda store, session: store.sessions(),
    "settings": lambda store, session: store.settings(session),
    "problems": lambda store, session: store.problems(session),
    "steps": lambda store, session: list(store.steps(session)),
    "given": lambda store, session: store.answer_summaries(session, ["p"]),
}


@pytest.mark.parametrize(
    ("column", "cell", "reader"),
    [
        ("session.settings", "null", "sessions"),
        ("session.settings", "{", "settings"),
        ("session.settings", "[" * 100_000, "sessions"),
        ("session.fields", "5", "sessions"),
        ("problem.data", "{}", "problems"),
        ("problem.data", '{"shown":5}', "problems"),
        ("step.fields", "[1]", "steps"),
        ("hypothesis.meta", "5", "steps"),
        ("hypothesis.breaches", "7", "given"),
        ("verdict.verdict", "great", "steps"),
        ("verdict.verdict", "great", "given"),
        ("prediction.got", "5", "steps"),
        ("prediction.detail", "5", "steps"),
        ("prediction.reason_names", "7", "steps"),
    ],
)
def test_a_cell_of_another_kind_is_one_sentence_that_names_its_column(
    stored: tuple[Path, str], column: str, cell: str, reader: str
) -> None:
    path, session = stored
    table, name = column.split(".")
    where = f"WHERE {name} IS NOT NULL"
    alter(path, f"UPDATE {table} SET {name} = ? {where}", cell)
    with (
        Store.open(path, write=False) as store,
        pytest.raises(StoreError, match=f"damaged: {column} "),
    ):
        READERS[reader](store, session)
