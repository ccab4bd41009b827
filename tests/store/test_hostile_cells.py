"""A store that someone sends: whatever its cells hold, reading ends in one sentence.

Internals: cells are altered through a connection to DuckDB, and vectors with the codec.
"""

from __future__ import annotations

import asyncio
import zlib
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from peirce.records import StoreError
from peirce.store import Store
from peirce.store.cells import encode

from .conftest import SPACE, problem, step


@pytest.fixture
def stored(path: Path) -> tuple[Path, str]:
    """A closed store with one session of one step."""
    with Store.open(path, write=True) as store:
        session = store.create_session({"seed": 0}, [(problem("p"), SPACE)])
        asyncio.run(store.ledger(session).step(step("p", 1)))
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
        store.space(SPACE.digest)


def test_a_vector_longer_than_its_sample_space_is_refused(stored: tuple[Path, str]) -> None:
    path, session = stored
    alter(path, "UPDATE vector SET data = ?", encode(np.zeros(41, np.int64)))
    with (
        Store.open(path, write=False) as store,
        pytest.raises(StoreError, match="41 items where 40 are expected"),
    ):
        list(store.steps(session))
