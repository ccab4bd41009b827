"""The README is true where a test can say so: its Python runs, its files and options are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text("utf-8")


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize(("number", "begins"), [(0, "done"), (1, "('exhausted', ")])
def test_a_python_example_runs_as_a_script(tmp_path, number, begins):
    (tmp_path / "example.py").write_text(EXAMPLES[number])
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.startswith(begins)


def test_the_first_python_example_is_short():
    assert len([line for line in EXAMPLES[0].splitlines() if line.strip()]) <= 10


def test_the_drawing_of_the_graph_is_the_graph():
    from peirce.graphs import abduce

    (drawn,) = re.findall(r"```mermaid\n(.*?)```", README, re.S)
    assert drawn.strip() == abduce.METHOD.graph.get_graph().draw_mermaid(with_styles=False).strip()


def named_files() -> list[str]:
    """The paths that the tree at the end of the README names."""
    tree = README.partition("## Files")[2]
    found: list[str] = []
    rooms: list[str] = []
    for line in tree.splitlines():
        entry = re.match(r"    ( *)((?:[\w.]+, )*[\w.]+/?) ", line + " ")
        if entry is None:
            continue
        inside, names = entry.groups()
        del rooms[len(inside) // 2 :]
        found += ["".join(rooms) + name for name in names.split(", ")]
        if names.endswith("/"):
            rooms.append(names)
    return found


@pytest.mark.parametrize("path", named_files())
def test_a_file_that_the_readme_names_is_there(path):
    assert (REPOSITORY / path).exists()


def test_the_readme_names_every_module():
    skipped = {"__init__.py", "__main__.py"}
    rooms = [p for p in REPOSITORY.iterdir() if (p / "__init__.py").is_file() and p.name != "tests"]
    there = {p.name for p in REPOSITORY.glob("*.py")} | {
        f"{room.name}/{p.name}" for room in rooms for p in room.glob("*.py")
    }
    assert {path for path in there if Path(path).name not in skipped} <= set(named_files())
