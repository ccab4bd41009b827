"""A store that is moved while a process owns it: the process stops, and no session is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from peirce.records import StoreError
from peirce.store import Store

OWNER = """
import sys
from peirce.records import PeirceError
from peirce.store import Store

store = Store.open(sys.argv[1], write=True)
print("open", flush=True)
for line in sys.stdin:
    try:
        if line.strip() == "close":
            store.close()
            print("closed", flush=True)
            break
        print(store.create_session({"name": line.strip()}, []), flush=True)
    except PeirceError as error:
        print(f"error: {error}", flush=True)
"""


class Process:
    """Another process that owns a store and does what `tell` says."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.answer() == "open"

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def tell(self, line: str) -> str:
        assert self.process.stdin is not None
        print(line, file=self.process.stdin, flush=True)
        return self.answer()


@pytest.fixture
def processes() -> Iterator[list[Process]]:
    begun: list[Process] = []
    yield begun
    for one in begun:
        one.process.kill()
        one.process.communicate()


def names(path: Path) -> list[str]:
    with Store.open(path, write=False) as store:
        return [one["settings"]["name"] for one in store.sessions()]


def test_the_owner_of_a_moved_store_stops_and_both_stores_keep_their_sessions(
    tmp_path: Path, processes: list[Process]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    first = Process(here / "s.duckdb")
    processes.append(first)
    assert not first.tell("one").startswith("error")
    here.rename(there)
    here.mkdir()
    second = Process(here / "s.duckdb")
    processes.append(second)
    assert not second.tell("two").startswith("error")
    said = first.tell("three")
    assert said.startswith("error: ") and "was moved or replaced while it was open" in said
    assert not second.tell("four").startswith("error")
    assert first.tell("close") == "closed"
    assert not second.tell("five").startswith("error")
    second.process.kill()  # its log alone holds what it wrote
    second.process.wait()
    assert names(there / "s.duckdb") == ["one"]
    assert names(here / "s.duckdb") == ["two", "four", "five"]


def test_the_owner_of_a_store_that_is_gone_stops(tmp_path: Path, processes: list[Process]) -> None:
    path = tmp_path / "s.duckdb"
    owner = Process(path)
    processes.append(owner)
    owner.tell("one")
    for name in ("s.duckdb", "s.duckdb.wal"):
        (tmp_path / name).rename(tmp_path / f"moved{name}".replace("moveds", "moved"))
    assert "was moved or replaced" in owner.tell("two")
    assert owner.tell("close") == "closed"
    assert names(tmp_path / "moved.duckdb") == ["one"]


def test_no_store_is_begun_beside_the_log_of_another(tmp_path: Path) -> None:
    (tmp_path / "s.duckdb.wal").write_bytes(b"a log")
    with pytest.raises(StoreError, match="log of a store that is no longer beside it"):
        Store.open(tmp_path / "s.duckdb", write=True)
    assert (tmp_path / "s.duckdb.wal").read_bytes() == b"a log"
