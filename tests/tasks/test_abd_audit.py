"""`peirce tasks audit`: generated sets pass; every kind of change is found by the check that is for
it; other files are refused in one sentence.

Internals: instances are changed one by one, and the names of all checks are listed.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import peirce
import pytest
from abd_sets import REGIMES, Change, Rows, failed, made, of, saved, written
from peirce import cli
from peirce.records import DataError, UsageError
from peirce.tasks.io.files import read_jsonl, read_text
from peirce.tasks.io.yaml_records import read_records
from peirce.tasks.logic.audit import audit_file
from peirce.tasks.logic.generation.filters import (
    HOLDOUT_CONDITIONS,
    SET_CONDITIONS,
    WORLD_CONDITIONS,
)
from peirce.tasks.logic.generation.set_files import save_instances

Record = dict[str, Any]


def test_a_generated_set_passes_all_checks_and_says_what_it_counted(tmp_path: Path) -> None:
    save_instances(made(), tmp_path / "set")
    told = audit_file(tmp_path / "set")
    assert told["failed"] == 0 and (told["instances"], told["holdouts"]) == (6, 30)
    by_name = {one["check"]: one for one in told["checks"]}
    assert len(by_name) == len(told["checks"]) > 40
    worlds = sum(len(one.worlds) for one in made())
    for claim in WORLD_CONDITIONS:
        assert by_name[f"prompt worlds: {claim}"]["passed"] == worlds
    for claim in HOLDOUT_CONDITIONS:
        assert by_name[f"holdouts: {claim}"]["passed"] == 30
    assert all(by_name[claim]["passed"] == 6 for claim in SET_CONDITIONS)
    assert all(one["passed"] and not one["offenders"] for one in told["checks"])
    masks = [row for row in told["statistics"] if row["statistic"] == "R unknown"]
    assert {row["regime"]: row["least"] > 0 for row in masks} == {
        "full": False, "partial": True, "skeptical": True,
    }  # fmt: skip


# --- what is changed is found -------------------------------------------------------------


def world(record: Record, place: int = 0) -> Record:
    found: Record = record["problem"]["trainWorlds"][place]
    return found


def true(some: Record, name: str) -> list[str]:
    some["predicates"][name].pop("false", None)
    found: list[str] = some["predicates"][name]["true"]
    return found


def of_all(name: str) -> Change:
    """Every element of the first world has it."""

    def change(record: Record, rows: Rows) -> None:
        true(world(record), name)[:] = world(record)["domain"]

    return change


def put(*keys: Any, value: Any) -> Change:
    def change(record: Record, rows: Rows) -> None:
        at: Any = record
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value

    return change


def put_row(*keys: Any, value: Any) -> Change:
    return lambda record, rows: put(*keys, value=value)(rows[0], rows)


def nothing_to_repair(record: Record, rows: Rows) -> None:
    true(world(record), "P")[:] = []


def rule(text: str) -> Change:
    return put("problem", "gold", "alpha", value=text)


def unknown_atom(name: str, atom: str) -> Change:
    def change(record: Record, rows: Rows) -> None:
        some = world(record)
        if atom in true(some, name):
            true(some, name).remove(atom)
        some["unknownAtoms"][name].append(atom)

    return change


def known_atom(record: Record, rows: Rows) -> None:
    world(record)["unknownAtoms"]["R"].pop()


def contradiction(record: Record, rows: Rows) -> None:
    some = world(record)
    true(some, "R").append(some["unknownAtoms"]["R"][0])


def twice(record: Record, rows: Rows) -> None:
    worlds = record["problem"]["trainWorlds"]
    worlds[1] = {**copy.deepcopy(worlds[0]), "worldId": "W1"}


def prompt_held_out(record: Record, rows: Rows) -> None:
    rows[0]["world"] = {**copy.deepcopy(world(record)), "worldId": "H0"}


def holdout_twice(record: Record, rows: Rows) -> None:
    rows[1]["world"] = {**copy.deepcopy(rows[0]["world"]), "worldId": "H1"}


def same_masked_differently(record: Record, rows: Rows) -> None:
    twice(record, rows)
    again = world(record, 1)
    again["unknownAtoms"]["R"].pop()


def few_worlds(record: Record, rows: Rows) -> None:
    del record["problem"]["trainWorlds"][2:]


def other_size(record: Record, rows: Rows) -> None:
    some = world(record)
    for name in some["predicates"]:
        true(some, name)
    some["domain"].append(f"a{len(some['domain'])}")


def named_otherwise(record: Record, rows: Rows) -> None:
    text = json.dumps(world(record)).replace("a0", "b0")
    record["problem"]["trainWorlds"][0] = json.loads(text)


def cheap_competitor(record: Record, rows: Rows) -> None:
    """One world is no test: rules of tier 1 are as good there."""
    del record["problem"]["trainWorlds"][1:]


def cheap_holdouts(record: Record, rows: Rows) -> None:
    """All are the one that costs least, of prompt worlds that cost more."""
    cheapest = min(rows, key=lambda row: row["world"]["goldAlphaCost"])["world"]
    for row in rows:
        row["world"] = {**copy.deepcopy(cheapest), "worldId": row["world"]["worldId"]}


def alike(key: str) -> Change:
    """All prompt worlds are one that some holdout is not like."""

    def change(record: Record, rows: Rows) -> None:
        worlds = record["problem"]["trainWorlds"]
        there = {row["world"][key] for row in rows}
        one = next(some for some in worlds if there - {some[key]})
        worlds[:] = [{**copy.deepcopy(one), "worldId": f"W{k}"} for k in range(len(worlds))]

    return change


CHANGES: dict[str, tuple[str, Change, str]] = {
    "a wrong rule": ("full", rule("(not (= x x))"), "prompt worlds: the reference is valid"),
    "in holdouts": ("partial", rule("(not (= x x))"), "holdouts: the reference is valid"),
    "under masks": ("skeptical", rule("(not (= x x))"), "holdouts: the reference is valid"),
    "no exception": ("full", nothing_to_repair, "prompt worlds: an exception is needed"),
    "a rule that marks all": (
        "full", rule("(= x x)"), "prompt worlds: the reference costs little more than the lower bound"
    ),
    "marks many": ("partial", rule("(= x x)"), "prompt worlds: the reference marks few of the elements"),
    "much to repair": (
        "full",
        lambda record, rows: (of_all("P")(record, rows), true(world(record), "Q").clear()),
        "prompt worlds: few of the elements need to be exceptions",
    ),
    "too few worlds": ("full", few_worlds, "as many prompt worlds as regime and difficulty have"),
    "a low bound": ("full", few_worlds, "the summed lower bound reaches its floor"),
    "a low cost": ("partial", few_worlds, "the summed cost of the reference reaches its floor"),
    "out of scope": (
        "full", rule("(Q x)"), "the reference is a rule within the scope of its theory"
    ),
    "objects": ("skeptical", rule("(= x a0)"), "the reference is a rule within the scope of its theory"),
    "no rule": ("full", rule(None), "the reference is a rule within the scope of its theory"),  # type: ignore[arg-type]
    "a bound": (
        "full", put("problem", "trainWorlds", 0, "optCost", value=7),
        "prompt worlds: optCost is the exact lower bound",
    ),
    "a holdout's bound": (
        "skeptical", put_row("world", "optCost", value=0), "holdouts: optCost is the exact lower bound"
    ),
    "a cost": (
        "partial", put("problem", "trainWorlds", 2, "goldAlphaCost", value=9),
        "prompt worlds: goldAlphaCost is the exact cost of the reference",
    ),
    "a holdout's cost": (
        "full", put_row("world", "goldAlphaCost", value=9),
        "holdouts: goldAlphaCost is the exact cost of the reference",
    ),
    "a total": (
        "full", put("problem", "gold", "totalGoldAlphaCost", value=1),
        "totalGoldAlphaCost is the reference's exact cost",
    ),
    "another total": (
        "full", put("problem", "gold", "totalOptCost", value=1), "totalOptCost is the sum of the optCosts"
    ),
    "a description": (
        "partial", put("problemDescription", "perWorldOptCosts", value=[1]),
        "the description agrees with the worlds",
    ),
    "a difficulty": (
        "full", put("problemDescription", "difficulty", value="odd"), "the regime has the difficulty"
    ),
    "a theory of another regime": (
        "full", put("problem", "theoryId", value="TH5"), "the regime has the theory"
    ),
    "a tier": (
        "full", put("problemDescription", "alphaTier", value=1),
        "the tier of the template is one of the regime's and difficulty's",
    ),
    "a change denied": (
        "full", put("problem", "seedAlpha", "alpha", value="(P x)"),
        "goldChanged says whether the planted formula was replaced",
    ),
    "a larger world": ("full", lambda record, rows: [other_size(record, rows) for _ in range(3)],
                       "prompt worlds: elements a0, a1, …, as many as the regime has"),
    "other names": (
        "full", named_otherwise, "prompt worlds: elements a0, a1, …, as many as the regime has"
    ),
    "another size": ("skeptical", other_size, "skeptical: prompt worlds of one size"),
    "a density": ("full", of_all("Q"), "prompt worlds: shares of true atoms within the ranges of the sampler"),
    "a density of holdouts": (
        "partial", lambda record, rows: true(rows[0]["world"], "P").clear(),
        "holdouts: shares of true atoms within the ranges of the sampler",
    ),
    "a mask of P": ("partial", unknown_atom("P", "a0"), "prompt worlds: P and Q are never masked"),
    "a mask of Q": ("skeptical", unknown_atom("Q", "a0"), "prompt worlds: P and Q are never masked"),
    "a mask too few": (
        "partial", known_atom, "prompt worlds, partial: 0.12 of R and 0.08 of S are masked"
    ),
    "masks too few": (
        "skeptical", lambda record, rows: world(record)["unknownAtoms"]["R"].clear(),
        "prompt worlds, skeptical: 8 to 10 atoms of R and S are masked",
    ),
    "a holdout's mask": (
        "partial", lambda record, rows: rows[0]["world"]["unknownAtoms"]["S"].pop(),
        "holdouts, partial: 0.12 of R and 0.08 of S are masked",
    ),
    "true and unknown": ("partial", contradiction, "instances: no atom is both true and unknown"),
    "a world twice": ("full", twice, "no prompt world stands there twice"),
    "a prompt world held out": ("full", prompt_held_out, "no prompt world is among the holdouts"),
    "a holdout twice": ("partial", holdout_twice, "no holdout stands there twice"),
    "one world masked twice": (
        "skeptical", same_masked_differently, "no two prompt worlds can be maskings of one world"
    ),
    "a holdout too few": ("full", lambda record, rows: rows.pop(), "5 holdouts"),
    "a holdout that failed": (
        "full", put_row("meta", "status", value="failed"), "holdouts: can be read"
    ),
    "a holdout of another theory": ("full", put_row("theoryId", value="TH7"), "holdouts: can be read"),
    "a stray": ("full", put_row("instanceId", value="else"), "holdouts: belong to an instance"),
    "attempts": ("full", put_row("meta", "attempts", value=151), "holdouts: at most 150 attempts"),
    "costs of holdouts": (
        "partial", cheap_holdouts, "the mean cost of the holdouts is that of the prompt worlds, to 0.25"
    ),
    "a range of costs": (
        "partial", alike("goldAlphaCost"), "holdouts: its cost is within the range of the prompt worlds"
    ),
    "a range of gaps": (
        "skeptical", alike("gap"), "holdouts: its gap is within the range of the prompt worlds"
    ),
    "a survivor": (
        "full", cheap_competitor, "no rule of tier 0 or 1 is valid at less than 2 above the reference"
    ),
    "a cheater": ("full", cheap_competitor, "no rule of tier 0 or 1 is as cheap as the reference"),
    "a recorded cheater": (
        "full", put("problem", "gold", "cheaterMargin", value=0),
        "the recorded cheater costs more than the reference",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_found_by_its_check(tmp_path: Path, kind: str) -> None:
    regime, change, check = CHANGES[kind]
    found = failed(tmp_path, regime, change)
    assert check in found, (kind, sorted(found))
    assert found[check]["offenders"], kind


@pytest.mark.parametrize("regime", REGIMES)
def test_what_is_not_changed_passes(tmp_path: Path, regime: str) -> None:
    assert failed(tmp_path, regime, lambda record, rows: None) == {}


def test_an_id_that_stands_twice_is_found(tmp_path: Path) -> None:
    records, rows = written(of("full"))
    told = audit_file(saved(tmp_path, records * 2, rows))
    assert {one["check"] for one in told["checks"] if one["failed"]} == {"ids are unique"}


def test_a_template_that_is_used_too_often_is_found(tmp_path: Path) -> None:
    records: list[Record] = []
    every: Rows = []
    for number in range(3):
        some, rows = written(of("full"))
        some[0]["instanceId"] = f"p{number}"
        records += some
        every += [{**row, "instanceId": f"p{number}"} for row in rows]
    told = audit_file(saved(tmp_path, records, every))
    (found,) = [one for one in told["checks"] if one["failed"]]
    assert found["check"] == "no template is used more often than its limit"
    assert found["offenders"][0].startswith("full T1 easy: t2-")


def test_an_instance_that_cannot_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    records, rows = written(of("full"))
    bad = {**copy.deepcopy(records[0]), "instanceId": "bad"}
    bad["problem"]["scenario"] = "odd"
    told = audit_file(saved(tmp_path, [bad, *records], rows))
    (found,) = [one for one in told["checks"] if one["failed"]]
    assert (found["check"], found["passed"], found["failed"]) == ("instances: can be read", 1, 1)
    assert "instance 'bad', problem.scenario: must be one of ABD_FULL" in found["offenders"][0]


HOSTILE: dict[str, Change] = {
    "a description that is none": put("problemDescription", value=[1]),
    "gold of lists": put("problem", "gold", "bestCheaterCost", value=[1]),
    "a tier of lists": put("problemDescription", "alphaTier", value=[1]),
    "a template of lists": put("problemDescription", "templateId", value=[1]),
    "a total of texts": put("problem", "gold", "totalOptCost", value="\x1b[31m"),
    "a bound that is missing": put("problem", "trainWorlds", 0, "optCost", value=None),
    "a rule of two variables": rule("(R x y)"),
    "a rule without gold": put("problem", "gold", value={}),
    "a seed that is none": put("problem", "seedAlpha", value=3),
    "meta that is none": put_row("meta", value=[1]),
    "a world that is none": put_row("world", value=[1]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_odd_values_are_findings_and_no_crash(tmp_path: Path, kind: str) -> None:
    failed(tmp_path, "full", HOSTILE[kind])


# --- files of other kinds -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("abd.jsonl", "{}", "an audit reads instances in the published form"),
        ("a.txt", "x", "an audit reads instances in the published form"),
        ("a.yaml", "", "the file is empty"),
        ("a.yaml", "a: 1", "must be a YAML list of records"),
        ("a.yaml", "[]", "the file has no instances"),
        ("a.yaml", "- {idx: 1, train: [], test: []}", "line 1, instanceId: must be a number"),
        ("a.yaml", "- [", "line 2: not YAML"),
        ("a.yaml.gz", "no gzip: [", "not YAML"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_a_sentence(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said) as error:
        peirce.tasks_audit(tmp_path / name)
    assert "\n" not in str(error.value) and name in str(error.value)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(UsageError, match=r"no such file|no data here"):
            peirce.tasks_audit(path)


def test_an_instance_without_holdouts_is_audited(tmp_path: Path) -> None:
    records, _ = written(of("full"))
    folder = saved(tmp_path, records, [])
    (folder / "abd_holdouts_v1.jsonl").unlink()
    told = audit_file(folder)
    assert [one["check"] for one in told["checks"] if one["failed"]] == ["5 holdouts"]


# --- the command ------------------------------------------------------------------------------


def run(capsys: Any, *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["tasks", *arguments])
    return int(ended.value.code or 0), str(capsys.readouterr().out)


def test_the_command_ends_with_1_where_a_check_fails(tmp_path: Path, capsys: Any) -> None:
    code, said = run(capsys, "generate", "abd", "--out", str(tmp_path / "set"), "--problems", "2")
    assert code == 0 and "1 full, 1 partial" in said
    code, said = run(capsys, "audit", str(tmp_path / "set"))
    assert code == 0 and "0 failed" in said
    records, rows = written(of("full"))
    rule("(P x)")(records[0], rows)
    code, said = run(capsys, "audit", str(saved(tmp_path / "bad", records, rows)), "--json")
    told = json.loads(said)
    assert code == 1 and told["failed"] > 0
    assert set(told) == {"file", "instances", "holdouts", "failed", "checks", "statistics"}


def test_every_sixth_published_problem_shows_its_known_deviations(
    shared_data: Path, tmp_path: Path
) -> None:
    """The whole set in `make soak`."""
    place = shared_data / "abd" / "abd_instances_v1.yaml.gz"
    records = [one.value for one in read_records(read_text(place), place)][::6]
    names = {one["instanceId"] for one in records}
    every = read_jsonl(shared_data / "abd" / "abd_holdouts_v1.jsonl.gz")
    rows = [row for _, row in every if row["instanceId"] in names]
    told = audit_file(saved(tmp_path / "some", records, rows))
    found = {one["check"]: one["failed"] for one in told["checks"] if one["failed"]}
    assert (told["instances"], told["holdouts"]) == (51, 255)
    assert found["the reference is a rule within the scope of its theory"] == 3
    assert found["prompt worlds: optCost is the exact lower bound"] == 9
    assert found["holdouts: optCost is the exact lower bound"] == 79
    assert found["holdouts: the reference is valid"] == 34
    assert found["no two prompt worlds can be maskings of one world"] == 14
    assert "5 holdouts" not in found  # the two of 305 are not among these
    assert "prompt worlds: the reference is valid" not in found
    assert not any("shares of true atoms" in check for check in found)


@pytest.mark.soak
def test_the_published_set_shows_its_known_deviations(shared_data: Path) -> None:
    told = audit_file(shared_data / "abd")
    found = {one["check"]: one["failed"] for one in told["checks"] if one["failed"]}
    assert (told["instances"], told["holdouts"]) == (305, 1518)
    assert found["the reference is a rule within the scope of its theory"] == 19
    assert found["prompt worlds: optCost is the exact lower bound"] == 46
    assert found["holdouts: optCost is the exact lower bound"] == 410  # 225 and 185
    assert found["holdouts: the reference is valid"] == 162
    assert found["5 holdouts"] == 2
    assert found["no two prompt worlds can be maskings of one world"] == 83
    assert "prompt worlds: the reference is valid" not in found
    assert not any("shares of true atoms" in check for check in found)
