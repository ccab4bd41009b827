"""long_tests.txt names tests that exist, and each claim that it leaves out is kept by another test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from peirce.tests.long_tests import LongTests, mark_long_tests, read_long_tests

REPOSITORY = Path(__file__).resolve().parents[1]
LONG = read_long_tests()


def defined_tests(file: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions of a file by name."""
    found = ast.walk(ast.parse(file.read_text("utf-8")))
    return {
        one.name: one for one in found if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("name", sorted({*LONG.every, *LONG.soak, *LONG.soak.values()}))
def test_a_test_that_is_named_exists(name: str) -> None:
    file, _, function = name.partition("[")[0].partition("::")
    assert function in defined_tests(REPOSITORY / file)


@pytest.mark.parametrize("name", sorted(LONG.soak))
def test_the_claim_of_a_test_that_is_left_out_is_kept_with_every_change(name: str) -> None:
    kept = LONG.soak[name]
    assert kept != name and kept not in LONG.soak and kept.partition("[")[0] not in LONG.soak
    file, _, function = kept.partition("[")[0].partition("::")
    decorators = defined_tests(REPOSITORY / file)[function].decorator_list
    assert not any(ast.unparse(one) == "pytest.mark.soak" for one in decorators)


class Item:
    """An item of pytest, as far as `mark_long_tests` looks at it."""

    def __init__(self, nodeid: str, *marks: str) -> None:
        self.nodeid, self.marks = nodeid, list(marks)

    def add_marker(self, mark: str) -> None:
        self.marks.append(mark)

    def get_closest_marker(self, mark: str) -> str | None:
        return mark if mark in self.marks else None


def test_the_first_case_and_each_nth_after_it_stay() -> None:
    items = [Item("a::t[0]", "soak"), *(Item(f"a::t[{n}]") for n in range(1, 6)), Item("a::u[0]")]
    mark_long_tests(items, LongTests(every={"a::t": 2}))  # type: ignore[arg-type]
    assert [one.nodeid for one in items if not one.marks] == [
        "a::t[1]", "a::t[3]", "a::t[5]", "a::u[0]",
    ]  # fmt: skip


def test_a_test_or_one_of_its_cases_is_left_out() -> None:
    items = [Item("a::t[0]"), Item("a::t[1]"), Item("a::u"), Item("a::v")]
    mark_long_tests(items, LongTests(soak={"a::t[1]": "a::v", "a::u": "a::v"}))  # type: ignore[arg-type]
    assert [one.nodeid for one in items if not one.marks] == ["a::t[0]", "a::v"]


@pytest.mark.parametrize(
    "line", ["later a::t", "every 1 a::t", "soak a::t", "soak a::t | a::u\nsoak a::t | a::v"]
)
def test_a_line_of_another_form_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "long.txt"
    file.write_text(f"# why\n\n{line}\n")
    with pytest.raises(ValueError, match="a::t"):
        read_long_tests(file)
