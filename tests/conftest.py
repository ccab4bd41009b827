"""Fixtures every room uses. `shared_data` is where the public benchmarks lie; tests that need
them are skipped with a reason where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    path = Path(os.environ.get("PEIRCE_SHARED", REPOSITORY.parent / "shared")) / "data"
    if not path.is_dir():
        pytest.skip(f"PUBLIC BENCHMARK DATA ABSENT: no folder {path} (set PEIRCE_SHARED)")
    return path
