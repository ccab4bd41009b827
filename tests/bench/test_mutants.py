"""bench/mutants.py: which changes a file offers, how a mutant is found again, and who notices it.

Internals: the text of a made-up module, which mutants are made of, imports one.
"""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

SOURCE = b'''"""Not this: 1 + 1."""

LIMIT = 3


class Bank:
    def count(self, rows, least: int = 2) -> int:
        """And not this: a < b."""
        if not rows and least > 1:  # nothing to count
            return 0
        self.note("counted")
        text = f"{len(rows) + 1}"
        total = sum(row for row in rows if row is not None) + len(
            text  # + no sum
        )
        return total


def unused(a, b):
    return a - b
'''


def test_each_operator_changes_one_place_within_functions() -> None:
    from mutations import mutants_of

    found = [(one.function, one.operator, one.becomes) for one, _ in mutants_of("m.py", SOURCE)]
    assert found == [
        ("Bank.count", "condition", "if not (not rows and least > 1):"),
        ("Bank.count", "and-or", "if not rows or least > 1:"),
        ("Bank.count", "comparison", "if not rows and least >= 1:"),
        ("Bank.count", "number", "if not rows and least > 2:"),
        ("Bank.count", "return", "return None"),
        ("Bank.count", "number", "return 1"),
        ("Bank.count", "call", "pass"),
        ("Bank.count", "comparison", "total = sum(row for row in rows if row is None) + len("),
        ("Bank.count", "sum", "total = sum(row for row in rows if row is not None) - len("),
        ("Bank.count", "return", "return None"),
        ("unused", "return", "return None"),
        ("unused", "sum", "return a + b"),
    ]


def test_every_change_is_another_program_that_compiles() -> None:
    from mutations import mutants_of

    programs = [ast.dump(ast.parse(edit.apply(SOURCE))) for _, edit in mutants_of("m.py", SOURCE)]
    assert len({*programs, ast.dump(ast.parse(SOURCE))}) == len(programs) + 1


def test_a_mutant_is_found_after_other_lines_changed_and_after_its_file_moved(
    tmp_path: Path,
) -> None:
    from mutants import Package
    from mutations import mutants_of

    ((mutant, _),) = [
        one for one in mutants_of("store/bank.py", SOURCE) if one[0].operator == "call"
    ]
    new = SOURCE.replace(b"LIMIT = 3", b"LIMIT = 3\nMORE = 4").replace(b"# nothing", b"# none")
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "rows.py").write_bytes(new)
    file, edit = Package(tmp_path).find(mutant)
    assert file == "shelf/rows.py" and b"        pass\n" in edit.apply(new)
    (tmp_path / "shelf" / "rows.py").write_bytes(new.replace(b'note("counted")', b'note("all")'))
    assert Package(tmp_path).find(mutant) is None


def test_what_the_tests_notice_is_killed_and_what_they_do_not_survives(
    tmp_path: Path, make_python, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loading all plugins takes longer than the tests.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "_hypothesis_pytestplugin")
    from mutants import Room, RoomResult, check_room
    from mutations import mutants_of

    tree = tmp_path / "tree"
    make_python(tree)
    (tree / "tests" / "store").mkdir(parents=True)
    (tree / "store").mkdir()
    for name in ("__init__.py", "store/__init__.py"):
        (tree / name).touch()
    (tree / "store" / "bank.py").write_bytes(SOURCE)
    (tree / ".gitignore").write_text(".venv\n")
    (tree / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\naddopts = "--import-mode=importlib"\nmarkers = ["soak: long"]\n'
    )
    (tree / "tests" / "store" / "test_bank.py").write_text(
        "from peirce.store.bank import Bank\n\n"
        "def test_no_rows_are_none():\n    assert Bank().count([]) == 0\n"
    )
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    every = [mutant for mutant, _ in mutants_of("store/bank.py", SOURCE)]
    some = [one for one in every if one.becomes == "return 1" or one.operator == "sum"]
    room = Room(("store",), ("tests/store",))
    result = RoomResult()
    check_room(tree, room, some, 1, tmp_path / "copies", result)
    states = [(one.mutant.function, one.state, one.by) for one in result.outcomes]
    assert states == [
        ("Bank.count", "killed", "tests/store/test_bank.py::test_no_rows_are_none"),
        ("Bank.count", "survived", ""),
        ("unused", "survived", ""),
    ]
    assert result.score == 1 / 3 and (tree / "store" / "bank.py").read_bytes() == SOURCE


def test_a_stored_run_comes_back_whole(tmp_path: Path) -> None:
    from mutants import Outcome, RoomResult, read_fixed, store_results, stored_results

    file, mutant = tmp_path / "found.json", read_fixed()["store"][0]
    results = {"store": RoomResult([Outcome(mutant, "killed", "a test", "f.py", 2.0)], 9.0, "abc")}
    assert stored_results(file) == {}
    store_results(file, "1a2b", results)
    assert stored_results(file) == results


def test_a_room_has_another_digest_once_a_source_or_a_test_changes(tmp_path: Path) -> None:
    from mutants import Room, room_digest

    room, digests = Room(("store",), ("tests/store",)), set()
    for name, text in (("store/a.py", "1"), ("tests/store/t.py", "2"), ("tests/store/t.py", "3")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        digests.add(room_digest(tmp_path, room))
    (tmp_path / "other.py").touch()
    assert len(digests) == 3 and room_digest(tmp_path, room) in digests


def test_the_fixed_mutants_are_21_of_each_room_and_three_of_each_operator() -> None:
    from mutants import ROOMS, read_fixed
    from mutations import OPERATORS

    fixed = read_fixed()
    assert list(fixed) == list(ROOMS)
    for some in fixed.values():
        assert len(set(some)) == 21
        assert {
            operator: sum(one.operator == operator for one in some) for operator in OPERATORS
        } == (dict.fromkeys(OPERATORS, 3))
