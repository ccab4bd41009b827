"""The scripts of bench/ as modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    yield BENCH


@pytest.fixture
def make_python(tmp_path: Path):
    """Give a folder a .venv/bin/python that is the Python of these tests."""

    def make(tree: Path) -> Path:
        python = tree / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        return python

    return make
