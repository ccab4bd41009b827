"""A user's own worlds and theories as JSON, and the examples of docs/tutorials/exception-rules.md."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peirce.records import DataError, Problem
from peirce.tasks import DataWarning, load_problems, load_task
from peirce.tools.logic import PreparedWorlds, parse_formula, parse_world, theory_from_json

TASK = load_task("abd")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/tutorials/exception-rules.md"
ROW: dict[str, Any] = {
    "id": "mine",
    "regime": "partial",
    "theory": "T1",
    "worlds": [
        {
            "domain": ["a0", "a1"],
            "true": {"P": ["a0"], "R": [["a1", "a0"]]},
            "unknown": {"R": ["(a1, a1)"]},
        },
        {"id": "second", "domain": ["b"], "true": {}, "false": {"P": ["b"]}},
    ],
    "holdouts": [{"domain": ["c"], "true": {"S": [["c", "c"]]}}],
    "reference": "(exists y (R x y))",
}
OWN = {
    "names": ["birds fly"],
    "axioms": ["(forall x (implies (and (Bird x) (not (Ab x))) (Flies x)))"],
    "signature": {"Bird": 1, "Flies": 1, "Parent": 2, "Between": 3, "Night": 0},
    "allowed": ["Parent", "Night"],
}


def row(**other: Any) -> dict[str, Any]:
    return {key: v for key, v in {**copy.deepcopy(ROW), **other}.items() if v != "LEFT OUT"}


def save(folder: Path, *rows: Any, name: str = "abd.jsonl") -> Path:
    text = "".join(json.dumps(one) + "\n" for one in rows)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_line_becomes_a_problem(tmp_path: Path) -> None:
    (problem,) = TASK.load(str(save(tmp_path, ROW)), None, 0)
    assert (problem.id, problem.group, problem.task, problem.family) == (
        "mine",
        "mine",
        "abd",
        "logic",
    )
    first, second = (pair.input for pair in problem.shown)
    assert first == {
        "id": "W0",
        "domain": ["a0", "a1"],
        "true": {"P": [["a0"]], "R": [["a1", "a0"]]},
        "unknown": {"R": [["a1", "a1"]]},
    }
    assert second == {"id": "second", "domain": ["b"], "true": {}}
    assert [pair.input["id"] for pair in problem.hidden] == ["H0"]
    assert problem.public["theory"]["names"] == ["T1", "TH2"]
    assert problem.public["theory"]["regime"] == "partial"
    assert problem.secret == {"reference": "(exists y (R x y))", "reference_cost": 1}


def test_json_of_one_problem_of_several_and_jsonl_are_alike(tmp_path: Path) -> None:
    rows = [ROW, row(id=2, holdouts="LEFT OUT", reference=None)]
    expected = TASK.load(str(save(tmp_path, *rows)), None, 0)
    assert [p.id for p in expected] == ["mine", "2"] and "reference" not in expected[1].secret
    (tmp_path / "some.json").write_text(json.dumps(rows, indent=2))
    (tmp_path / "one.json").write_text(json.dumps(ROW))
    packed = save(tmp_path, *rows, name="packed.jsonl.gz")
    assert TASK.load(str(tmp_path / "some.json"), None, 0) == expected
    assert TASK.load(str(tmp_path / "one.json"), None, 0) == expected[:1]
    assert TASK.load(str(packed), None, 0) == TASK.load(str(tmp_path), None, 0) == expected
    assert TASK.identify_data(packed)["sha256"] == TASK.identify_data(tmp_path)["sha256"]


def test_a_theory_of_ones_own_brings_its_signature(tmp_path: Path) -> None:
    worlds = [
        {
            "domain": ["ann", "bob"],
            "true": {"Bird": ["ann"], "Between": [["ann", "bob", "ann"]], "Night": [[]]},
        }
    ]
    path = save(
        tmp_path, row(regime="full", theory=OWN, worlds=worlds, holdouts=[], reference=None)
    )
    ((problem, space),) = load_problems("abd", str(path))
    assert problem.public["theory"] == OWN | {"regime": "full", "allowed": ["Night", "Parent"]}
    assert problem.shown[0].input["true"]["Between"] == [["ann", "bob", "ann"]]
    assert problem.shown[0].input["true"]["Night"] == [[]]
    theory = theory_from_json(problem.public["theory"])
    world = parse_world(problem.shown[0].input, theory.signature, "")
    (worth,) = PreparedWorlds(theory, (world,), "full").judge(
        parse_formula("(Night)", theory.predicates)
    )
    assert (worth.valid, worth.cost, worth.bound) == (True, 2, 1)
    assert {name for _, name in space.inputs} == {"ann", "bob"}


def test_a_predicate_with_three_arguments_limits_the_size_of_a_world() -> None:
    def read(size: int) -> int:
        world = {"domain": [f"a{n}" for n in range(size)], "true": {}}
        return len(parse_world(world, {"Between": 3}, "here").names)

    assert read(101) == 101
    with pytest.raises(
        DataError, match=r"here: a domain of 102 elements .* at most 1,048,576 atoms"
    ):
        read(102)


def test_names_and_allowed_may_be_absent(tmp_path: Path) -> None:
    theory = {key: OWN[key] for key in ("axioms", "signature")}
    path = save(tmp_path, row(regime="full", theory=theory, worlds=[{"domain": ["b"], "true": {}}],
                              holdouts=[], reference=None))  # fmt: skip
    (problem,) = TASK.load(str(path), None, 0)
    assert problem.public["theory"]["names"] == ["mine"]
    assert problem.public["theory"]["allowed"] == sorted(OWN["signature"])


# --- what is wrong with them ----------------------------------------------------------


def own(**other: Any) -> dict[str, Any]:
    return row(theory={**OWN, **other}, worlds=[{"domain": ["b"], "true": {}}], holdouts=[])


def with_world(**other: Any) -> dict[str, Any]:
    changed = row()
    changed["worlds"][0].update(other)
    return changed


FAULTS: dict[str, tuple[Any, str]] = {
    "no object": ([1], ": must be an object with id, regime, theory, worlds, not [1]"),
    "no id": (row(id="LEFT OUT"), ", id: missing"),
    "an id of truth": (row(id=True), ", id: must be a number or a string, not True"),
    "another key": (
        row(world=[]),
        ", problem 'mine', world: unknown key; did you mean worlds",
    ),
    "no regime": (row(regime="LEFT OUT"), ", problem 'mine', regime: missing"),
    "an unknown regime": (
        row(regime="open"),
        ", problem 'mine', regime: must be one of full, partial, skeptical, not open",
    ),
    "a regime that is a list": (row(regime=["full"]), ", regime: must be one of full, partial"),
    "an unknown theory": (row(theory="T8"), ", theory: no theory 'T8'; valid choices are T1, TH2, T2"),
    "a theory that is none": (row(theory=3), ", theory: must be a theory's name or an object, not 3"),
    "no worlds": (row(worlds="LEFT OUT"), ", worlds: missing"),
    "worlds that are none": (row(worlds=[]), ", worlds: must be a list of worlds, not []"),
    "holdouts that are none": (row(holdouts={"a": 1}), ", holdouts: must be a list of worlds"),
    "a world's other key": (
        with_world(unknwon={}),
        ", problem 'mine', worlds[0].unknwon: unknown key; did you mean unknown",
    ),
    "no domain": (row(worlds=[{"true": {}}]), ", worlds[0].domain: missing"),
    "no true atoms": (row(worlds=[{"domain": ["b"]}]), ", worlds[0].true: missing"),
    "a world that is none": (row(worlds=["W0"]), ", worlds[0]: must be an object with domain, true, not W0"),
    "a world twice": (
        row(worlds=[{"id": "W1", "domain": ["b"], "true": {}}, {"domain": ["b"], "true": {}}]),
        "worlds[1].id: W1 occurs twice",
    ),
    "an unknown element": (
        with_world(true={"R": [["a0", "a7"]]}),
        ", problem 'mine', worlds[0]: true R: 'a7' is not in the domain",
    ),
    "true and unknown": (
        with_world(unknown={"P": ["a0"]}),
        ", problem 'mine', worlds[0]: P(a0) is both true and unknown",
    ),
    "missing atoms": (
        with_world(false={"P": []}),
        ", problem 'mine', worlds[0]: 1 atoms of P are neither true nor false nor unknown",
    ),
    "unknown in full": (row(regime="full"), ", worlds[0]: unknown atoms, which there are none of"),
    "a holdout's fault": (
        row(holdouts=[{"domain": ["c"], "true": {"T": []}}]),
        ", holdouts[0]: true T: the theory has no predicate 'T'",
    ),
    "a published record": ({"schemaVersion": "abd_holdout_record_v1"}, ": a published record: give"),
    "a theory's other key": (own(axiom=[]), ", theory.axiom: unknown key; did you mean axioms"),
    "no axioms": (own(axioms=[]), ", theory.axioms: none is there"),
    "axioms that are a text": (own(axioms="(P x)"), ", theory.axioms: must be a list of texts"),
    "names that are numbers": (own(names=[1]), ", theory.names: must be a list of texts, not [1]"),
    "an axiom cut short": (own(axioms=["(forall x (Bird x)"]), ", theory: axiom 1: the formula ends"),
    "an open axiom": (own(axioms=["(Ab x)"]), ", theory: axiom 1: 'x' is bound by no quantifier"),
    "an axiom's object": (own(axioms=["(Ab bob)"]), ", theory: axiom 1: names the object 'bob'"),
    "an axiom's arity": (own(axioms=["(exists x (Ab x x))"]), ": Ab takes 1 arguments, not 2"),
    "no Ab": (own(axioms=["(exists x (Bird x))"]), ", theory: no axiom speaks of Ab"),
    "a signature that is none": (own(signature=["Bird"]), ", theory.signature: must be an object of"),
    "arguments that are none": (own(signature={"Bird": "1"}), "'Bird' has '1' arguments; 0 to 3"),
    "too many arguments": (own(signature={"Bird": 4}), "'Bird' has 4 arguments; 0 to 3 can be"),
    "Ab in the signature": (own(signature={"Ab": 1}), ", theory: Ab is what a rule defines"),
    "a name of an operator": (
        own(signature={"not": 1}),
        ", theory: 'not' cannot name a predicate",
    ),
    "a name with a blank": (own(signature={"is bird": 1}), "'is bird' cannot name a predicate"),
    "allowed of nothing": (own(allowed=["Wings"]), ", theory: rules may hold 'Wings', which no world"),
    "allowed that is none": (own(allowed=[["Bird"]]), ", theory.allowed: must be a list of texts"),
}  # fmt: skip


def refused(path: Path) -> str:
    with pytest.raises(DataError) as error:
        load_problems("abd", str(path))
    said = str(error.value).replace(f"{path.parent}/", "")
    assert "\n" not in said and len(said) < 400, said
    return said


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_line_is_named(tmp_path: Path, fault: str) -> None:
    bad, said = FAULTS[fault]
    found = refused(save(tmp_path, row(id="good"), bad))
    assert found.startswith("abd.jsonl, line 2") and said in found, found


@pytest.mark.parametrize(("reference", "said"), [(["(P x)"], "must be a formula, not "),
                                                 ("(and (P x)", "the formula ends too early")])  # fmt: skip
def test_an_unreadable_reference_is_left_out_with_a_warning(
    tmp_path: Path, reference: Any, said: str
) -> None:
    path = save(tmp_path, ROW, row(id=1, reference=reference))
    where = "the reference cannot be read in 1 place and is left out there: line 2, reference: "
    with pytest.warns(DataWarning) as told:
        good, bad = (problem for problem, _ in load_problems("abd", str(path)))
    (sentence,) = [str(one.message) for one in told]
    assert sentence.startswith(f"{path}: {where}{said}")
    assert bad.shown == good.shown and "reference" in good.secret and bad.secret == {}


def test_the_line_of_a_field_in_json_of_many_lines_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    text = json.dumps([row(id="good"), with_world(id=[3])], indent=1)
    path.write_text(text)
    line = 1 + text[: text.rindex('"id": [')].count("\n")
    assert refused(path).startswith(f"f.json, line {line}, problem 'mine', worlds[0].id: must be a")


Damage = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda whole: b"", "abd.json: the file is empty"),
        (lambda whole: b"[]", "abd.json: the file is empty"),
        (lambda whole: whole[:-3], "abd.json, line 1: not JSON: "),
        (lambda whole: whole[:-2] + b',"id": 2}', "abd.json, line 1: the key 'id' occurs twice"),
        (lambda whole: b"\xff" + whole, "abd.json, line 1: not UTF-8 text"),
        (lambda whole: gzip.compress(whole)[:-9], "abd.json, line 1 or after: cannot be read"),
        (lambda whole: b"[" * 100_000, "abd.json, line 1: this JSON cannot be used"),
        (lambda whole: whole.replace(b'"mine"', b"1e999"), "abd.json, line 1, id: 1e999 is larger"),
        (
            lambda whole: whole.replace(b'"mine"', b'"\\ud800"'),
            "abd.json, line 1: the text '\\ud800' has half a character",
        ),
        (lambda whole: b"3", "abd.json, line 1: must be an object with id, regime"),
    ],
)
def test_a_file_that_is_none_is_one_sentence(tmp_path: Path, damage: Damage, said: str) -> None:
    path = tmp_path / "abd.json"
    path.write_bytes(damage(json.dumps(ROW).encode() + b"\n"))
    assert refused(path).startswith(said)


def test_an_id_stands_once(tmp_path: Path) -> None:
    said = refused(save(tmp_path, ROW, row(id=1), row(id="1")))
    assert said == "abd.jsonl, line 3, problem '1', id: 1 occurs twice"


# --- what the documentation shows -------------------------------------------------------


def blocks() -> list[str]:
    return re.findall(
        r"```json (?:neighbours|birds)\.json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.S
    )


@pytest.mark.parametrize("number", range(2))
def test_an_example_of_the_documentation_is_read(tmp_path: Path, number: int) -> None:
    assert len(blocks()) == 2
    path = tmp_path / "abd.json"
    path.write_text(blocks()[number])
    ((problem, space),) = load_problems("abd", str(path))
    assert len(space) > 0 and _cost_of_reference(problem) >= 1


def _cost_of_reference(problem: Problem) -> int:
    theory = theory_from_json(problem.public["theory"])
    worlds = tuple(parse_world(pair.input, theory.signature, "") for pair in problem.shown)
    rule = parse_formula(problem.secret["reference"], theory.predicates)
    worths = PreparedWorlds(theory, worlds, problem.public["theory"]["regime"]).judge(rule)
    assert all(worth.valid for worth in worths)
    return sum(worth.cost or 0 for worth in worths)
