"""Public names are words of the field, and public things say what they are.

A public name is one without a leading underscore, of a module, class, function, method or parameter of
the package. `WORDS` could mean anything, so none of them is a public name by itself, and no class or
function has one, nested and private ones included.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import peirce
import pytest

PACKAGE = Path(peirce.__file__).parent
BESIDE = {"tests", "bench", "docs", "examples", "build"}
MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not (parts := path.relative_to(PACKAGE).parts)[0].startswith(".") and parts[0] not in BESIDE
)
WORDS = frozenset(
    {
        *("apart", "asked", "beside", "came", "given", "made", "more", "of", "once", "rest"),
        *("said", "seen", "side_by_side", "some", "told", "what", "whole", "without"),
    }
)


def named(tree: ast.Module) -> Iterator[tuple[str, str, ast.AST]]:
    """(qualified name, last part, node) of each public class, function, method and parameter; not of
    functions inside functions."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, str, ast.AST]]:
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.If):
                yield from walk(one, prefix)
            if not isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if one.name.startswith("_") or "overload" in map(ast.unparse, one.decorator_list):
                continue
            name = f"{prefix}{one.name}"
            yield name, one.name, one
            if isinstance(one, ast.ClassDef):
                yield from walk(one, f"{name}.")
            else:
                arguments = one.args
                starred = filter(None, (arguments.vararg, arguments.kwarg))
                listed = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                for each in (*listed, *starred):
                    yield f"{name}({each.arg})", each.arg, each

    return walk(tree, "")


def words_as_names(path: Path) -> set[str]:
    where = path.relative_to(PACKAGE).as_posix()
    found = {where} if path.stem in WORDS else set()
    tree = ast.parse(path.read_text("utf-8"))
    return found | {f"{where}: {name}" for name, last, _ in named(tree) if last in WORDS}


def words_as_definitions(path: Path) -> set[str]:
    """Every class and function, nested and private ones too, whose name is a word but for underscores
    around it and capitals."""
    where = path.relative_to(PACKAGE).as_posix()
    return {
        f"{where}:{node.lineno}: {node.name}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.strip("_").lower() in WORDS
    }


def test_no_public_name_is_a_word_that_could_mean_anything() -> None:
    assert not sorted({one for path in MODULES for one in words_as_names(path)})


def test_no_class_or_function_is_named_by_such_a_word() -> None:
    paths = [*MODULES, *PACKAGE.glob("bench/**/*.py"), *PACKAGE.glob("examples/**/*.py")]
    assert not sorted({one for path in paths for one in words_as_definitions(path)})


def test_a_word_as_a_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "def told(some, *made): ...\nclass A:\n    def of(self): ...\n    def _said(self): ...\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert words_as_names(path) == {
        "module.py: told", "module.py: told(some)", "module.py: told(made)", "module.py: A.of"
    }  # fmt: skip


def test_a_nested_or_private_word_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "def f():\n    def of(): ...\nclass _Seen:\n    def _said(self): ...\n    def _say(self): ...\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert words_as_definitions(path) == {
        "module.py:2: of", "module.py:3: _Seen", "module.py:4: _said"
    }  # fmt: skip


def undocumented(path: Path) -> Iterator[str]:
    """Modules, public classes, functions and methods without a docstring whose first line is a sentence.
    A method that a Protocol of ours declares is described there."""
    where = path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(path.read_text("utf-8"))
    nodes = [("", tree), *((name, node) for name, _, node in named(tree))]
    for name, node in nodes:
        if isinstance(node, ast.arg):
            continue
        text = ast.get_docstring(node) or ""  # type: ignore[arg-type]
        first = text.partition("\n\n")[0].strip()
        if not first.endswith((".", "!", "?", ":")) or len(first.split()) < 2:
            yield f"{where}: {name}"


def test_every_public_thing_has_a_docstring_that_begins_with_a_sentence() -> None:
    found = sorted(one for path in MODULES for one in undocumented(path))
    assert not found, "\n".join(found)
