"""The README is true where a test can say so: its tree has the rooms and files that are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text("utf-8")


def named() -> list[str]:
    """The paths that the tree at the end of the README names."""
    tree = README.partition("## Files")[2]
    found: list[str] = []
    rooms: list[str] = []
    for inside, name in re.findall(r"^ {4}( *)([\w.]+/?) +\S", tree, re.M):
        del rooms[len(inside) // 2 :]
        found.append("".join(rooms) + name)
        if name.endswith("/"):
            rooms.append(name)
    return found


@pytest.mark.parametrize("path", named())
def test_what_the_readme_names_is_there(path: str) -> None:
    assert (REPOSITORY / path).is_dir() is path.endswith("/")
    assert (REPOSITORY / path).exists()


def test_the_readme_names_every_room_and_every_file_at_the_top() -> None:
    done = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("NO GIT HERE: what belongs to the repository is not known")
    tracked = [line for line in done.stdout.splitlines() if not line.startswith(".")]
    there = {path.split("/")[0] + ("/" if "/" in path else "") for path in tracked}
    assert there - {"README.md"} == {
        path for path in named() if path.count("/") - path.endswith("/") < 1
    }


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 1_600
