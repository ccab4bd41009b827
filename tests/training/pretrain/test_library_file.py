"""Libraries in the cache folder: searched once, also by two processes at one time.

Internals: two processes search for one file at the same time, with a search that is counted.
"""

from __future__ import annotations

import fcntl
import threading
import time
from pathlib import Path

import pytest
from peirce.training.pretrain import Program, library

FOUND = [Program("def f(x):\n    return x", "Return x.", 1.0)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "peirce"


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    monkeypatch.setattr(library, "search_list_programs", lambda *told: calls.append(1) or FOUND)
    return calls


def lock_of(cache: Path) -> Path:
    (path,) = cache.glob("pretrain-*.lock")
    return path


def test_a_library_is_searched_once_and_again_where_its_file_is_damaged(cache, searched) -> None:
    for _ in range(2):
        assert library.load_programs("list_functions", 0, 6) == FOUND
    assert len(searched) == 1
    (path,) = cache.glob("pretrain-*.json")
    path.write_text(path.read_text() + " ")
    assert library.load_programs("list_functions", 0, 6) == FOUND
    assert len(searched) == 2


def test_what_another_process_searches_is_left_to_it_or_waited_for(cache, searched) -> None:
    library.load_programs("list_functions", 0, 6)
    (path,) = cache.glob("pretrain-*.json")
    text = path.read_text()
    path.unlink()
    with lock_of(cache).open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert library.load_programs("list_functions", 0, 6, wait=False) is None

        def done() -> None:
            time.sleep(0.2)
            path.write_text(text)
            fcntl.flock(other, fcntl.LOCK_UN)

        thread = threading.Thread(target=done)
        thread.start()
        assert library.load_programs("list_functions", 0, 6) == FOUND
        thread.join()
    assert len(searched) == 1


def test_a_folder_that_cannot_be_written_is_no_failure(cache, searched) -> None:
    cache.write_text("a file where the folder should be")
    for _ in range(2):
        assert library.load_programs("list_functions", 0, 6) == FOUND
        assert library.load_programs("list_functions", 0, 6, wait=False) == FOUND
    assert len(searched) == 4
