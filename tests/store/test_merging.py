"""Stores are merged once, in any order, whichever process dies meanwhile.

Internals: a row is written that no run would write, to make two copies differ.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import peirce
import pytest
from peirce.records import StoreError, UsageError
from peirce.store import Store


def run(store: Path, seed: int, problems: int = 2, task: str = "list_functions") -> peirce.Session:
    return peirce.run(
        task, problems=problems, seed=seed, observations=4 if task == "list_functions" else None,
        model="search", max_answers=2, store=store,
    )  # fmt: skip


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three stores: two share a session, one has pairs, too."""
    folder = tmp_path_factory.mktemp("stores")
    first, second, third = (folder / f"{name}.duckdb" for name in ("first", "second's", "third"))
    run(first, 1)
    shutil.copy(first, second)
    run(second, 2)
    run(third, 3, 1, "abd")
    peirce.run("list_functions", problems=4, seed=2, observations=4, model="search", store=third)
    peirce.pairs("last", store=third)
    return [first, second, third]


def digests(store: Path) -> dict[str, str]:
    with Store.open(store, write=False) as opened:
        return {row["session"]: opened.digest(row["session"]) for row in opened.sessions()}


def content(store: Path) -> list[Any]:
    """All rows of a store in order, but for the vectors' and input sets' own order."""
    with Store.open(store, write=False) as opened:
        names = [row[0] for row in opened.query("SELECT table_name FROM duckdb_tables()")]
        return [sorted(map(repr, opened.query(f"SELECT * FROM {name}"))) for name in sorted(names)]


def test_merged_stores_have_each_session_once_in_any_order(
    stores: list[Path], tmp_path: Path
) -> None:
    wanted = {key: digest for store in stores for key, digest in digests(store).items()}
    contents = []
    for number, order in enumerate(permutations(stores)):
        out = tmp_path / f"{number}.duckdb"
        rows = peirce.merge_stores(out, *order)
        assert sum(row.sessions for row in rows) == len(wanted) == 4
        assert digests(out) == wanted
        contents.append(content(out))
    assert all(one == contents[0] for one in contents)
    with Store.open(out, write=False) as opened:
        assert len(opened.pairs.list()) == 1
        assert not opened.find_changes(opened.find_session("last"))
        created = [row["created"] for row in opened.sessions()]
        assert created == sorted(created)


def test_merging_again_changes_nothing(stores: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.duckdb"
    peirce.merge_stores(out, *stores)
    before = content(out)
    rows = peirce.merge_stores(out, *stores)
    assert [row.sessions + row.replaced + row.pair_sets for row in rows] == [0, 0, 0]
    assert [row.present for row in rows] == [1, 2, 2] and content(out) == before


def test_the_copy_that_went_on_is_kept_in_either_order(tmp_path: Path) -> None:
    short, long = tmp_path / "short.duckdb", tmp_path / "long.duckdb"
    events = 0

    def stop(event: Any) -> None:
        nonlocal events
        events += event["type"] == "call"
        if event["type"] == "call" and events == 4:
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C: the running steps are saved

    stopped = peirce.run("list_functions", problems=3, seed=6, observations=4, model="search",
                         max_answers=3, store=short, on_event=stop, concurrency=1)  # fmt: skip
    assert stopped.status == "interrupted"
    shutil.copy(short, long)
    done = peirce.resume("last", store=long)
    assert done.status == "done"
    for number, order in enumerate(((short, long), (long, short))):
        out = tmp_path / f"{number}.duckdb"
        rows = peirce.merge_stores(out, *order)
        assert digests(out) == digests(long)
        assert [row.replaced for row in rows] == [0, 1 - number]
        with Store.open(out, write=False) as opened:
            assert [row["status"] for row in opened.sessions()] == ["done"]


def test_copies_that_went_on_differently_are_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one.duckdb", tmp_path / "other.duckdb"
    session = run(one, 7).session
    shutil.copy(one, other)
    for store, text in ((one, "a"), (other, "b")):
        with Store.open(store, write=True) as opened:
            opened._write(_answered_differently(session, text))
    out = tmp_path / "out.duckdb"
    with pytest.raises(StoreError, match=f"the session {session} of .*other.duckdb"):
        peirce.merge_stores(out, one, other)
    assert list(digests(out)) == [session]  # the first store was merged


def _answered_differently(session: str, text: str) -> Any:
    from peirce.store.change_log import Change

    row = (session, "gen7-0", f"step/9/{text}", "model", "0", "{}", f'"{text}"', "{}",
           0, 0, 0, 0, 0.0, 0, 0.0, "")  # fmt: skip
    return Change({"call": [row]})


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE verdict SET verdict = 'malformed'",
        "UPDATE session SET settings = replace(settings, 'list_functions', 'acre')",
        "UPDATE problem SET digest = 'x' || digest",
    ],
)
def test_a_copy_that_was_changed_is_refused_in_either_order(
    stores: list[Path], tmp_path: Path, change: str
) -> None:
    changed = tmp_path / "changed.duckdb"
    shutil.copy(stores[0], changed)
    with duckdb.connect(changed) as opened:
        opened.execute(change)
    for order in ((stores[0], changed), (changed, stores[0])):
        with pytest.raises(StoreError, match="one was changed"):
            peirce.merge_stores(tmp_path / f"out-{order[0].stem}.duckdb", *order)


def test_a_store_that_is_being_written_is_refused_with_its_process(
    stores: list[Path], tmp_path: Path
) -> None:
    script = (
        "import sys, time\nfrom peirce.store import Store\n"
        "with Store.open(sys.argv[1], write=True):\n    print('open', flush=True)\n"
        "    time.sleep(60)\n"
    )
    held = tmp_path / "held.duckdb"
    shutil.copy(stores[0], held)
    owner = subprocess.Popen(
        [sys.executable, "-c", script, held], stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None and owner.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match=f"process {owner.pid} is writing to"):
            peirce.merge_stores(tmp_path / "out.duckdb", held)
    finally:
        owner.kill()
        owner.communicate()


def test_a_merge_that_is_killed_is_completed_by_another(stores: list[Path], tmp_path: Path) -> None:
    """The merge is killed when it has written more and more."""
    out = tmp_path / "out.duckdb"
    command = [sys.executable, "-m", "peirce", "merge-stores", out, *stores]
    for wait_s in (0.6, 0.9, 1.2):
        merging = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            merging.wait(wait_s)
        except subprocess.TimeoutExpired:
            merging.send_signal(signal.SIGKILL)
            merging.wait()
    peirce.merge_stores(out, *stores)
    whole = tmp_path / "whole.duckdb"
    peirce.merge_stores(whole, *stores)
    assert content(out) == content(whole)


def test_wrong_arguments_are_one_sentence(stores: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no store is named"):
        peirce.merge_stores(tmp_path / "out.duckdb")
    with pytest.raises(UsageError, match="both the target and a store to merge"):
        peirce.merge_stores(stores[0], stores[1], stores[0])
    with pytest.raises(StoreError, match="there is no store at"):
        peirce.merge_stores(tmp_path / "out.duckdb", stores[0], tmp_path / "none.duckdb")
    assert not (tmp_path / "out.duckdb").exists()
