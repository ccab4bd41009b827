"""What a built distribution would hold: every room, and nothing that is none."""

from __future__ import annotations

import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
NOT_SHIPPED = ("tests", "bench", "examples", "docs")


def test_pyproject_lists_every_package_and_no_other():
    listed = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]
    there = {
        ".".join(("peirce", *place.parent.relative_to(REPOSITORY).parts))
        for place in REPOSITORY.rglob("__init__.py")
        if place.parent.relative_to(REPOSITORY).parts[:1] not in {(one,) for one in NOT_SHIPPED}
        and not any(
            part.startswith(".") or part == "build" for part in place.relative_to(REPOSITORY).parts
        )
    }
    assert there == set(listed["packages"])
