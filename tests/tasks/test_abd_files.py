"""The published instances and holdouts of ABD: what becomes of them, and what errors in them say.

Internals: the cache of parsed records is switched off to read each file anew.
"""

from __future__ import annotations

import copy
import gzip
import json
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from abd_records import (
    ELEMENTS,
    NEIGHBOURS,
    holdout,
    holdouts,
    instances,
    save,
    save_holdouts,
    save_instances,
    world,
    yaml_of,
)
from peirce import cli
from peirce.records import DataError, Problem, UsageError
from peirce.tasks import DataWarning, load_problems
from peirce.tasks.io import yaml_records
from peirce.tasks.logic.abd import TASK

WORLD = {
    "id": "W0",
    "domain": ELEMENTS,
    "true": {"P": [["a1"]], "Q": [["a2"]], "R": [["a0", "a1"], ["a2", "a1"]]},
}


def load(path: Path) -> list[Problem]:
    """Of files that warn of what the tiny data leave out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return TASK.load(str(path), None, 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_instances(tmp_path)
    save_holdouts(tmp_path)
    return tmp_path


# --- what becomes of them -----------------------------------------------------------


def test_an_instance_becomes_a_problem(folder: Path) -> None:
    full, partial, skeptical = load(folder)
    assert [p.id for p in (full, partial, skeptical)] == ["FULL", "PARTIAL", "SKEPTICAL"]
    assert (full.task, full.family, full.group) == ("abd", "logic", "FULL")
    assert [pair.input for pair in full.shown] == [WORLD, {**WORLD, "id": "W1"}]
    assert all(pair.output is True for pair in (*full.shown, *partial.hidden))
    assert full.public["theory"] == {
        "names": ["T1", "TH2"],
        "axioms": [f"(forall x (implies (and {NEIGHBOURS} (not (Ab x))) (Q x)))"],
        "signature": {"P": 1, "Q": 1, "R": 2, "S": 2},
        "allowed": ["P", "R", "S"],
        "regime": "full",
    }
    assert full.secret == {
        "reference": NEIGHBOURS,
        "reference_cost": 2,
        "difficulty": "easy",
        "scenario": "ABD_FULL",
        "bounds": [1, 1],
        "hidden_bounds": [1],
        "holdouts_published": 1,
    }
    assert [p.public["theory"]["regime"] for p in (partial, skeptical)] == ["partial", "skeptical"]
    assert partial.secret["bounds"] == [None] and skeptical.secret["holdouts_published"] == 0


def test_unknown_atoms_are_read_as_pairs_and_as_texts(folder: Path) -> None:
    _, partial, skeptical = load(folder)
    assert partial.shown[0].input["unknown"] == {"S": [["a0", "a1"]]}
    assert skeptical.shown[0].input["unknown"] == {"R": [["a1", "a1"]], "S": [["a0", "a1"]]}


def test_holdouts_are_joined_by_instance_in_the_order_of_their_file(folder: Path) -> None:
    full, partial, skeptical = load(folder)
    assert [pair.input["id"] for pair in partial.hidden] == ["H9", "H8"]
    assert [pair.input["id"] for pair in full.hidden] == ["H9"] and skeptical.hidden == ()
    assert partial.hidden[0].input["unknown"] == {"S": [["a2", "a2"]]}


def test_what_is_left_out_is_told(folder: Path) -> None:
    with pytest.warns(DataWarning) as given:
        TASK.load(str(folder), None, 0)
    assert [str(one.message).replace(f"{folder}/", "") for one in given] == [
        "abd_holdouts_v1.jsonl: 2 holdouts without success or world are left out",
        "abd_holdouts_v1.jsonl: 1 holdouts of instances that abd_instances_v1.yaml lacks are left"
        " out",
    ]
    (folder / "abd_holdouts_v1.jsonl").unlink()
    with pytest.warns(DataWarning, match="no file of holdouts beside it"):
        problems = TASK.load(str(folder), None, 0)
    assert all(not p.hidden and "holdouts_published" not in p.secret for p in problems)


def test_worlds_that_are_held_out_are_no_prompt_worlds(tmp_path: Path) -> None:
    records = instances()
    records[0]["problem"]["trainWorlds"][0]["isHeldout"] = True
    save_instances(tmp_path, records)
    save_holdouts(tmp_path, [])
    with pytest.warns(DataWarning, match="1 prompt worlds say isHeldout and are left out"):
        full = TASK.load(str(tmp_path), None, 0)[0]
    assert [pair.input["id"] for pair in full.shown] == ["W1"] and full.secret["bounds"] == [1]


def test_theory_and_scope_are_those_of_the_id(tmp_path: Path) -> None:
    records = instances()
    records[0]["problem"].update(theoryId="TH12", allowedAlphaPreds=["Q"])
    save_instances(tmp_path, records)
    save_holdouts(tmp_path, [])
    with pytest.warns(DataWarning, match="1 instances list axioms that are not .*: FULL"):
        full = TASK.load(str(tmp_path), None, 0)[0]
    theory = full.public["theory"]
    assert theory["names"] == ["T5", "TH12"] and theory["allowed"] == ["P", "R", "S"]
    assert theory["axioms"] != records[0]["problem"]["axioms"]


def test_packed_and_plain_files_and_both_names_of_a_theory_are_alike(tmp_path: Path) -> None:
    records = instances()
    expected = None
    for number, (one, other) in enumerate((
        ("abd_instances_v1.yaml", "abd_holdouts_v1.jsonl"),
        ("abd_instances_v1.yaml.gz", "abd_holdouts_v1.jsonl.gz"),
        ("abd_instances.yaml.gz", "abd_holdouts.jsonl"),
        ("my_instances.yml", "my_holdouts.jsonl.gz"),
        ("else.yaml", "abd_holdouts_v1.jsonl.gz"),
    )):  # fmt: skip
        place = tmp_path / str(number)
        place.mkdir()
        path = save_instances(place, records, one)
        save_holdouts(place, name=other)
        found = load(path)
        expected = expected or found
        assert found == expected
        if one.startswith("abd"):
            assert load(place) == expected
        records[0]["problem"]["theoryId"] = "T1"


def test_a_large_file_is_kept_in_the_cache_and_read_alike(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_records, "MIN_CACHED_CHARACTERS", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    first = load(folder)
    assert len(list((folder / "cache" / "peirce").iterdir())) == 1
    monkeypatch.setattr(
        "peirce.tasks.logic.published_files.read_records", None
    )  # nothing is read again
    assert load(folder) == first


def test_problems_are_json_and_come_back(folder: Path) -> None:
    for problem in load(folder):
        assert Problem.from_json(json.loads(json.dumps(problem.as_json()))) == problem


def test_the_identity_covers_both_files(folder: Path) -> None:
    before = TASK.identify_data(folder)
    assert before["name"] == "abd_instances_v1.yaml" and len(before["sha256"]) == 64
    assert before == TASK.identify_data(folder / "abd_instances_v1.yaml")
    save_holdouts(folder, holdouts()[:2])
    after = TASK.identify_data(folder)
    assert after["sha256"] != before["sha256"]
    save(folder / "abd_instances_v1.yaml", yaml_of(instances()[:1]))
    assert TASK.identify_data(folder)["sha256"] not in (before["sha256"], after["sha256"])
    (folder / "abd_holdouts_v1.jsonl").unlink()
    assert TASK.identify_data(folder)["name"] == "abd_instances_v1.yaml"


# --- what cannot be asked -----------------------------------------------------------


def test_observations_cannot_be_drawn(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "abd_holdouts_v1.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"^--observations 3: all prompt worlds of abd are shown"):
        load_problems("abd", str(folder), observations="3")
    with pytest.raises(UsageError, match="no data here; looked for abd_instances_v1"):
        TASK.load(str(folder / "empty"), None, 0)


# --- what is wrong with them ----------------------------------------------------------


def refused(path: Path) -> str:
    """What the error says, without the folder of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        with pytest.raises(DataError) as error:
            load_problems("abd", str(path))
    said = str(error.value).replace(f"{path.parent}/", "").replace(f"{path}/", "")
    assert "\n" not in said and len(said) < 400, said
    return said


def record() -> dict[str, Any]:
    return copy.deepcopy(instances()[1])


Change = Callable[[dict[str, Any]], Any]


def at(*keys: Any, value: Any) -> Change:
    """Puts a value where the keys lead; LEFT OUT takes what is there away."""

    def change(data: dict[str, Any]) -> None:
        for key in keys[:-1]:
            data = data[key]
        if value == "LEFT OUT":
            del data[keys[-1]]
        else:
            data[keys[-1]] = value

    return change


W = ("problem", "trainWorlds", 0)
P = (*W, "predicates")
RECORDS: dict[str, tuple[Change, str]] = {
    "no id": (at("instanceId", value="LEFT OUT"), ", instanceId: must be a number or a string, not None"),
    "an id that is none": (at("instanceId", value=[1]), ", instanceId: must be a number or a string"),
    "no problem": (at("problem", value=None), ", problem: must be an object with theoryId"),
    "no theory": (at("problem", "theoryId", value="LEFT OUT"), ", problem.theoryId: must be a number"),
    "an unknown theory": (
        at("problem", "theoryId", value="TH4"),
        ", problem.theoryId: no theory 'TH4'; did you mean T",
    ),
    "an unknown scenario": (
        at("problem", "scenario", value="partial"),
        ", problem.scenario: must be one of ABD_FULL, ABD_PARTIAL, ABD_SKEPTICAL, not partial",
    ),
    "no worlds": (at("problem", "trainWorlds", value=[]), ", problem.trainWorlds: must be a list of"),
    "worlds by name": (at("problem", "trainWorlds", value={}), ", problem.trainWorlds: must be a list"),
    "held out alone": (at(*W, "isHeldout", value=True), ", problem.trainWorlds: no prompt world"),
    "a world that is none": (at(*W, value=3), ", problem.trainWorlds[0]: must be an object with domain"),
    "no world id": (at(*W, "worldId", value=None), ", problem.trainWorlds[0].worldId: must be a number"),
    "no domain": (at(*W, "domain", value="LEFT OUT"), ", problem.trainWorlds[0]: domain has to list"),
    "an element twice": (at(*W, "domain", value=["a0", "a0"]), ": the names of the domain have to"),
    "257 elements": (at(*W, "domain", value=[f"a{k}" for k in range(257)]), ": domain has to list 1 to"),
    "no predicates": (at(*P, value=[]), ", problem.trainWorlds[0].predicates: must be an object with"
                      " an entry for each predicate, not []"),
    "predicates left out": (at(*P, value="LEFT OUT"), ", problem.trainWorlds[0].predicates: missing"),
    "no S": (at(*P, "S", value="LEFT OUT"), ", problem.trainWorlds[0].predicates.S: missing"),
    "no true atoms": (at(*P, "S", value={}), ", problem.trainWorlds[0].predicates.S.true: missing"),
    "another list": (
        at(*P, "S", value={"true": [], "flase": []}),
        ", problem.trainWorlds[0].predicates.S.flase: unknown key; did you mean false",
    ),
    "a predicate too many": (
        at(*P, "T", value={"true": []}),
        ", problem.trainWorlds[0]: true T: the theory has no predicate 'T': P, Q, R, S",
    ),
    "atoms that are no list": (at(*P, "S", "true", value="a0"), "[0]: true S: a list of atoms is due"),
    "an atom of one": (at(*P, "R", "true", value=["a0"]), "[0]: true R: 'a0' are not 2 names"),
    "an atom of three": (at(*P, "R", "true", value=["(a0, a1, a2)"]), "are not 2 names of elements"),
    "an unknown element": (
        at(*P, "R", "true", value=["(a0, a9)"]),
        ", problem.trainWorlds[0]: true R: 'a9' is not in the domain",
    ),
    "an atom twice": (at(*P, "P", "true", value=["a1", "a1"]), "true P: an atom occurs twice"),
    "true and unknown": (
        at(*W, "unknownAtoms", value={"R": ["(a0, a1)"]}),
        ", problem.trainWorlds[0]: R(a0, a1) is both true and unknown",
    ),
    "true and false": (
        at(*P, "P", value={"true": ["a1"], "false": ["a0", "a1", "a2"]}),
        ", problem.trainWorlds[0]: P(a1) is both true and false",
    ),
    "unknown and false": (
        at(*P, "S", value={"true": [], "false": ["(a0, a1)"]}),
        ", problem.trainWorlds[0]: S(a0, a1) is both unknown and false",
    ),
    "missing atoms": (
        at(*P, "P", value={"true": ["a1"], "false": ["a0"]}),
        ", problem.trainWorlds[0]: 1 atoms of P are neither true nor false nor unknown",
    ),
    "unknown atoms that are none": (at(*W, "unknownAtoms", value=[1]), ": unknown is an object of"),
    "unknown atoms in full": (
        at("problem", "scenario", value="ABD_FULL"),
        ", problem.trainWorlds[0]: unknown atoms, which there are none of in the full regime",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", RECORDS)
def test_a_bad_instance_is_named(tmp_path: Path, fault: str) -> None:
    change, said = RECORDS[fault]
    bad = record()
    change(bad)
    path = save_instances(tmp_path, [instances()[0], bad])
    line = 1 + yaml_of([instances()[0]]).count("\n")
    found = refused(path)
    assert found.startswith(f"abd_instances_v1.yaml, line {line}") and said in found, found
    if "instanceId" not in said:
        assert ", instance 'PARTIAL'" in found


# What an instance can do without: it is left out with a warning, and the instance is read.
OPTIONAL: dict[str, tuple[Change, str]] = {
    "a bound below 0": (at(*W, "optCost", value=-1), ", problem.trainWorlds[0].optCost: must be a number"),
    "a bound that is true": (at(*W, "optCost", value=True), ".optCost: must be a number of at least 0, not True"),
    "a reference cut short": (
        at("problem", "gold", "alpha", value="(P x"),
        ", problem.gold.alpha: the formula ends too early, at character 5",
    ),
    "a reference that is none": (at("problem", "gold", "alpha", value=3), ".gold.alpha: must be a formula"),
    "a reference of other predicates": (
        at("problem", "gold", "alpha", value="(T x)"),
        ", problem.gold.alpha: character 2: 'T' is no operator and no predicate",
    ),
    "gold that is none": (at("problem", "gold", value=[1]), ", problem.gold: must be an object"),
    "a cost that is none": (
        at("problem", "gold", "totalGoldAlphaCost", value="2"),
        ", problem.gold.totalGoldAlphaCost: must be a number of at least 0, not 2",
    ),
    "the published Var(y)": (
        at("problem", "gold", "alpha", value="(exists Var(y) (R x y))"),
        ", problem.gold.alpha: ",
    ),
    "a difficulty that is none": (
        at("problemDescription", "difficulty", value=["easy"]),
        ", problemDescription.difficulty: must be a text",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", OPTIONAL)
def test_an_unreadable_optional_field_is_left_out_and_counted(tmp_path: Path, fault: str) -> None:
    change, said = OPTIONAL[fault]
    some = [instances()[0], record(), {**record(), "instanceId": "OTHER"}]
    for one in some[1:]:
        change(one)
    path = save_instances(tmp_path, some)
    save_holdouts(tmp_path, [holdout("FULL", 0)])
    with pytest.warns(DataWarning) as told:
        full, partial, other = TASK.load(str(path), None, 0)
    (sentence,) = [str(one.message) for one in told]
    line = 1 + yaml_of(some[:1]).count("\n")
    assert sentence.startswith(f"{path}: ") and "cannot be read in 2 places" in sentence
    assert f"line {line}, instance 'PARTIAL'" in sentence and said in sentence, sentence
    assert "; also line" in sentence and "'OTHER'" in sentence
    assert full.secret["reference"] and partial.secret.get("reference_cost") == (
        None if "cost" in fault or "gold" in fault else 2
    )
    assert ("reference" in partial.secret) == ("reference" not in fault and "Var" not in fault
                                               and "gold" not in fault)  # fmt: skip
    assert partial.shown == TASK.load(str(save_instances(tmp_path, [record()])), None, 0)[0].shown
    assert other.secret == partial.secret


def test_a_world_or_an_instance_that_stands_there_twice_is_named(tmp_path: Path) -> None:
    two = instances()
    two[0]["problem"]["trainWorlds"][1]["worldId"] = "W0"
    said = refused(save_instances(tmp_path, two))
    assert said.endswith("instance 'FULL', problem.trainWorlds[1].worldId: W0 occurs twice")
    again = refused(save_instances(tmp_path, [*instances(), record()]))
    assert again.endswith(", instanceId: PARTIAL occurs twice") and ", line 1" in again


HOLDOUTS: dict[str, tuple[Any, str]] = {
    "no object": ([1], "line 2: must be an object with instanceId and world, not [1]"),
    "no id": (holdout("PARTIAL", 0, instanceId=None), "line 2, instanceId: must be a number or a string"),
    "another theory": (
        holdout("PARTIAL", 0, theoryId="TH7"),
        "line 2, instance 'PARTIAL', theoryId: TH7, and the instance has TH2",
    ),
    "another scenario": (
        holdout("PARTIAL", 0, scenario="ABD_FULL"),
        "line 2, instance 'PARTIAL', scenario: ABD_FULL, and the instance has ABD_PARTIAL",
    ),
    "a world that is none": (holdout("PARTIAL", 0, world=[1]), "'PARTIAL', world: must be an object with"),
    "an unknown element": (
        holdout("PARTIAL", 0, world=world("H0", {"S": [["a0", "a7"]]})),
        "line 2, instance 'PARTIAL', world: unknown S: 'a7' is not in the domain",
    ),
    "no domain": (holdout("PARTIAL", 0, world={"worldId": 1, "predicates": {}}), "predicates.P: miss"),
    "meta that is none": (holdout("PARTIAL", 0, meta=[1]), "'PARTIAL', meta: must be an object with"),
}  # fmt: skip


@pytest.mark.parametrize("fault", HOLDOUTS)
def test_a_bad_holdout_is_named(tmp_path: Path, fault: str) -> None:
    row, said = HOLDOUTS[fault]
    path = save_instances(tmp_path)
    save_holdouts(tmp_path, [holdout("FULL", 0), row])
    found = refused(path)
    assert found.startswith("abd_holdouts_v1.jsonl, line 2") and said in found, found


def test_files_that_are_none_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "abd_instances_v1.yaml.gz"
    whole = yaml_of(instances()).encode()
    for content, said in (
        (b"", ": the file is empty"),
        (gzip.compress(b" \n"), ": the file is empty"),
        (b"[]", ": the file has no instances"),
        (b"{a: 1}", ", line 1: must be a YAML list of records, not {'a': 1}"),
        (b"- 1", ", line 1: must be an object with instanceId and problem, not 1"),
        (gzip.compress(whole)[:-9], ", line 1 or after: cannot be read: Compressed file ended"),
        (gzip.compress(whole)[:200] + b"junk" * 50, "cannot be read: "),
        (whole + b"\xff", ": not UTF-8 text"),
        (whole + b"  bad: [", ": not YAML: "),
        (whole.replace(b"- schema", b"- !!python/object/new:os.system [x]\n- schema", 1),
         ", line 1: the tag tag:yaml.org,2002:python/object/new:os.system is not taken"),
    ):  # fmt: skip
        path.write_bytes(content)
        assert refused(path).startswith("abd_instances_v1.yaml.gz") and said in refused(path)
    save_instances(tmp_path, name=path.name)
    beside = tmp_path / "abd_holdouts_v1.jsonl.gz"
    for content, said in (
        (b'{"instanceId": 1', ", line 1: not JSON: "),
        (b"\n\xff\n", ", line 2: not UTF-8 text"),
        (gzip.compress(b'{"instanceId": "E"}\n' * 9_000)[:-20], "cannot be read: Compressed"),
        (b"[" * 100_000, ", line 1: this JSON cannot be used"),
    ):
        beside.write_bytes(content)
        assert refused(path).startswith("abd_holdouts_v1.jsonl.gz") and said in refused(path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sparse files")
def test_a_file_of_200_mb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = save_instances(tmp_path)
    with path.open("r+b") as out:
        out.truncate(200_000_000)
    packed = tmp_path / "bomb.yaml.gz"
    packed.write_bytes(gzip.compress(b"- a\n" * 30_000_000, 1))
    for one in (path, packed):
        tracemalloc.start()
        assert "the file is longer than 64,000,000 characters" in refused(one)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 150_000_000


def test_the_command_line_says_it_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = record()
    del bad["problem"]["trainWorlds"][0]["domain"]
    save_instances(tmp_path, [bad])
    with pytest.raises(SystemExit) as ended:
        cli.main(["tasks", "show", "abd", "--data", "abd_instances_v1.yaml"])
    said = capsys.readouterr()
    assert ended.value.code == 1 and said.out == ""
    assert said.err == (
        "peirce: abd_instances_v1.yaml, line 1, instance 'PARTIAL', problem.trainWorlds[0]: domain"
        " has to list 1 to 256 names of elements\n"
    )
