"""What took long to read is kept for the next time; a cache that fails is no failure.

Internals: the cache of parsed records is damaged between two reads.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from peirce.tasks.io import yaml_records
from peirce.tasks.io.yaml_records import Record, find_cache_folder, read_cached_records

TEXT = "- " + "word " * 50_000
RECORDS = [Record(1, {"é": [1, None, 2.5]}), Record(7, "line\nline\u2028\r")]


class Reading:
    """Counts how often the text was read."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> list[Record]:
        self.times += 1
        return list(RECORDS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "peirce"


def test_a_text_is_read_once(folder: Path) -> None:
    reading = Reading()
    assert [read_cached_records(TEXT, reading) for _ in range(3)] == [RECORDS] * 3
    assert reading.times == 1 and len(list(folder.iterdir())) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    read_cached_records(TEXT + "more", reading)
    assert reading.times == 2 and len(list(folder.iterdir())) == 2


def test_a_short_text_is_not_kept(folder: Path) -> None:
    assert read_cached_records("- 1", Reading()) == RECORDS
    assert not folder.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:-10],
        lambda whole: whole.replace(b"2.5", b"3.5"),
        lambda whole: b"\xff" + whole,
        lambda whole: b"[1, 2]",
        lambda whole: whole + whole,
        lambda whole: b"[" * 100_000,
    ],
)
def test_a_damaged_cache_is_made_anew(folder: Path, damage) -> None:  # type: ignore[no-untyped-def]
    reading = Reading()
    read_cached_records(TEXT, reading)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert read_cached_records(TEXT, reading) == RECORDS and reading.times == 2
    assert kept.read_bytes() == whole


def test_a_folder_under_the_name_of_the_kept_file_is_left_alone(folder: Path) -> None:
    read_cached_records(TEXT, Reading())
    (kept,) = folder.iterdir()
    kept.unlink()
    kept.mkdir()
    assert read_cached_records(TEXT, Reading()) == RECORDS and kept.is_dir()


def test_a_folder_that_cannot_be_written_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    for place in (tmp_path / "file", tmp_path / "file" / "deeper"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(place))
        assert read_cached_records(TEXT, Reading()) == RECORDS

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(yaml_records, "write_lines", full)
    assert read_cached_records(TEXT, Reading()) == RECORDS


def test_the_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_cache_folder() == tmp_path / "peirce"
    monkeypatch.setenv("HOME", str(tmp_path))
    for relative in ("", "cache"):  # of a relative path the specification makes nothing
        monkeypatch.setenv("XDG_CACHE_HOME", relative)
        assert find_cache_folder() == tmp_path / ".cache" / "peirce"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert find_cache_folder() is None
