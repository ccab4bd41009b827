"""Nobody but its user can ever read a store: not its file, its log, nor what DuckDB keeps beside it.

Internals: the store's checkpoints are made frequent, as its log is made anew after each.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from peirce.records import StoreError
from peirce.store import Store, connection


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


class Watcher:
    """The widest mode that each file of a folder was ever seen with, while the `with` block runs."""

    def __init__(self, folder: Path) -> None:
        self.modes: dict[str, int] = {}
        self._folder, self._ended = folder, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def look(self) -> None:
        for parent, folders, files in os.walk(self._folder):
            for name in [*folders, *files]:
                try:
                    found = os.lstat(os.path.join(parent, name))
                except FileNotFoundError:
                    continue
                self.modes[name] = self.modes.get(name, 0) | stat.S_IMODE(found.st_mode)
                if name in folders and not found.st_mode & 0o077:
                    folders.remove(name)  # nobody else can enter it

    def _watch(self) -> None:
        while not self._ended.is_set():
            self.look()

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.look()

    def readable(self) -> dict[str, str]:
        return {name: oct(mode) for name, mode in self.modes.items() if mode & 0o077}


def test_no_file_of_a_store_is_ever_readable_by_others(
    tmp_path: Path, made: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.CONFIG, "checkpoint_threshold", "8KB")
    path = tmp_path / "s.duckdb"
    with Watcher(tmp_path) as watcher:
        with Store.open(path, write=True) as store:
            for number in range(12):
                problem = made.problem(str(number))
                store.create_session({"note": "x" * 3_000}, [(problem, made.space)])
                watcher.look()
        with Store.open(path, write=False) as reader:
            assert len(reader.sessions()) == 12
    # A socket is given its mode before anyone can connect to it.
    found = {name: mode for name, mode in watcher.readable().items() if not name.endswith(".sock")}
    assert found == {}
    assert {"s.duckdb", "s.duckdb.wal"} <= set(watcher.modes)


def test_what_a_killed_writer_leaves_is_private_and_readable(
    tmp_path: Path, made: SimpleNamespace
) -> None:
    path = tmp_path / "s.duckdb"
    script = (
        "import os; os.umask(0o022)\n"
        "from peirce.store import Store\n"
        f"store = Store.open({str(path)!r}, write=True); store.create_session({{}}, [])\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    names = {one.name: stat.S_IMODE(one.lstat().st_mode) for one in tmp_path.iterdir()}
    assert names == {"s.duckdb": 0o600, "s.duckdb.wal": 0o600, "s.duckdb.sock": 0o600}
    Store.open(path, write=True).close()
    (tmp_path / "s.duckdb.wal").write_bytes(b"")  # killed between its creation and the next change
    for write in (False, True):
        with Store.open(path, write=write) as opened:
            assert len(opened.sessions()) == 1


def test_a_store_of_an_earlier_version_becomes_private_when_it_is_written_to(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.duckdb"
    Store.open(path, write=True).close()
    path.chmod(0o644)
    Store.open(path, write=False).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    Store.open(path, write=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_the_log_is_not_written_through(tmp_path: Path) -> None:
    path, mine = tmp_path / "s.duckdb", tmp_path / "mine"
    mine.write_text("a user's own")
    (tmp_path / "s.duckdb.wal").symlink_to(mine)
    with pytest.raises(StoreError, match=r"s\.duckdb\.wal is a link") as caught:
        Store.open(path, write=True)
    assert "\n" not in str(caught.value) and mine.read_text() == "a user's own"


def test_two_processes_that_create_one_store_get_one_store(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    script = (
        "import re, sys\n"
        "from peirce.store import Store\n"
        "from peirce.records import StoreError\n"
        "sys.stdin.readline()\n"
        f"try: Store.open({str(path)!r}, write=True).create_session({{}}, [])\n"
        "except StoreError as error: assert re.search('being written|in use|is writing', str(error)), error\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) for _ in range(2)
    ]
    for one in both:
        assert one.stdin is not None
        one.stdin.write(b"\n")
        one.stdin.flush()
    assert [one.wait(60) for one in both] == [0, 0]
    assert [one.name for one in tmp_path.iterdir()] == ["s.duckdb"]
    with Store.open(path, write=False) as reader:
        assert 1 <= len(reader.sessions()) <= 2


def test_what_exceeds_the_memory_is_spilled_to_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "working"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setattr(connection, "READER_MEMORY", "40MB")
    Store.open(tmp_path / "s.duckdb", write=True).close()
    with Store.open(tmp_path / "s.duckdb", write=False) as reader:
        spilled: Callable[..., list[tuple[int]]] = reader._reading.query
        sql = "SELECT count(*) FROM (SELECT range AS a, md5(range::VARCHAR) AS b FROM range(600000) ORDER BY b)"
        with Watcher(tmp_path) as watcher:
            assert spilled(sql)[0][0] == 600_000
    assert list(place.iterdir()) == [] and ".tmp" not in watcher.modes


def test_a_query_that_needs_more_memory_than_its_reader_has_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    Store.open(path, write=True).close()
    sql = "SELECT list(md5(range::VARCHAR)) FROM range(600000)"
    database = connection.Database(path, write=False, memory="10MB")
    with pytest.raises(connection.OutOfMemory, match="cannot be read"):
        database.query(sql)
    database.close()
    with Store.open(path, write=False, memory="10MB") as reader:
        assert reader.query("SELECT count(*) FROM session") == [(0,)]
        assert len(reader.query(sql)[0][0]) == 600_000
        assert reader.query("SELECT count(*) FROM session") == [(0,)]
