"""What the writer commits together, where changes come from many problems at once.

Internals: commits are counted at the writer, which a store hides.
"""

from __future__ import annotations

import time

from peirce.store import Store
from peirce.store.change_log import Change
from peirce.store.writer import COMMIT_WAIT_S, Writer


def writes(store: Store, monkeypatch) -> list[int]:
    groups: list[int] = []
    commit = Writer._commit

    def counted(self, group):
        groups.append(len(group))
        commit(self, group)

    monkeypatch.setattr(Writer, "_commit", counted)
    return groups


def test_changes_that_are_waited_for_are_one_commit(store, monkeypatch) -> None:
    groups = writes(store, monkeypatch)
    store.set_commit_size(5)
    began = time.monotonic()
    done = [store._writing().submit(Change()) for _ in range(5)]
    for one in done:
        one.result(10)
    assert groups == [5] and time.monotonic() - began < COMMIT_WAIT_S * 20


def test_one_change_waits_a_moment_and_not_for_others(store, monkeypatch) -> None:
    groups = writes(store, monkeypatch)
    store.set_commit_size(1_000)
    store._writing().submit(Change()).result(10)
    assert groups == [1]
    store.set_commit_size(1)
    store._writing().submit(Change()).result(10)
    assert groups == [1, 1]


def test_changes_that_nobody_waits_for_are_one_commit(store, monkeypatch) -> None:
    groups = writes(store, monkeypatch)
    writer = store._writing()
    done = [writer.submit(Change(), awaited=False) for _ in range(3)]
    writer.hurry()
    for one in done:
        one.result(10)
    done = [writer.submit(Change(), awaited=False), writer.submit(Change())]
    done[1].result(10)
    writer.submit(Change(), awaited=False).result(10)  # after `COMMIT_WAIT_S`
    assert groups == [3, 2, 1]


def test_closing_writes_what_waits_at_once(path, monkeypatch) -> None:
    store = Store.open(path, write=True)
    groups = writes(store, monkeypatch)
    store.set_commit_size(1_000)
    done = store._writing().submit(Change())
    store.close()
    assert done.result(0) is None and groups == [1]


def test_vectors_of_an_earlier_session_do_not_part_what_is_written_together(path, monkeypatch):
    """The writer of a new process does not know what the file holds."""
    vector = ("00" * 32, b"the content that this digest names")
    with Store.open(path, write=True) as first:
        first._writing().submit(Change({"vector": [vector]})).result(10)
    written: list[int] = []
    write = Writer._write

    def counted(self, changes, conflict):
        written.append(len(changes))
        write(self, changes, conflict)

    with Store.open(path, write=True) as second:
        monkeypatch.setattr(Writer, "_write", counted)
        second.set_commit_size(3)
        for one in [second._writing().submit(Change({"vector": [vector]})) for _ in range(3)]:
            one.result(10)
    assert written == [3]
