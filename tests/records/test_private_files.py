"""Files that hold a user's data are private, whole or absent, and are written through no link.

Internals: the functions that all writers of the package share are called by themselves.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from peirce.records import UsageError
from peirce.records.private_files import (
    make_folder,
    make_private,
    open_lines,
    open_lock,
    write_atomically,
    write_folder,
)


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_is_created_is_private_and_what_was_there_keeps_its_mode(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    write_atomically({there / "a" / "b" / "file": b"x"})
    open_lines(there / "lines").close()
    open_lock(there / "lock").close()
    assert mode(there) == 0o755
    assert [mode(there / "a"), mode(there / "a" / "b")] == [0o700, 0o700]
    assert [mode(there / name) for name in ("a/b/file", "lines", "lock")] == [0o600] * 3


def test_a_folder_is_made_private_and_at_once(tmp_path: Path) -> None:
    seen = []

    def write(place: Path) -> str:
        place.mkdir()
        (place / "inner").mkdir()
        (place / "inner" / "file").write_text("x")
        seen.append(mode(place.parent))
        assert not (tmp_path / "out").exists()
        return "done"

    assert write_folder(tmp_path / "out", write) == "done"
    assert seen == [0o700] and [one.name for one in tmp_path.iterdir()] == ["out"]
    assert mode(tmp_path / "out" / "inner") == 0o700
    assert mode(tmp_path / "out" / "inner" / "file") == 0o600
    with pytest.raises(UsageError, match="already exists; choose another path or remove it first"):
        write_folder(tmp_path / "out", lambda place: place.write_text("another"))
    assert (tmp_path / "out" / "inner").is_dir()
    write_folder(tmp_path / "out", lambda place: place.write_text("another"), replace=True)
    assert (tmp_path / "out").read_text() == "another"


@pytest.mark.parametrize("replace", [True, False])
def test_a_folder_does_not_replace_a_link(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "kept").mkdir()
    link = tmp_path / "out"
    link.symlink_to("kept")
    calls: list[Path] = []
    with pytest.raises(UsageError) as caught:
        write_folder(link, calls.append, replace=replace)
    assert str(caught.value) == (
        f"{link} is a symbolic link, which is not replaced; name another place or remove it first"
    )
    assert link.is_symlink() and (tmp_path / "kept").is_dir() and not calls


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new"
        raise OSError(28, "No space left on device")

    (tmp_path / "b").write_text("before")
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically({tmp_path / "a": b"new", tmp_path / "b": parts()})
    assert caught.value.filename == str(tmp_path / "b")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {"b": "before"}


def test_links_of_others_in_predictable_places_are_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("a user's own")
    for name in (f".out.{os.getpid()}.part", ".out.new", "lock"):
        (tmp_path / name).symlink_to(mine)
    write_atomically({tmp_path / "out": b"x"})
    with pytest.raises(OSError):
        open_lock(tmp_path / "lock")
    assert mine.read_text() == "a user's own" and (tmp_path / "out").read_text() == "x"


def test_only_a_file_of_this_user_loses_the_rights_of_others(tmp_path: Path) -> None:
    make_folder(tmp_path / "folder")
    for name in ("file", "target"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o664)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for name in ("file", "link", "folder", "absent"):
        make_private(tmp_path / name)
    assert (mode(tmp_path / "file"), mode(tmp_path / "target")) == (0o600, 0o664)


@pytest.mark.parametrize("through_a_link", [False, True])
def test_a_store_is_never_written_over_and_stays_locked(
    tmp_path: Path, through_a_link: bool
) -> None:
    store = tmp_path / "s.html"
    target = tmp_path / "link" if through_a_link else store
    if through_a_link:
        target.symlink_to(store)
    with duckdb.connect(store) as database:
        database.execute("CREATE TABLE kept AS SELECT 1")
        with pytest.raises(
            UsageError, match="is a store, which is never overwritten; choose another file"
        ):
            write_atomically({tmp_path / "other": b"page", target: b"page"})
        script = "import duckdb, sys; duckdb.connect(sys.argv[1])"
        other = subprocess.run(
            [sys.executable, "-c", script, str(store)], capture_output=True, text=True
        )
        assert "Could not set lock" in other.stderr
    assert not (tmp_path / "other").exists()
    with duckdb.connect(store) as database:
        assert database.execute("FROM kept").fetchall() == [(1,)]
