"""Data with faults through every command that reads it: an absent reference stops nothing, `--skip-bad`
goes on without unreadable records everywhere, and each sentence about data is printed once."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce import cli
from peirce.records import DataError
from peirce.tasks import DataWarning, load_problems

WORLD = {
    "worldId": "W0",
    "domain": ["a0", "a1", "a2"],
    "predicates": {
        "P": {"true": ["a1"]}, "Q": {"true": ["a2"]}, "R": {"true": ["(a0, a1)", "(a2, a1)"]},
        "S": {"true": []},
    },
    "optCost": 1,
}  # fmt: skip


def instance(name: str, alpha: Any) -> dict[str, Any]:
    return {
        "instanceId": name,
        "problemDescription": {"difficulty": "easy"},
        "problem": {
            "scenario": "ABD_FULL", "theoryId": "TH2", "trainWorlds": [WORLD],
            "gold": {"alpha": alpha, "totalGoldAlphaCost": 2},
        },
    }  # fmt: skip


def holdout(name: str) -> dict[str, Any]:
    world = {**WORLD, "worldId": "H0"}
    return {"instanceId": name, "holdoutIdx": 0, "world": world, "meta": {"status": "success"}}


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two instances, the reference of the first as two of the release are written; here is no store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEIRCE_STORE", str(tmp_path / "store.duckdb"))
    some = [instance("ONE", "(exists Var(y) (R x y))"), instance("TWO", "(exists y (R x y))")]
    (tmp_path / "abd_instances_v1.yaml").write_text(json.dumps(some, indent=1))
    rows = "".join(json.dumps(holdout(name)) + "\n" for name in ("ONE", "TWO"))
    (tmp_path / "abd_holdouts_v1.jsonl").write_text(rows)
    return tmp_path


def called(capsys: Any, *words: str) -> tuple[int, str, list[str]]:
    """Exit code, stdout and the lines of stderr, also those that Python would not repeat."""
    warnings.simplefilter("always")
    with pytest.raises(SystemExit) as ended:
        cli.main([*words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err.splitlines()


WARNED = "the reference cannot be read in 1 place and is left out there: line 2, instance 'ONE', problem.gold.alpha: "


def test_an_instance_without_a_readable_reference_goes_through_every_command(
    published: Path, capsys: Any
) -> None:
    data = ("--data", ".")
    code, out, said = called(capsys, "tasks", "show", "abd", *data, "--json")
    assert code == 0 and len(said) == 1 and WARNED in said[0]
    assert [row["secret"].get("reference") for row in json.loads(out)] == [
        None,
        "(exists y (R x y))",
    ]
    assert [row["secret"]["reference_cost"] for row in json.loads(out)] == [2, 2]
    assert called(capsys, "tasks", "show", "abd", *data)[0] == 0

    answers = published / "answers.jsonl"
    answers.write_text(json.dumps({"problem": "ONE", "hypothesis": "(exists y (R x y))"}) + "\n")
    code, out, said = called(capsys, "check", "abd", *data, "--answers", str(answers), "--json")
    row = json.loads(out)
    assert code == 0 and row["verdict"] == "consistent" and (row["cost"], row["gref"]) == (2, 0.0)

    run = ("run", "abd", *data, "--method", "io", "--workers", "1", "--budget-expansions", "200")
    code, out, said = called(capsys, *run, "--quiet", "--json")
    assert code == 0 and sum(WARNED in line for line in said) == 1
    session = json.loads(out)["session"]
    code, out, said = called(capsys, "eval", "abd", session, "--by-problem", "--json")
    assert code == 0
    rows = json.loads(out)["sessions"][0]["by_problem"]
    assert len(rows) == 2 and all(row["gref"] is not None for row in rows), rows
    for words in (
        ("eval", "abd", session, "--evaluator", "released", "--out", "tables"),
        ("report", session, "--out", "page.html"),
        ("export", session, "--out", "out", "--format", "jsonl"),
        ("show", session, "ONE"), ("replay", session), ("resume", session, "--quiet"),
    ):  # fmt: skip
        code, out, said = called(capsys, *words)
        assert code == 0, (words, out, said)


def test_the_audit_counts_an_unreadable_reference_among_the_references(published: Path) -> None:
    told = peirce.tasks_audit(published).to_dict()
    by_name = {one["check"]: one for one in told["checks"]}
    assert told["instances"] == 2 and by_name["instances: can be read"]["failed"] == 0
    (offender,) = by_name["the reference is a rule within the scope of its theory"]["offenders"]
    assert offender.startswith("ONE: ")


# --- --skip-bad -----------------------------------------------------------------------

GOOD = {"train": [{"input": [1, 2], "output": [1]}, {"input": [3, 4], "output": [3]}],
        "test": [{"input": [5, 6], "output": [5]}]}  # fmt: skip
LEFT_OUT = (
    "1 record that cannot be read is left out: line 2, train[0].output: must be a list of integers"
)


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEIRCE_STORE", str(tmp_path / "store.duckdb"))
    bad = {"idx": 1, **GOOD, "train": [{"input": [1], "output": None}]}
    rows = [{"idx": 0, **GOOD}, bad, {"idx": 2, **GOOD}]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "answers.jsonl").write_text(
        '{"problem": "2", "hypothesis": "def f(x): return x[:1]"}\n'
    )
    told = [{"problem": n, "step": 1, "answer": "def f(x):\n    return x[:1]"} for n in ("0", "2")]
    (tmp_path / "told.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told) + "{\n")
    (tmp_path / "space.jsonl").write_text("[]\n[1]\n[3, 1, 2]\n")
    return tmp_path


SHORT = {"workers": 1, "budget_expansions": 200, "space": "space.jsonl"}
COMMANDS = {
    "run": (
        "run",
        "list_functions",
        "--data",
        "f.jsonl",
        "--method",
        "io",
        "--quiet",
        "--workers",
        "1",
        "--budget-expansions",
        "200",
        "--space",
        "space.jsonl",
    ),
    "dry run": ("run", "list_functions", "--data", "f.jsonl", "--dry-run"),
    "check": ("check", "list_functions", "--data", "f.jsonl", "--answers", "answers.jsonl"),
    "tasks show": ("tasks", "show", "list_functions", "--data", "f.jsonl"),
    "tasks space": ("tasks", "space", "list_functions", "--data", "f.jsonl", "--out", "s.jsonl"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_skip_bad_goes_on_without_a_record_and_counts_it_once(
    lists: Path, capsys: Any, name: str
) -> None:
    code, _, said = called(capsys, *COMMANDS[name])
    assert code == 1 and said[-1] == (
        "peirce: f.jsonl, line 2, train[0].output: must be a list of integers, not None"
    )
    code, _, said = called(capsys, *COMMANDS[name], "--skip-bad")
    assert code == 0 and [LEFT_OUT in line for line in said if "cannot be read" in line] == [True]


def test_skip_bad_is_a_keyword_that_a_session_records_for_resume(lists: Path) -> None:
    with pytest.raises(DataError, match="line 2"):
        peirce.run("list_functions", data="f.jsonl", method="io", **SHORT)
    with pytest.warns(DataWarning, match="line 2"):
        session = peirce.run("list_functions", data="f.jsonl", method="io", skip_bad=True, **SHORT)
    (row,) = peirce.sessions()
    assert row.to_dict()["settings"]["operational"]["config"]["data"]["skip_bad"] is True
    again = peirce.resume(session.session)
    assert (again.digest, again.problems) == (session.digest, 2)
    with pytest.warns(DataWarning, match="line 2"):
        assert len(peirce.tasks_show("list_functions", data="f.jsonl", skip_bad=True)) == 2


def test_skip_bad_leaves_out_recorded_answers_that_cannot_be_read(lists: Path, capsys: Any) -> None:
    words = ("import", "told.jsonl", "--task", "list_functions", "--data", "f.jsonl", "--quiet",
             "--space", "space.jsonl")  # fmt: skip
    code, _, said = called(capsys, *words)
    assert code == 1 and said[-1].startswith("peirce: told.jsonl, line 3: not JSON")
    code, out, said = called(capsys, *words, "--skip-bad", "--json")
    assert code == 0 and json.loads(out)["problems"] == 2
    left = [line for line in said if "is left out" in line]
    assert len(left) == 2 and LEFT_OUT in left[0] and "told.jsonl: 1 record" in left[1]


# --- what is printed --------------------------------------------------------------------


def test_a_sentence_about_several_files_of_a_data_set_is_printed_once(
    tmp_path: Path, capsys: Any
) -> None:
    for name in ("train", "val", "test"):
        rows = [f"{name} visit {n} was {'good' if n % 2 else 'bad'};{n % 2}" for n in range(20)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["text;label", *rows]))
    _, _, said = called(capsys, "tasks", "show", "labels", "--data", str(tmp_path))
    assert said == [
        f"peirce: {tmp_path}/train.csv and 2 more: the cells are separated by ';' and are read so"
    ]


def test_an_import_reads_its_data_once(lists: Path, capsys: Any) -> None:
    contrary = {"train": [{"input": [1], "output": [1]}, {"input": [1], "output": [2]}], "test": []}
    (lists / "f.jsonl").write_text(
        "".join(json.dumps({"idx": n, **contrary}) + "\n" for n in range(3))
    )
    (lists / "told.jsonl").write_text(
        '{"problem": "2", "step": 1, "answer": "def f(x): return x"}\n'
    )
    words = ("import", "told.jsonl", "--task", "list_functions", "--data", "f.jsonl", "--quiet",
             "--space", "space.jsonl")  # fmt: skip
    code, _, said = called(capsys, *words)
    assert code == 0 and sum("no hypothesis can be consistent" in line for line in said) == 1


@pytest.mark.parametrize("task", ["abd", "list_functions", "acre", "mini_arc", "arc"])
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "xlsx", "parquet"])
def test_a_table_is_called_a_table_by_every_task_that_reads_none(
    tmp_path: Path, task: str, ending: str
) -> None:
    path = tmp_path / f"x.{ending}"
    path.write_text("text,label\ngood,yes\n")
    with pytest.raises(DataError) as raised:
        load_problems(task, str(path))
    assert str(raised.value).startswith(f"{path}: this is a table, but JSON or YAML is required; ")
    assert "peirce run labels" in str(raised.value)


# --- --problems beyond what there is ---------------------------------------------------------


def csv(folder: Path, count: int) -> Path:
    path = folder / "x.csv"
    rows = [
        f"visit {n} was {'good' if n % 2 else 'bad'},{'yes' if n % 2 else 'no'},train"
        for n in range(count)
    ]
    path.write_text("\n".join(["text,label,split", *rows]))
    return path


@pytest.mark.parametrize(
    ("rows", "shown", "problems"),
    [(6, None, 1), (6, 6, 1), (6, 5, 6), (4, 2, 6)],  # as many as there are sets of so many rows
)
def test_problems_of_labelled_text_never_show_the_same_rows(
    tmp_path: Path, rows: int, shown: int | None, problems: int
) -> None:
    path = csv(tmp_path, rows)
    with pytest.warns(
        DataWarning, match=rf"--problems 40: only {problems} can be used.*x has {rows}\)"
    ):
        found = load_problems("labels", str(path), problems=40, observations=shown and str(shown))
    sets = {frozenset(one.input["text"] for one in problem.shown) for problem, _ in found}
    assert len(found) == len(sets) == problems
    assert found[0][0].id == "x#0"
    for problem, _ in found:  # each is the sample that its number names
        ((named, _),) = load_problems(
            "labels", str(path), ids=[problem.id], observations=shown and str(shown)
        )
        assert named == problem


def test_as_many_samples_as_are_wanted_are_drawn_where_there_are_so_many(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    found = load_problems("labels", str(csv(tmp_path, 30)), problems=40, observations="10")
    sets = {frozenset(one.input["text"] for one in problem.shown) for problem, _ in found}
    assert len(sets) == 40 and not [one for one in recwarn if "--problems" in str(one.message)]


def test_fewer_problems_than_wanted_are_said(lists: Path) -> None:
    (lists / "f.jsonl").write_text(json.dumps({"idx": 0, **GOOD}) + "\n")
    with pytest.warns(DataWarning, match="--problems 40: there is 1 problem, which is used"):
        assert len(load_problems("list_functions", "f.jsonl", problems=40)) == 1
    some = [{"problem": n, "input": n, "output": n} for n in range(3)]
    (lists / "pairs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in some))
    with pytest.warns(DataWarning, match="--problems 40: there are 3 problems, all of which are"):
        assert len(load_problems("examples", "pairs.jsonl", problems=40)) == 3


@pytest.mark.parametrize("task", ["list_functions", "acre", "mini_arc", "abd"])
def test_generated_problems_differ(task: str) -> None:
    found = [problem for problem, _ in load_problems(task, problems=6 if task == "abd" else 12)]
    assert len({problem.id for problem in found}) == len(found)
    assert len({json.dumps([one.input for one in problem.shown]) for problem in found}) == len(
        found
    )
