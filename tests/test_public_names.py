"""The public names of the package: `dir(peirce)` lists them and nothing else, and type checkers see the
same names with their real signatures."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import peirce
import pytest

SOURCE = ast.parse(Path(peirce.__file__).read_text("utf-8"))


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert dir(peirce) == sorted(peirce.__all__)
    assert not [name for name in dir(peirce) if name.startswith("_")]


@pytest.mark.parametrize("name", peirce.__all__)
def test_a_public_name_is_there_with_words_of_its_own(name: str) -> None:
    assert getattr(peirce, name).__doc__


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'peirce' has no attribute 'rnu'"):
        peirce.rnu  # noqa: B018


def test_type_checkers_import_the_names_from_where_they_are_found_at_run_time() -> None:
    (block,) = (
        node
        for node in SOURCE.body
        if isinstance(node, ast.If) and isinstance(node.body[0], ast.ImportFrom)
    )
    imported = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == peirce._MODULES and set(imported) == set(peirce.__all__)


def test_importing_the_package_imports_none_of_its_rooms() -> None:
    code = "import sys, peirce; print(sorted(m for m in sys.modules if m.startswith('peirce.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
