"""A package whose parts cannot be used takes nothing else with it, and is named in one sentence.

Commands are forked from a process that has imported Peirce, but no plugin; one is a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from peirce.tests.cli.forked_command import run_command

KINDS = ("tasks", "families", "methods", "metrics", "report_sections", "sandboxes", "models",
         "search_engines")  # fmt: skip
PAIRS = 'input,output\n"[1, 2]","[2, 1]"\n"[3, 4]","[4, 3]"\n"[5, 6, 7]","[7, 6, 5]"\n'

RUN = (
    "run", "examples", "--data", "pairs.csv", "--max-answers", "1", "--workers", "1", "--quiet",
)  # fmt: skip


def install(folder: Path, module: str, names: dict[str, str]) -> dict[str, str]:
    """A distribution `broken` beside the package: the environment in which it is found."""
    (folder / "broken_parts.py").write_text(module)
    info = folder / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    lines = [f"[peirce.{kind}]\n{name} = broken_parts:PART\n" for kind, name in names.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1"}


def peirce(folder: Path, environment: dict[str, str], *words: str) -> tuple[int, str, str]:
    done = run_command(words, cwd=folder, env=environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "module",
    [
        pytest.param("raise OSError('no library')", marks=pytest.mark.soak),
        pytest.param("PART = 3", marks=pytest.mark.soak),
        "raise SystemExit(7)",
    ],
)
def test_broken_parts_leave_the_others_usable(tmp_path: Path, module: str) -> None:
    environment = install(tmp_path, module, dict.fromkeys(KINDS, "zzz"))
    (tmp_path / "pairs.csv").write_text(PAIRS)
    code, out, err = peirce(tmp_path, environment, *RUN)
    assert (code, "Traceback" in err) == (0, False), err
    assert "1 accepted" in out
    for words in (("tasks", "list"), ("list_functions",), ("eval", "gear", "last")):
        code, out, err = peirce(tmp_path, environment, *words)
        assert (code, "Traceback" in err) == (0, False), err
        assert out
    new = [sys.executable, "-m", "peirce", "tasks", "list"]
    same = subprocess.run(new, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (same.returncode, "Traceback" in same.stderr) == (0, False), same.stderr


@pytest.mark.parametrize("kind", ["tasks", "methods", "metrics", "sandboxes", "models"])
def test_a_broken_part_that_is_asked_for_is_one_sentence(tmp_path: Path, kind: str) -> None:
    environment = install(tmp_path, "PART = 3", {kind: "zzz"})
    words = {
        "tasks": ("run", "zzz"),
        "methods": ("run", "list_functions", "--method", "zzz"),
        "metrics": ("eval", "zzz", "last"),
        "sandboxes": ("run", "list_functions", "--problems", "1", "--sandbox", "zzz"),
        "models": ("run", "list_functions", "--problems", "1", "--model", "zzz:x"),
    }[kind]
    code, _, err = peirce(tmp_path, environment, *words)
    assert code and "Traceback" not in err
    if kind != "metrics":  # the store is missing first
        assert f"broken 1.0 provides 'zzz' of peirce.{kind}" in err


def test_a_name_that_is_there_already_is_one_sentence(tmp_path: Path) -> None:
    environment = install(tmp_path, "PART = 3", {"search_engines": "lists", "methods": "refine"})
    (tmp_path / "pairs.csv").write_text(PAIRS)
    code, out, err = peirce(tmp_path, environment, *RUN)
    assert (code, "Traceback" in err) == (0, False), err
    assert "1 accepted" in out
