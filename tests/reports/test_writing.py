"""Files that are written together: all of them or none.

Internals: a group of files is broken off at each point of its writing.
"""

from __future__ import annotations

import os

import pytest
from peirce.records import UsageError
from peirce.reports.files import writing


def test_nothing_is_written_where_one_path_is_refused(tmp_path):
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(UsageError, match=r"b\.csv: this is a folder"):
        writing.write_files({tmp_path / "a.csv": "a", tmp_path / "b.csv": "b"})
    assert [path.name for path in tmp_path.iterdir()] == ["b.csv"]


def test_a_failure_while_writing_leaves_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("before\n")
    synced = []

    def full(descriptor):
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        writing.write_files({tmp_path / "a.csv": "after", tmp_path / "b.png": b"b"})
    assert caught.value.filename == str(tmp_path / "b.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "before\n"


def test_text_ends_with_one_line_break_and_bytes_stand_as_they_are(tmp_path):
    files = {tmp_path / "new" / "a.md": "a\n\n", tmp_path / "new" / "b.png": b"b"}
    assert writing.write_files(files) == [str(path) for path in files]
    assert [path.read_bytes() for path in files] == [b"a\n", b"b"]


def test_a_file_or_a_dead_link_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        with pytest.raises(UsageError, match=name):
            writing.check_folder(tmp_path / name / "below")
    writing.check_folder(tmp_path / "not" / "yet")


@pytest.mark.skipif(os.geteuid() == 0, reason="ROOT may write to every folder")
def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="this folder is not writable; choose another folder"):
        writing.check_paths([tmp_path / "a.csv"])
