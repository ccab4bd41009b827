"""Stores are merged once, in any order, whichever process dies meanwhile.

Internals: a row is written that no run would write, to make two copies differ.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import peirce
import pytest
from peirce.records import StoreError, UsageError
from peirce.store import Store
from peirce.tests.cli.forked_command import receive_exit_code, request_command, server

TAIL, HEAD = ("def f(x):\n    return x[1:]", "def f(x):\n    return x[:1]")
ANSWERS = [
    repr(("a rule", TAIL)),
    "no idea",
    repr(("another", HEAD)),
    repr(("again", TAIL + "[:]")),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., peirce.Session]:
    """run(store, seed, **settings) -> a session of scripted answers on the first of five problems."""
    folder = tmp_path_factory.mktemp("files")
    pairs = [
        {"problem": f"p{n}", "input": [n, m], "output": [m], "split": "shown" if m else "hidden"}
        for n in range(5)
        for m in range(3)
    ]
    data, script = folder / "pairs.jsonl", folder / "script.json"
    data.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    script.write_text(json.dumps({"*": ANSWERS}))

    def session(store: Path, seed: int, problems: int = 2, **settings: Any) -> peirce.Session:
        given = {"data": data, "model": f"scripted:{script}", "workers": 1, **settings}
        return peirce.run("examples", store=store, seed=seed, problems=problems, **given)

    return session


@pytest.fixture(scope="module")
def stores(
    run: Callable[..., peirce.Session], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """Three stores: two share a session, one has pairs, too."""
    folder = tmp_path_factory.mktemp("stores")
    first, second, third = (folder / f"{name}.duckdb" for name in ("first", "second's", "third"))
    run(first, 1)
    shutil.copy(first, second)
    run(second, 2)
    formula = folder / "formula.json"
    formula.write_text(json.dumps({"*": ['{"formula": "(P x)", "description": ""}']}))
    peirce.run("abd", problems=1, seed=3, model=f"scripted:{formula}", workers=1, store=third)
    run(third, 2, 4)
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


def test_the_copy_that_went_on_is_kept_in_either_order(
    run: Callable[..., peirce.Session], tmp_path: Path
) -> None:
    short, long = tmp_path / "short.duckdb", tmp_path / "long.duckdb"
    events = 0

    def stop(event: Any) -> None:
        nonlocal events
        events += event["type"] == "call"
        if event["type"] == "call" and events == 4:
            os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C: the running steps are saved

    stopped = run(short, 6, 3, on_event=stop, concurrency=1)
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


def test_copies_that_went_on_differently_are_refused(
    run: Callable[..., peirce.Session], tmp_path: Path
) -> None:
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

    row = (session, "p0", f"step/9/{text}", "model", "0", "{}", f'"{text}"', "{}",
           0, 0, 0, 0, 0.0, 0, 0.0, "")  # fmt: skip
    return Change({"call": [row]})


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE verdict SET verdict = 'malformed'",
        "UPDATE session SET settings = replace(settings, 'examples', 'acre')",
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
    killed = []
    for changes in (1, 2, 4):
        with socket.socket(socket.AF_UNIX) as link, open(os.devnull, "r+b") as nothing:
            words = ["peirce", "merge-stores", str(out), *map(str, stores)]
            merging = request_command(link, server(), words, [nothing.fileno()] * 3)
            link.setblocking(False)  # its end is told there
            sizes = {written(out)}
            while len(sizes) <= changes and not select.select([link], [], [], 0.001)[0]:
                sizes.add(written(out))
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.kill(merging, signal.SIGKILL)
            link.settimeout(60)
            killed.append(receive_exit_code(link) == -signal.SIGKILL)
    assert killed[0]
    peirce.merge_stores(out, *stores)
    whole = tmp_path / "whole.duckdb"
    peirce.merge_stores(whole, *stores)
    assert content(out) == content(whole)


def written(store: Path) -> int:
    """Bytes of a store and of what lies beside it."""
    total = 0
    for one in store.parent.glob(f"{store.name}*"):
        with contextlib.suppress(FileNotFoundError):
            total += one.stat().st_size
    return total


def test_wrong_arguments_are_one_sentence(stores: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no store is named"):
        peirce.merge_stores(tmp_path / "out.duckdb")
    with pytest.raises(UsageError, match="both the target and a store to merge"):
        peirce.merge_stores(stores[0], stores[1], stores[0])
    with pytest.raises(StoreError, match="there is no store at"):
        peirce.merge_stores(tmp_path / "out.duckdb", stores[0], tmp_path / "none.duckdb")
    assert not (tmp_path / "out.duckdb").exists()
