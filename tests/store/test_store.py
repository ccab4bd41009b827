"""Opening a store, its versions, and its sessions by name and status.

Internals: a process is killed between the statements of the schema, and stores of other versions
are made.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from peirce.records import InputSet, StoreError
from peirce.store import Store
from peirce.store.sessions import ID_LETTERS
from peirce.tests.counts import drawn

NewSession = Callable[..., str]

HOLD = """
import sys, time
from peirce.store import Store
store = Store.open(sys.argv[1], write=True)
if len(sys.argv) > 2:
    from peirce.records import InputSet, Observation, Problem
    problem = Problem("1", "t", "programs", (Observation(1, 1),))
    print(store.create_session({}, [(problem, InputSet("n", (1,)))]))
print("ready", flush=True)
time.sleep(60)
"""


def holder(path: Path, *arguments: str) -> subprocess.Popen[str]:
    """A process that owns the store; it has said so when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while (line := process.stdout.readline().strip()) != "ready":
        assert process.poll() is None, "the owner did not start"
        assert re.fullmatch(f"[{ID_LETTERS}]{{8}}", line)
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_a_missing_store_is_not_made_by_reading(path: Path) -> None:
    with pytest.raises(StoreError, match="no store at"):
        Store.open(path, write=False)
    assert not path.exists()


def test_writing_makes_the_folder(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs" / "today" / "p.duckdb", write=True) as store:
        assert store.sessions() == []


@pytest.mark.parametrize("write", [True, False])
def test_a_file_of_another_version_is_named_with_both_versions(path: Path, write: bool) -> None:
    Store.open(path, write=True).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    with pytest.raises(StoreError, match=r"version 99.* version 5: use"):
        Store.open(path, write=write)
    assert not path.with_name(path.name + ".sock").exists()
    duckdb.connect(str(path)).close()  # and nothing holds it


@pytest.mark.parametrize("write", [True, False])
def test_a_database_of_something_else_is_left_alone(path: Path, write: bool) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE shopping (item VARCHAR)")
    with pytest.raises(
        StoreError, match="is a DuckDB database, but not a store of Peirce; choose another file"
    ):
        Store.open(path, write=write)
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("shopping",)]


def test_a_writer_takes_over_an_empty_file(path: Path) -> None:
    path.touch()
    Store.open(path, write=True).close()
    with Store.open(path, write=False) as store:
        assert store.sessions() == []


def test_a_store_that_cannot_be_made_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="its path is too long"):
        Store.open(tmp_path / ("x" * 253), write=True)  # its log has no room for its name
    code = """
import resource, sys
from pathlib import Path
from peirce.store.connection import Database
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
Database(Path(sys.argv[1]), write=True)
"""
    arguments = [sys.executable, "-c", code, str(tmp_path / "full.duckdb")]
    ended = subprocess.run(arguments, capture_output=True, text=True)
    assert "StoreError" in ended.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "write"),
    [(b"DUCK of clay", True), (b"a text\n" * 2_000, False), (b"a text\n" * 2_000, True)],
)
def test_a_file_that_is_no_database_gets_one_sentence(
    path: Path, content: bytes, write: bool
) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        Store.open(path, write=write)
    assert "is not a DuckDB database; choose another store" in str(
        caught.value
    ) and "\n" not in str(caught.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize("left", [0, 100, 4_096, 8_192, 12_288])
def test_what_a_kill_left_of_a_new_store_is_a_store_of_nothing_yet(path: Path, left: int) -> None:
    """A database without tables, or the start of one: headers are all that it has."""
    import duckdb

    duckdb.connect(str(path)).close()
    assert path.stat().st_size == 12_288
    os.truncate(path, left)
    with pytest.raises(
        StoreError,
        match="is still empty",
    ):
        Store.open(path, write=False)
    assert path.stat().st_size == left
    Store.open(path, write=True).close()
    with Store.open(path, write=False) as reader:
        assert reader.sessions() == []


def test_a_killed_creation_leaves_a_store_that_opens(path: Path) -> None:
    code = """
import os, signal, sys
from peirce.store import connection, schema
made = schema.creation_statements()
def killed():
    yield from made[:int(sys.argv[2])]
    os.kill(os.getpid(), signal.SIGKILL)
connection.creation_statements = killed
from peirce.store import Store
Store.open(sys.argv[1], write=True)
"""
    for done in (0, 1, 5):
        place = path.with_name(f"{done}.duckdb")
        subprocess.run([sys.executable, "-c", code, str(place), str(done)], check=False)
        with pytest.raises(
            StoreError,
            match="is still empty",
        ):
            Store.open(place, write=False)
        with Store.open(place, write=True) as opened:
            assert opened.sessions() == []


def test_a_path_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    for name, why in (
        ("\udcff.duckdb", "not UTF-8"),
        ("a\0b.duckdb", "null"),
        ("~no-such-user/s", "home"),
    ):
        for write in (False, True):
            place = name if name.startswith("~") else tmp_path / name
            with pytest.raises(StoreError, match=why) as caught:
                Store.open(place, write=write)
            assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        Store.open(tmp_path, write=True)


def test_a_second_writer_gets_one_sentence_with_the_pid(path: Path) -> None:
    owner = holder(path)
    try:
        with pytest.raises(StoreError) as caught:
            Store.open(path, write=True)
    finally:
        kill(owner)
    assert f"process {owner.pid}" in str(caught.value) and "\n" not in str(caught.value)


def test_a_second_writer_in_one_process_is_refused_and_the_first_keeps_its_lock(
    store: Store, path: Path, made: SimpleNamespace
) -> None:
    with pytest.raises(StoreError, match=f"process {os.getpid()}"):
        Store.open(path, write=True)
    other = made.python(f"import duckdb; duckdb.connect({str(path)!r})")
    assert "Could not set lock" in other.stderr


def test_what_a_killed_run_left_is_interrupted_for_reader_and_writer(path: Path) -> None:
    kill(holder(path, "session"))
    with Store.open(path, write=False) as reader:
        (session,) = reader.sessions()
        assert session["status"] == "interrupted"
    with Store.open(path, write=True) as store:
        assert store.session(session["session"])["status"] == "interrupted"
        store.update_session(session["session"], status="running")
        with Store.open(path, write=False) as reader:
            assert reader.session(session["session"])["status"] == "running"
            store.close()
            assert reader.session(session["session"])["status"] == "interrupted"


def test_sessions_are_found_by_id_prefix_and_last(store: Store, new_session: NewSession) -> None:
    with pytest.raises(StoreError, match="the store contains no sessions yet"):
        store.find_session("last")
    ids = [new_session() for _ in range(40)]
    assert all(re.fullmatch(f"[{ID_LETTERS}]{{8}}", session) for session in ids)
    assert len(set(ids)) == 40 and not set("il1o0") & set(ID_LETTERS)
    assert store.find_session("last") == ids[-1]
    assert store.find_session(ids[3]) == ids[3]
    assert store.find_session(ids[5][:7]) == ids[5]
    assert [session["session"] for session in store.sessions()] == ids
    letters = [session[0] for session in ids]
    twice = next(letter for letter in letters if letters.count(letter) > 1)
    with pytest.raises(StoreError, match="ambiguous"):
        store.find_session(twice)
    with pytest.raises(StoreError, match=f"did you mean {ids[7]}"):
        store.find_session(ids[7][:7] + "0")
    for name in ("", "%", "00000000"):
        with pytest.raises(StoreError):
            store.find_session(name)


def test_settings_fields_and_counts_come_back(
    store: Store, new_session: NewSession, made: SimpleNamespace
) -> None:
    session = new_session("1", "2", versions={"peirce": "0"}, note="\ud800")
    store.update_session(session, status="done", seconds=2.5)
    store.update_session(session, status="done", metrics={"beta": 0.5})
    held = store.session(session)
    assert held["settings"]["note"] == "\ud800" and held["versions"] == {"peirce": "0"}
    assert (held["status"], held["seconds"], held["metrics"]) == ("done", 2.5, {"beta": 0.5})
    assert (held["problems"], held["problems_done"], held["problems_failed"]) == (2, 0, 0)
    rows = store.problems(session)
    assert [row.problem for row in rows] == [made.problem("1"), made.problem("2")]
    assert {(row.status, row.cause, row.space) for row in rows} == {("open", "", made.space.digest)}
    with pytest.raises(StoreError, match="not 'finished'"):
        store.update_session(session, status="finished")
    for ask in (store.session, store.digest):
        with pytest.raises(StoreError):
            ask("nothere2")
    with pytest.raises(StoreError, match="no problem '3'"):
        list(store.steps(session, "3"))


def test_spaces_are_kept_once_with_their_weights(store: Store, made: SimpleNamespace) -> None:
    weighted = InputSet("w", ([1], [2]), (0.5, 1.5))
    pairs = [(made.problem("1"), made.space), (made.problem("2"), weighted)]
    for _ in range(2):
        store.create_session({}, pairs)
    assert store.query("SELECT count(*) FROM input_set") == [(2,)]
    assert store.input_set(weighted.digest) == weighted
    assert store.input_set(made.space.digest) == made.space
    with pytest.raises(StoreError, match="no input set"):
        store.input_set("0" * 64)


def test_two_problems_of_one_id_are_refused_whole(store: Store, made: SimpleNamespace) -> None:
    with pytest.raises(StoreError, match="problem 1 occurs twice"):
        store.create_session({}, [(made.problem("1"), made.space)] * 2)
    assert store.sessions() == []


def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path, write=True)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.sessions()
    with pytest.raises(StoreError, match="closed"):
        store.create_session({}, [])


def test_leaving_without_close_is_quiet_and_frees_the_store(
    path: Path, made: SimpleNamespace
) -> None:
    left = made.python(
        f"from peirce.store import Store\nStore.open({str(path)!r}, write=True)\nraise SystemExit(3)"
    )
    assert (left.returncode, left.stdout, left.stderr) == (3, "", "")
    assert not path.with_name(path.name + ".sock").exists()


def race(path: Path) -> tuple[list[Store], list[str]]:
    """What three threads got that open a store for writing at once: stores and refusals."""
    opened: list[Store] = []
    refused: list[str] = []
    start = threading.Barrier(3)

    def take() -> None:
        start.wait()
        try:
            opened.append(Store.open(path, write=True))
        except StoreError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return opened, refused


@pytest.mark.counted
@pytest.mark.parametrize("unfinished", [pytest.param(False, marks=pytest.mark.soak), True])
def test_threads_that_open_one_new_store_leave_it_to_the_first(
    tmp_path: Path, unfinished: bool
) -> None:
    for number in range(drawn(8, soak=20)):
        path = tmp_path / f"{number}.duckdb"
        if unfinished:
            path.touch()
        opened, refused = race(path)
        (store,) = opened
        session = store.create_session({}, [])
        store.close()
        assert len(refused) == 2 and not any("\n" in said for said in refused)
        with Store.open(path, write=False) as reader:
            assert reader.find_session("last") == session


@pytest.mark.parametrize("write", [True, False])
def test_a_store_never_gets_the_number_of_a_closed_standard_descriptor(
    path: Path, write: bool
) -> None:
    Store.open(path, write=True).close()
    script = (
        "import os, sys\n"
        "from peirce.store import Store\n"
        f"store = Store.open({str(path)!r}, write={write})\n"
        "for number in (0, 1, 2):\n"
        "    found, null = os.fstat(number), os.stat(os.devnull)\n"
        "    if (found.st_dev, found.st_ino) != (null.st_dev, null.st_ino):\n"
        "        os._exit(3)\n"
    )
    line = ["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", sys.executable, "-c", script]
    assert subprocess.run(line, check=False).returncode == 0


FORK = """
import os, sys
from peirce.store import Store
store = Store.open(sys.argv[1], write=True)
child = os.fork()
if not child:
    sys.exit(0)
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(ended, os.path.exists(sys.argv[1] + ".sock"), flush=True)
store.create_session({}, [])
"""


def test_a_forked_child_that_exits_leaves_the_store_to_its_parent(
    path: Path, made: SimpleNamespace
) -> None:
    assert made.python(FORK, str(path)).stdout.split() == ["0", "True"]
    with Store.open(path, write=False) as reader:
        assert len(reader.sessions()) == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [("fifo", "no regular file"), ("a\\b.duckdb", "a backslash"), ("x" * 251, "too long")],
)
def test_a_place_where_no_store_can_be_is_refused_and_left_as_it_is(
    tmp_path: Path, name: str, why: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a").mkdir()
    script = """
import sys
from peirce.records import StoreError
from peirce.store import Store
for write in (True, False):
    try:
        Store.open(sys.argv[1], write=write)
    except StoreError as error:
        print(error)
"""
    said = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / name)], capture_output=True, text=True, timeout=60
    )  # fmt: skip
    lines = said.stdout.splitlines()
    assert len(lines) == 2 and all(f"{why}; choose another" in one for one in lines), said
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == ["a", "fifo"]
