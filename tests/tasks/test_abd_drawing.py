"""`peirce tasks show abd` draws theory and worlds, within 100 columns, and nothing that is hidden.

Internals: single problems are built from worlds and drawn without a file.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import peirce
import pytest
from abd_records import NEIGHBOURS, holdout, instance, save_holdouts, save_instances, world
from peirce import cli
from peirce.tasks import DataWarning
from peirce.tasks.logic.abd import TASK
from peirce.tasks.logic.problems import build_problem as made
from peirce.tests.counts import drawn
from peirce.tools.logic import PUBLISHED_THEORIES, World, parse_theory

SHOWN = """\
abd, problem PARTIAL: 1 shown and 1 hidden observations, sample space of 48 inputs
  theory  T1 / TH2
  axiom   ∀x (∃y (R(x, y) ∧ P(y)) ∧ ¬Ab(x) → Q(x))
  rules   may hold P, R, S and =; not Ab, Q
  regime  partial: some choice of the unknown atoms has to be repaired; the cheapest counts

  world W0: 3 elements, 3 atoms unknown
                R to                                      S to
    a0  P?  .   a0? a1                                    a1?
    a1  P   .
    a2  .   Q   a1

  not drawn: 1 holdouts and a reference rule
"""


def show(capsys: Any, *arguments: str) -> str:
    with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
        warnings.simplefilter("ignore", DataWarning)
        cli.main(["tasks", "show", "abd", *arguments])
    assert ended.value.code == 0
    return str(capsys.readouterr().out)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    unknown = {"P": ["a0"], "R": ["(a0, a0)"], "S": [["a0", "a1"]]}
    save_instances(tmp_path, [instance("PARTIAL", "ABD_PARTIAL", "TH2", world("W0", unknown))])
    save_holdouts(tmp_path, [holdout("PARTIAL", 0)])
    return tmp_path


def test_a_problem_is_drawn_world_by_world(folder: Path, capsys: Any) -> None:
    assert show(capsys, "PARTIAL", "--data", str(folder)) == SHOWN


def test_what_is_hidden_is_not_drawn_and_json_has_it(folder: Path, capsys: Any) -> None:
    assert NEIGHBOURS not in show(capsys, "--data", str(folder)) and "H9" not in SHOWN
    (row,) = json.loads(show(capsys, "--data", str(folder), "--json"))
    assert row["secret"]["reference"] == NEIGHBOURS and row["hidden"][0][0]["id"] == "H9"
    assert row["drawn"].splitlines()[0] == "theory  T1 / TH2"


def test_other_tasks_are_shown_as_before() -> None:
    assert all("drawn" not in row for row in peirce.tasks_show("acre", problems=1))


def dense(size: int, marks: int = 1) -> World:
    pairs = tuple((one, other) for one in range(size) for other in range(size))
    names = tuple(f"a{k}" for k in range(size))
    ones = tuple((k,) for k in range(size))
    true = {"P": ones, "Q": ones, "R": pairs[::marks], "S": pairs[::marks]}
    unknown = {name: tuple(p for p in pairs if p not in true[name]) for name in ("R", "S")}
    return World("W0", names, true, {name: some for name, some in unknown.items() if some})


@pytest.mark.parametrize("theory", PUBLISHED_THEORIES)
@pytest.mark.parametrize("marks", [1, 2, 144])
def test_the_fullest_worlds_of_12_elements_fit_100_columns(theory: str, marks: int) -> None:
    text = TASK.draw_problem(
        made("p", PUBLISHED_THEORIES[theory], "skeptical", [dense(12, marks)], [], {})
    )
    lines = text.splitlines()
    assert max(map(len, lines)) + 2 <= 100
    drawn = " ".join(lines)
    assert drawn.count("a11") >= 25  # in each relation after each element, and once as one
    assert drawn.count("?") == {1: 0, 2: 144, 144: 286}[marks]


def test_a_theory_of_ones_own_is_drawn_with_all_its_predicates() -> None:
    theory = parse_theory(
        ("own",),
        ["(forall x (implies (and (Bird x) (not (Ab x))) (Night)))"] * 2,
        {"Bird": 1, "Night": 0, "Day": 0, "Dawn": 0, "Between": 3},
        ["Between", "Day"],
        "",
    )
    names = ("ann", "b" * 40, "c\x1b[31m")
    true = {"Bird": ((0,),), "Night": ((),), "Day": (), "Dawn": (), "Between": ((0, 1, 2),)}
    problem = made("p", theory, "partial", [World("W0", names, true, {"Dawn": ((),)})], [], {})
    text = TASK.draw_problem(problem)
    assert text.count("axiom") == 2 and "  Dawn?, not Day, Night\n" in text
    assert "(" + "b" * 23 + "…,c\\x1b[31m)" in text and max(map(len, text.splitlines())) <= 98


def test_text_of_a_file_is_shown_and_not_obeyed(tmp_path: Path, capsys: Any) -> None:
    row = {
        "id": "p",
        "regime": "full",
        "theory": "T6",
        "worlds": [{"id": "[red]W", "domain": ["a\x1b[31m", "\n"], "true": {"P": ["\n"]}}],
    }
    (tmp_path / "abd.jsonl").write_text(json.dumps(row))
    said = show(capsys, "--data", str(tmp_path))
    assert (
        "[red]W" in said and "\x1b" not in said and len(said.splitlines()) == 10 and "\\n" in said
    )


@pytest.mark.counted
def test_published_problems_fit_100_columns(shared_data: Path) -> None:
    problems = TASK.load(str(shared_data / "abd"), None, 0)
    for problem in problems[:: drawn(3, soak=1)]:
        lines = TASK.draw_problem(problem).splitlines()
        assert max(map(len, lines)) <= 98
        assert sum(line.startswith("world ") for line in lines) == len(problem.shown)
        assert str(problem.secret["reference"]) not in " ".join(lines)
