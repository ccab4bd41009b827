"""When calls and steps are durable, and what is left of them after a kill or a failed write.

Internals: the writer is held back or made to fail between two commits, which a store hides.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from peirce.records import CallKey, Outcome, StoreError, Usage
from peirce.store import Store, owner, store_files, writer
from peirce.store.change_log import (
    END_PROBLEM,
    STEP_IS_THERE,
    Change,
    Column,
    decode_changes,
    encode_changes,
    is_storable,
)
from peirce.store.connection import StoreLocked
from peirce.store.writer import Writer

NewSession = Callable[..., str]


def record(store: Store, session: str, problem: str, path: str, kind: str = "tool"):
    async def make() -> Outcome:
        return Outcome({"path": path}, {}, Usage(1, 2))

    return store.journal(session).record_once(CallKey(session, problem, path), kind, {}, make)


@pytest.fixture
def gate(monkeypatch) -> Iterator[threading.Event]:
    """Open by default; while it is cleared, the writer commits nothing."""
    opened = threading.Event()
    opened.set()
    commit = Writer._commit

    def held(self, group):
        opened.wait(30)
        commit(self, group)

    monkeypatch.setattr(Writer, "_commit", held)
    yield opened
    opened.set()


async def is_held(work) -> bool:
    """Whether `work` has not ended when everything else had its turn; it goes on meanwhile."""
    done, _ = await asyncio.wait([work], timeout=0.2)
    return not done


def test_a_tool_call_is_handed_on_at_once_and_a_step_when_all_before_it_is_durable(
    store: Store, new_session: NewSession, made: SimpleNamespace, gate: threading.Event
) -> None:
    session = new_session()

    async def run() -> None:
        # Then what is stored has been read, and nothing waits for its tables.
        await record(store, session, "1", "step/1/execute/0")
        ledger = store.ledger(session)
        await ledger.record_step(made.step("1", 1))
        assert len(list(store.steps(session))) == 1
        gate.clear()
        for n in range(3):
            await record(store, session, "1", f"step/0/execute/{n}")
        found = store.journal(session).find_entry(CallKey(session, "1", "step/0/execute/1"))
        assert found is not None and found[1].response == {"path": "step/0/execute/1"}
        step = asyncio.create_task(ledger.record_step(made.step("1", 0)))
        assert await is_held(step)
        gate.set()
        await step

    asyncio.run(run())
    assert len(store.calls(session)) == 4


@pytest.mark.parametrize(("kind", "calls_before", "waits"), [
    ("model", 1, True), ("model", 0, False), ("human", 0, True), ("tool", 1, False),
])  # fmt: skip
def test_an_answer_waits_for_the_calls_before_it_and_that_of_a_person_for_itself(
    store: Store, new_session: NewSession, gate: threading.Event,
    kind: str, calls_before: int, waits: bool,
) -> None:  # fmt: skip
    session = new_session("1", "2")

    async def run() -> None:
        gate.clear()
        await record(store, session, "2", "step/0/execute/0")  # another problem's is not awaited
        for n in range(calls_before):
            await record(store, session, "1", f"step/0/execute/{n}")
        asked = asyncio.create_task(record(store, session, "1", "step/0/propose/1", kind))
        assert await is_held(asked) is waits
        gate.set()
        await asked

    asyncio.run(run())


def test_after_a_failed_write_the_session_writes_nothing_and_another_one_goes_on(
    store: Store, new_session: NewSession, made: SimpleNamespace, monkeypatch
) -> None:
    session, other = new_session(), new_session()
    asyncio.run(record(store, session, "1", "step/0/execute/0"))
    assert len(store.calls(session)) == 1
    execute = Writer._execute

    def full(self, statements):
        raise duckdb.IOException("the disk is full")

    async def fail() -> None:
        monkeypatch.setattr(Writer, "_execute", full)
        await record(store, session, "1", "step/0/execute/1")  # handed on before it was written
        with pytest.raises(StoreError, match="the disk is full"):
            await store.ledger(session).record_step(made.step("1", 0))
        monkeypatch.setattr(Writer, "_execute", execute)
        for later in (
            record(store, session, "1", "step/1/execute/0"),
            store.ledger(session).record_step(made.step("1", 1)),
            store.ledger(session).record_end("1", "done", ""),
        ):
            with pytest.raises(StoreError, match="the disk is full"):
                await later
        await record(store, other, "1", "step/0/execute/0")
        await store.ledger(other).record_step(made.step("1", 0))

    asyncio.run(fail())
    assert [call["path"] for call in store.calls(session)] == ["step/0/execute/0"]
    assert not list(store.steps(session))
    assert len(store.calls(other)) == len(list(store.steps(other))) == 1


KILLED = """
import asyncio, os, signal, sys
sys.path.insert(0, sys.argv[2])
import conftest
from peirce.records import CallKey
from peirce.store import Store

store = Store.open(sys.argv[1], write=True)
session = store.create_session({}, [(conftest.problem("1"), conftest.SPACE)])

async def run():
    ledger = store.ledger(session)
    for number in range(3):
        key = CallKey(session, "1", f"step/{number}/execute/0")
        async def make():
            return conftest.outcome(key, "tool")
        await store.journal(session).record_once(key, "tool", {}, make)
        await ledger.record_step(conftest.step("1", number))

asyncio.run(run())
print(session, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_new_log_is_flushed(path: Path, made: SimpleNamespace, monkeypatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr(store_files, "sync", flushed.append)
    with Store.open(path, write=True) as store:
        session = store.create_session({}, [(made.problem("1"), made.space)])
        logs = len(flushed)
        assert logs > 0 and set(flushed) == {path.parent}
        asyncio.run(record(store, session, "1", "a"))
        assert len(flushed) == logs  # the log is the same


@pytest.fixture
def killed(path: Path, made: SimpleNamespace) -> str:
    """The session of a process that was killed after three steps, whose rows are still in `pending`."""
    ended = made.python(KILLED, str(path), str(Path(__file__).parent))
    assert ended.stdout, ended.stderr
    copy = path.with_name("copy.duckdb")
    for end in ("", ".wal"):
        shutil.copyfile(f"{path}{end}", f"{copy}{end}")
    with duckdb.connect(str(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM step").fetchall() == [(0,)]
        assert connection.execute("SELECT count(*) > 0 FROM pending").fetchall() == [(True,)]
    return ended.stdout.strip()


@pytest.mark.parametrize("write", [False, True])
def test_whoever_opens_the_store_of_a_killed_process_finds_its_steps(
    path: Path, killed: str, made: SimpleNamespace, write: bool
) -> None:
    for again in (write, False):
        with Store.open(path, write=again) as store:
            for number, found in enumerate(store.steps(killed)):
                assert made.same(found, made.step("1", number))
            assert len(store.calls(killed)) == len(list(store.steps(killed))) == 3
            assert store.find_changes(killed) == []
            assert store.query("SELECT count(*) FROM pending") == [(0,)]
            assert store.session(killed)["status"] == "interrupted"


def test_a_reader_that_cannot_write_the_store_says_that_the_last_steps_are_missing(
    path: Path, killed: str, monkeypatch
) -> None:
    def refuse(place, wait_s):
        raise StoreError("it may only be read")

    monkeypatch.setattr(owner, "open_for_writing", refuse)
    with (
        pytest.warns(UserWarning, match="last calls and steps before a kill are not shown"),
        Store.open(path, write=False) as store,
    ):
        assert store.session(killed)["problems"] == 1
        assert len(store.calls(killed)) == 1  # the ledger had looked for steps after it


def test_a_reader_waits_for_another_one_that_is_inserting_the_last_steps(
    path: Path, killed: str, monkeypatch, recwarn
) -> None:
    insert = owner._finish_writing

    def other_was_first(place):
        assert insert(place) is None
        return StoreLocked("another reader holds it", 1)

    monkeypatch.setattr(owner, "_finish_writing", other_was_first)
    with Store.open(path, write=False) as store:
        assert len(list(store.steps(killed))) == 3
    assert not recwarn.list


def test_a_store_that_others_keep_open_is_read_without_the_last_steps(
    path: Path, killed: str, monkeypatch
) -> None:
    monkeypatch.setattr(owner, "OPEN_TIMEOUT_S", 0.1)
    monkeypatch.setattr(owner, "_finish_writing", lambda _: StoreLocked("readers hold it", 1))
    with (
        pytest.warns(UserWarning, match="kill are not shown, .* tables .readers hold it"),
        Store.open(path, write=False) as store,
    ):
        assert store.session(killed)["problems"] == 1


def test_if_rows_cannot_be_inserted_no_more_than_the_limit_waits_for_them(
    store: Store, new_session: NewSession, made: SimpleNamespace, monkeypatch
) -> None:
    session = new_session()
    execute = Writer._execute

    def nearly_full(self, statements):
        if any(sql.startswith("DELETE FROM pending") for sql, _ in statements):
            raise duckdb.IOException("the disk is nearly full")
        execute(self, statements)

    async def run() -> None:
        ledger = store.ledger(session)
        await ledger.record_step(made.step("1", 0))
        assert len(list(store.steps(session))) == 1  # so nothing waits
        monkeypatch.setattr(writer, "MAX_UNAPPLIED_ROWS", 0)
        monkeypatch.setattr(Writer, "_execute", nearly_full)
        await ledger.record_step(made.step("1", 1))
        with pytest.raises(StoreError, match="nearly full"):
            await ledger.record_step(made.step("1", 2))
        monkeypatch.setattr(Writer, "_execute", execute)

    asyncio.run(run())
    assert [one.step for one in store.steps(session)] == [0, 1]


COLUMNS = [
    Column(kind, nullable)
    for kind, nullable in (
        ("VARCHAR", False), ("INTEGER", False), ("DOUBLE", True), ("BOOLEAN", True), ("BOOLEAN[]", True),
        ("BLOB", False),
    )
]  # fmt: skip


def storable(*cells: object, chain: str | None = "a") -> bool:
    return is_storable(Change({"call": [cells]}, chain=chain), lambda _: COLUMNS)


def test_changes_come_back_equal_from_their_bytes() -> None:
    row = ("é\x00", 2**31 - 1, float("inf"), True, [True, None, False], b"\x00\xff")
    other = ("", 3, None, None, None, b"")
    change = Change({"call": [row, other], "vector": []}, [(END_PROBLEM, ("1",))],
                    (STEP_IS_THERE, ("s", 2)), "chain")  # fmt: skip
    assert is_storable(change, lambda _: COLUMNS)
    assert decode_changes(encode_changes([change, Change(statements=[], chain="a")])) == [
        change,
        Change(statements=[], chain="a"),
    ]


def test_cells_that_may_not_fit_into_their_columns_are_inserted_at_once() -> None:
    good = ("s", 1, 0.5, True, [None], b"")
    assert storable(*good)
    assert not storable(*good, chain=None) and not storable(*good[:-1])
    for place, cell in ((0, None), (0, 3), (1, 2**31), (1, 0.5), (1, "1"), (2, "nan"), (3, 2),
                        (4, [2]), (4, True), (5, "b"), (0, object())):  # fmt: skip
        assert not storable(*good[:place], cell, *good[place + 1 :])


def test_bytes_hold_no_other_sql_than_that_of_steps_and_ends(path: Path, killed: str) -> None:
    drop = Change({}, [("DROP TABLE step", ())], chain="a")
    assert not is_storable(drop, lambda _: COLUMNS)
    for hostile in (drop, Change({"step; DROP TABLE step; --": [("a",)]}, chain="a"),
                    Change({}, [], ("SELECT 1 FROM call", ()), "a")):  # fmt: skip
        with pytest.raises(StoreError, match="other SQL than Peirce writes"):
            decode_changes(encode_changes([hostile]))
    with duckdb.connect(str(path)) as connection:
        connection.execute("INSERT INTO pending VALUES (99, ?)", [encode_changes([drop])])
    with pytest.raises(StoreError, match="other SQL"):
        Store.open(path, write=True)
    with pytest.warns(UserWarning, match="other SQL"), Store.open(path, write=False) as store:
        assert store.query("SELECT count(*) FROM pending") != [(0,)]


def test_damaged_bytes_are_a_store_error() -> None:
    data = encode_changes([Change({"vector": [("0", b"abc")]}, chain="a")])
    for damaged in (b"", data[:7], b"\xff" * 20, data.replace(b'"b"', b'"c"')):
        with pytest.raises(StoreError, match="pending changes cannot be read"):
            decode_changes(damaged)
