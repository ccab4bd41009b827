"""The published GPT-4 answers, imported: the rule chosen last in each problem, judged by this
project, is right on exactly the hidden pairs that the publication says. With every change a part of
the problems is imported, in `make soak` all.

The sample space is a small one: what is claimed here does not depend on it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import peirce
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from recorded_part import WHOLE, imports, read_whole, write_part


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("space") / "space.jsonl"
    file.write_text("[]\n[1]\n[3, 1, 2]\n")
    return file


@pytest.fixture(scope="module")
def part(shared_data: Path, space: Path, tmp_path_factory: pytest.TempPathFactory):
    """A session with a part of the problems, and their records."""
    folder = tmp_path_factory.mktemp("part")
    records = write_part(shared_data, folder / "part.json")
    session = peirce.import_recorded(
        folder / "part.json",
        task="list_functions",
        data=shared_data / "gear" / "list_function.jsonl",
        space=space,
        store=folder / "store.duckdb",
    )
    return session, records


def chosen_marks(steps) -> list[float]:
    """Right or wrong on each hidden pair, of the rule that the last turn chose."""
    last = steps[-1]
    rule = last.fields["chosen_rule"]
    every = [one for step in steps for answer in step.answers for one in answer.judged]
    judged = [
        one for one in every if one.hypothesis and one.hypothesis.text.strip() == rule.strip()
    ]
    assert judged, f"no answer of {last.problem} holds the chosen rule"
    return [float(mark is True) for mark in judged[-1].hidden.marks]


def check_accuracies(imported) -> int:
    """Return how many problems were solved, after a look at the accuracies of all chosen rules."""
    session = peirce.load(imported.session, store=imported.store)
    solved = 0
    for problem in session.problems:
        steps = [step for step in session.steps if step.problem == problem.id]
        published = steps[-1].fields["published_test_accs"]
        assert len(published) == 8
        assert chosen_marks(steps) == published, problem.id
        solved += all(published)
    return solved


def test_every_recorded_answer_of_every_round_is_imported(part):
    imported, records = part
    turns = [turn for one in records for turn in one["turns"]]
    assert imported.status == "done" and len(turns) > len(records) > 15
    assert (imported.problems, imported.steps) == (len(records), len(turns))
    assert sum(imported.verdicts.values()) == sum(len(turn["responses"]) for turn in turns)


def test_the_chosen_rules_have_the_published_accuracies(part):
    imported, records = part
    assert 0 < check_accuracies(imported) < len(records)


def test_the_whole_recording_has_the_published_accuracies(shared_data, space, tmp_path):
    imported = peirce.import_recorded(
        shared_data / WHOLE,
        data=shared_data / "gear" / "list_function.jsonl",
        space=space,
        store=tmp_path / "store.duckdb",
    )
    assert (imported.status, imported.problems, imported.steps) == ("done", 125, 221)
    assert sum(imported.verdicts.values()) == 1105
    assert check_accuracies(imported) / 125 == 0.664


def test_14_of_the_answers_import_and_are_malformed_under_the_strict_contract(
    part, shared_data: Path, space: Path, tmp_path: Path
):
    """16 hold an import, two of them in a second block of code, which nobody judges."""
    (scored,) = peirce.evaluate(store=part[0].store)["sessions"]
    assert scored["breaches"] == {"import": 14} and scored["malformed"] == {}
    whole = read_whole(shared_data)
    few = [one for one in whole["problems"] if imports(one)]
    (tmp_path / "few.json").write_text(json.dumps(whole | {"problems": few}))
    strict = peirce.import_recorded(
        tmp_path / "few.json",
        task="list_functions",
        data=str(shared_data / "gear" / "list_function.jsonl"),
        space=space,
        store=str(tmp_path / "strict.duckdb"),
        strict_contract=True,
    )
    assert strict.problems == len(few) < 20
    assert strict.malformed == {"breach_import": 14} and strict.breaches == {}


def test_an_answer_that_forgot_its_import_is_judged_and_counted(
    shared_data: Path, space: Path, tmp_path: Path
):
    """As the harness of the published answers did, which has `math` and `Counter` at hand."""
    whole = read_whole(shared_data)
    (problem,) = (one for one in whole["problems"] if one["idx"] == 0)
    rule = "def fn(x):\n    return [x[math.floor(-4)]] if Counter(x) else []"
    turn = {**problem["turns"][0], "responses": [f"```python\n{rule}\n```"]}
    one = {**problem, "turns": [turn], "chosen_rules": [rule]}
    (tmp_path / "one.json").write_text(json.dumps(whole | {"problems": [one]}))
    options = {
        "data": str(shared_data / "gear" / "list_function.jsonl"),
        "space": space,
        "task": "list_functions",
    }
    result = peirce.import_recorded(
        tmp_path / "one.json", store=str(tmp_path / "a.duckdb"), **options
    )
    session = peirce.load(result.session, store=result.store)
    (judged,) = (one for step in session.steps for answer in step.answers for one in answer.judged)
    assert judged.hypothesis.text == rule and judged.hypothesis.breaches == ("missing_import",)
    assert any(mark is True for mark in judged.shown.marks)
    (scored,) = peirce.evaluate(store=result.store)["sessions"]
    assert scored["breaches"] == {"missing_import": 1}
    strict = peirce.import_recorded(
        tmp_path / "one.json", store=str(tmp_path / "b.duckdb"), strict_contract=True, **options
    )
    assert strict.verdicts["malformed"] == 1
