"""Reading a store while a run owns it: every verb answers, and nothing can be written.

Internals: a visitor speaks to the owner's socket byte by byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from peirce.records import CallKey, Outcome, StoreError
from peirce.store import Store, connection
from peirce.store.owner import OwnerClient
from peirce.store.owner_socket import socket_path

NewSession = Callable[..., str]


def fill(store: Store, session: str, made: SimpleNamespace) -> None:
    journal, ledger = store.journal(session), store.ledger(session)

    async def write() -> None:
        for number in range(3):
            for kind in ("model", "tool"):
                key = CallKey(session, "1", f"step/{number}/{kind}/0")

                async def make(key: CallKey = key, kind: str = kind) -> Outcome:
                    return made.outcome(key, kind)

                await journal.record_once(key, kind, {"path": key.path}, make)
            await ledger.record_step(made.step("1", number))
        await ledger.record_end("1", "done", "three bad")

    asyncio.run(write())


def answers(store: Store, session: str, made: SimpleNamespace) -> dict[str, Any]:
    """What every reading verb says."""
    return {
        "find": store.find_session("last"),
        "session": store.session(session),
        "sessions": store.sessions(),
        "problems": store.problems(session),
        "space": store.input_set(made.space.digest),
        "calls": store.calls(session),
        "bank": store.bank(session),
        "usage": store.usage(session),
        "digest": store.digest(session),
        "alterations": store.find_changes(session),
    }


def test_every_reading_verb_answers_alike_through_the_socket(
    store: Store, path: Path, new_session: NewSession, made: SimpleNamespace, tmp_path: Path
) -> None:
    session = new_session()
    fill(store, session, made)
    with Store.open(path, write=False) as reader:
        assert answers(reader, session, made) == answers(store, session, made)
        assert made.same(tuple(reader.steps(session)), tuple(store.steps(session)))
        key = CallKey(session, "1", "step/0/tool/0")
        found = reader.journal(session).find_entry(key)
        assert found is not None
        assert made.same(found[1].vectors["codes"], made.outcome(key, "tool").vectors["codes"])
        written = reader.export(session, tmp_path / "out.jsonl", "jsonl")
        assert written["rows"]["step"] == 3
        with pytest.raises(StoreError, match="open for reading"):
            reader.ledger(session)


def test_another_process_reads_while_the_store_is_owned(
    store: Store, path: Path, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    fill(store, session, made)
    code = (
        "import sys\nfrom peirce.store import Store\n"
        "with Store.open(sys.argv[1], write=False) as reader:\n"
        "    print(reader.digest(reader.find_session('last')), reader.sessions()[0]['status'])"
    )
    other = made.python(code, str(path))
    assert other.stdout.split() == [store.digest(session), "running"], other.stderr


def test_a_large_vector_and_many_rows_travel_whole(
    store: Store, path: Path, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    codes = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 500_000)  # 4 MB, incompressible

    async def make() -> Outcome:
        return Outcome({}, {"codes": codes})

    key = CallKey(session, "1", "step/0/tool/0")
    asyncio.run(store.journal(session).record_once(key, "tool", {}, make))
    with Store.open(path, write=False) as reader:
        found = reader.journal(session).find_entry(key)
        assert found is not None and made.same(found[1].vectors["codes"], codes)
        assert len(reader.query("SELECT range FROM range(10000)")) == 10_000


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM session",
        "INSERT INTO meta VALUES ('a', 'b')",
        "UPDATE session SET status = 'done'",
        "SELECT 1; DELETE FROM session",
        "WITH gone AS (DELETE FROM session RETURNING 1) SELECT * FROM gone",
        "WITH new AS (INSERT INTO meta VALUES ('a', 'b') RETURNING 1) SELECT * FROM new",
        "DROP TABLE session",
        "CREATE TABLE more (a INTEGER)",
        "ATTACH '/tmp/other.duckdb' AS other",
        "COPY session TO '/tmp/out.csv'",
        "SELECT * FROM read_text('/etc/hostname')",
        "PRAGMA disable_optimizer",
        "SET threads = 4",
        "COMMIT",
        "EXPLAIN ANALYZE DELETE FROM session",
        "",
        "nonsense",
    ],
)
def test_the_socket_only_reads(store: Store, path: Path, new_session: NewSession, sql: str) -> None:
    session = new_session()
    with Store.open(path, write=False) as reader:
        with pytest.raises(StoreError):
            reader.query(sql)
        # The connection goes on, and nothing has changed.
        assert reader.query("SELECT session, status FROM session") == [(session, "running")]
        assert reader.query("SELECT count(*) FROM meta") == [(1,)]


def test_the_socket_is_for_its_user_alone_and_goes_with_the_owner(path: Path) -> None:
    store = Store.open(path, write=True)
    place = socket_path(path)
    assert stat.S_ISSOCK(place.stat().st_mode)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    store.close()
    assert not place.exists()


def test_a_stale_socket_is_no_obstacle(path: Path) -> None:
    Store.open(path, write=True).close()
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(socket_path(path)))
    dead.close()  # the file stays, as after kill -9
    with Store.open(path, write=False) as reader:
        assert reader.sessions() == []
    with Store.open(path, write=True), Store.open(path, write=False) as reader:
        assert reader.sessions() == []


def test_a_path_longer_than_an_address_works(tmp_path: Path) -> None:
    path = tmp_path / ("d" * 90) / ("e" * 90) / "peirce.duckdb"
    with Store.open(path, write=True):
        place = socket_path(path)
        target = Path(os.readlink(place))
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
        with Store.open(path, write=False) as reader:
            assert reader.sessions() == []
    assert not os.path.lexists(place) and not target.parent.exists()


@pytest.fixture
def short_temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of this test alone, whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def tree(folder: Path) -> dict[str, str]:
    return {
        str(one.relative_to(folder)): one.read_text() if one.is_file() else ""
        for one in folder.rglob("*")
    }


@pytest.mark.parametrize("where", ["elsewhere", "in the temporary directory"])
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_link_in_the_place_of_the_socket_deletes_no_folder(
    path: Path, short_temporary: Path, where: str, mode: int
) -> None:
    folder = (path.parent if where == "elsewhere" else short_temporary) / "peirce-thesis"
    (folder / "chapters").mkdir(parents=True)
    (folder / "chapters" / "one").write_text("a year of work")
    (folder / "socket").write_text("no socket")
    folder.chmod(mode)
    before = tree(folder)
    socket_path(path).symlink_to(folder / "socket")
    Store.open(path, write=True).close()
    assert tree(folder) == before and not os.path.lexists(socket_path(path))


def test_only_the_socket_of_a_private_folder_is_removed(path: Path, short_temporary: Path) -> None:
    folder = short_temporary / "peirce-of-a-dead-owner"
    folder.mkdir(0o700)
    (folder / "mine").write_text("a user's own")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(folder / "socket"))
    dead.close()  # the file stays, as after kill -9
    socket_path(path).symlink_to(folder / "socket")
    Store.open(path, write=True).close()
    assert tree(folder) == {"mine": "a user's own"}


def test_a_private_folder_of_a_killed_owner_is_removed(
    tmp_path: Path, short_temporary: Path
) -> None:
    path = tmp_path / ("d" * 90) / "peirce.duckdb"
    place = f"import tempfile; tempfile.tempdir = {str(short_temporary)!r}\n"
    opened = f"from peirce.store import Store\nstore = Store.open({str(path)!r}, write=True)\n"
    script = f"{place}{opened}import os; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", script], check=False)
    (left,) = (one for one in short_temporary.iterdir() if (one / "socket").exists())
    Store.open(path, write=True).close()
    assert not left.exists() and not os.path.lexists(socket_path(path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_a_private_folder_of_another_user_is_left(
    path: Path, short_temporary: Path, mode: int
) -> None:
    folder = short_temporary / "peirce-of-another-user"
    folder.mkdir()
    folder.chmod(mode)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(folder / "socket"))
    dead.close()
    os.chown(folder, 65534, 65534)
    socket_path(path).symlink_to(folder / "socket")
    Store.open(path, write=True).close()
    assert (folder / "socket").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
def test_a_link_that_another_user_made_is_not_followed(short_temporary: Path) -> None:
    path, folder = short_temporary / "peirce.duckdb", short_temporary / "peirce-trap"
    Store.open(path, write=True).close()
    folder.mkdir()
    short_temporary.chmod(0o755)  # the other process must reach it
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    (folder / "socket").chmod(0o777)
    listener.listen()
    listener.settimeout(0.2)
    socket_path(path).symlink_to(folder / "socket")  # by root
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setuid(65534)
            code = 3 if OwnerClient.connect(path) is None else 4
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    with pytest.raises(TimeoutError):
        listener.accept()
    listener.close()


def test_a_reader_outlives_the_owner(path: Path, made: SimpleNamespace, tmp_path: Path) -> None:
    store = Store.open(path, write=True)
    session = store.create_session({}, [(made.problem("1"), made.space)])
    with Store.open(path, write=False) as reader:
        assert reader.find_session("last") == session
        store.close()
        assert reader.find_session("last") == session


def test_visitors_that_speak_nonsense_or_leave_early_harm_nobody(store: Store, path: Path) -> None:
    for noise in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\5hello",
        b"\xff\xff\xff\xff",
        b"\0\0\0\2{}",
        b"",
    ):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(socket_path(path)))
            link.sendall(noise)
    with Store.open(path, write=False) as reader:
        assert reader.sessions() == []


@pytest.mark.parametrize(
    "message", [b'{"sql": "SELECT 1", "sql": "SELECT 2", "params": []}', b'{"sql": "SELECT ?", "params": [NaN]}',
                b'{"who": Infinity}', b'{"who": 1e999}']
)  # fmt: skip
def test_a_message_without_one_meaning_is_not_answered(
    store: Store, path: Path, message: bytes
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(str(socket_path(path)))
        link.sendall(struct.pack(">I", len(message)) + message)
        assert link.recv(100) == b""


def test_numbers_that_are_not_finite_travel(store: Store, path: Path) -> None:
    visitor = OwnerClient.connect(path)
    assert visitor is not None
    with contextlib.closing(visitor):
        sql = "SELECT 'nan'::DOUBLE, 'inf'::DOUBLE, ?::DOUBLE, 1.5::DOUBLE"
        ((nan, infinite, less, half),) = visitor.query(sql, [float("-inf")])
    assert nan != nan and (infinite, less, half) == (float("inf"), float("-inf"), 1.5)


def test_many_readers_at_once_while_the_owner_writes(
    store: Store, path: Path, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session()
    failures: list[str] = []

    def read() -> None:
        with Store.open(path, write=False) as reader:
            for _ in range(10):
                steps = [record.step for record in reader.steps(session)]
                if steps != list(range(len(steps))):
                    failures.append(str(steps))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    fill(store, session, made)
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("write", [False, True])
def test_a_store_that_another_thread_is_about_to_close_is_waited_for(
    path: Path, made: SimpleNamespace, write: bool
) -> None:
    """Also by a session that begins while `peirce.status` reads its store in the same process."""
    with Store.open(path, write=True) as store:
        session = store.create_session({}, [(made.problem("1"), made.space)])
    held = connection.Database(path, write=not write)
    threading.Timer(0.3, held.close).start()
    with Store.open(path, write=write) as opened:
        assert opened.find_session("last") == session


def test_the_owner_tells_its_pid(store: Store, path: Path) -> None:
    visitor = OwnerClient.connect(store.path)
    assert visitor is not None and visitor.owner_pid() == os.getpid()
    visitor.close()


def test_a_long_query_of_a_reader_ends_with_the_owner(store: Store, path: Path) -> None:
    visitor = OwnerClient.connect(path)
    assert visitor is not None
    ended = threading.Event()

    def ask() -> None:
        with contextlib.suppress(OSError, StoreError):
            visitor.query("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b")
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    time.sleep(0.3)
    start = time.monotonic()
    store.close()
    assert time.monotonic() - start < 30 and ended.wait(5)


@pytest.mark.parametrize("kind", ["file", "folder", "link", "fifo", "dangling"])
def test_what_is_no_socket_of_ours_is_neither_removed_nor_written_over(
    path: Path, kind: str
) -> None:
    place = socket_path(path)
    other = path.with_name("other")
    other.write_text("a user's own")
    if kind == "file":
        place.write_text("a user's own")
    elif kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.symlink_to(other if kind == "link" else path.with_name("nothing"))
    before = place.lstat()
    with pytest.raises(StoreError, match=r"\.sock is not a socket of Peirce") as caught:
        Store.open(path, write=True)
    assert "\n" not in str(caught.value) and not path.exists()
    assert place.lstat() == before and other.read_text() == "a user's own"


@pytest.mark.parametrize("says", [b"", b"\0\0\0\2hi", b"\0\0\0\2[]", b"\0\0\0\2{}"])
def test_the_socket_of_another_program_is_left_to_it(path: Path, says: bytes) -> None:
    Store.open(path, write=True).close()
    other = socket.socket(socket.AF_UNIX)
    other.bind(str(socket_path(path)))
    other.listen()

    def serve() -> None:
        while True:
            try:
                link, _ = other.accept()
            except OSError:
                return
            with link, contextlib.suppress(OSError):
                link.sendall(says)
                link.recv(1)

    threading.Thread(target=serve, daemon=True).start()
    for write in (True, False):
        with contextlib.suppress(StoreError), Store.open(path, write=write) as opened:
            assert not write and opened.sessions() == []
    assert socket_path(path).exists()
    other.shutdown(socket.SHUT_RDWR)
    other.close()
    Store.open(path, write=True).close()


FORGER = """
import json, os, socket, struct, sys
os.setgid(65534); os.setuid(65534)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
print("ready", flush=True)
while True:
    link, _ = listener.accept()
    while head := link.recv(4, socket.MSG_WAITALL):
        asked = json.loads(link.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL))
        forged = "5" if "FROM meta" in asked.get("sql", "") else "forged"
        data = json.dumps({"pid": 1, "rows": [[forged]], "more": False}).encode()
        link.sendall(struct.pack(">I", len(data)) + data)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
def test_the_socket_of_another_user_is_not_believed(short_temporary: Path) -> None:
    short_temporary.chmod(0o1777)
    path = short_temporary / "peirce.duckdb"
    with Store.open(path, write=True) as store:
        session = store.create_session({}, [])
    forger = subprocess.Popen(
        [sys.executable, "-c", FORGER, str(socket_path(path))], stdout=subprocess.PIPE
    )
    try:
        assert forger.stdout is not None and forger.stdout.readline()
        with (
            pytest.warns(UserWarning, match=r"\.sock is a socket of another user and is ignored"),
            Store.open(path, write=False) as reader,
        ):
            assert reader.query("SELECT session FROM session") == [(session,)]
        with (
            pytest.warns(UserWarning, match="of another user"),
            pytest.raises(StoreError, match="another program is listening"),
        ):
            Store.open(path, write=True)
    finally:
        forger.kill()
        forger.communicate()


FIRST = """
import sys
from peirce.store import Store
with Store.open(sys.argv[1], write=True):
    print("ready", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("folders", [[], ["d" * 90, "e" * 90]])
def test_an_owner_that_closes_leaves_the_socket_of_the_next_one(
    tmp_path: Path, folders: list[str]
) -> None:
    path = tmp_path.joinpath(*folders, "peirce.duckdb")
    Store.open(path, write=True).close()  # nothing is left in the log
    first = subprocess.Popen(
        [sys.executable, "-c", FIRST, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert first.stdout is not None and first.stdout.readline()
    before = Path(os.path.realpath(socket_path(path)))
    path.rename(path.with_name("moved.duckdb"))
    socket_path(path).unlink()
    with Store.open(path, write=True) as second:
        session = second.create_session({}, [])
        first.communicate(b"\n")
        with Store.open(path, write=False) as reader:
            assert reader.find_session("last") == session
    assert not os.path.lexists(socket_path(path))
    assert before == socket_path(path) or not before.parent.exists()
