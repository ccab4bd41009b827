"""docs/reference/architecture.md draws the folders and the imports as they are, and names files that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from draw_architecture import PAGE, PART, reduced, rewritten  # noqa: E402


def test_the_tree_and_the_graph_are_those_of_the_code() -> None:
    page = PAGE.read_text("utf-8")
    assert {found[2] for found in PART.finditer(page)} == {"tree", "imports"}
    assert page == rewritten(page), "python docs/draw_architecture.py writes them anew"


def test_every_folder_of_the_package_has_a_phrase() -> None:
    tree = next(found[3] for found in PART.finditer(PAGE.read_text("utf-8")) if found[2] == "tree")
    assert all(re.match(r" *[\w]+/ +\w|  +\w", line) for line in tree.splitlines())
    assert len(re.findall(r"^ *\w+/", tree, re.M)) > 30


def test_an_import_that_a_longer_way_says_is_left_out() -> None:
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {
        "a": {"b"},
        "b": {"c"},
        "c": set(),
    }


def test_files_that_decide_exist() -> None:
    table = PAGE.read_text("utf-8").partition("## Where is it decided?")[2]
    named = re.findall(r"`([\w/]+\.py)`", table)
    assert len(named) >= 10 and all((ROOT / name).is_file() for name in named)
