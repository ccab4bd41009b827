"""The file of a model's calls: what was cut off goes, and nobody else's file is touched.

Internals: the file is written and cut off between two answers, where no command stops.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from peirce.commands.data.calls_file import CallsFile, read_calls
from peirce.records import DataError


def test_another_file_without_a_last_line_end_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("all that I know, on one line")
    with pytest.raises(DataError, match="nothing was changed"):
        read_calls(notes)
    assert notes.read_text() == "all that I know, on one line"


def test_a_call_that_was_cut_off_anywhere_is_taken_away(tmp_path: Path) -> None:
    calls = CallsFile(tmp_path / "calls.jsonl")
    for key in ("a", "b"):
        calls.add({"key": key, "text": "yes", "finish": "stop", "usage": {}})
    whole = calls.path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first + 1, len(whole)):
        calls.path.write_bytes(whole[:end])
        assert list(read_calls(calls.path).rows) == ["a"]
        assert calls.path.read_bytes() == whole[:first]
