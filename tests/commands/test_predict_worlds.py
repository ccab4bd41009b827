"""`predict` for rules about worlds: what it says of an element is what a search of all completions says.

The model checker here shares nothing with the package: it reads S-expressions and tries every
completion of a world.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.agents.scripted import ScriptedProposer
from peirce.records import DataError

SIGNATURE = {"Bird": 1, "Flies": 1, "Polar": 1, "Child": 2}
AXIOM = "(forall x (implies (and (Bird x) (not (Ab x))) (Flies x)))"
THEORY = {"names": ["birds fly"], "axioms": [AXIOM], "signature": SIGNATURE,
          "allowed": ["Polar", "Child", "Bird"]}  # fmt: skip
SHOWN = {
    "domain": ["tux", "pip", "jay"],
    "true": {"Bird": ["tux", "pip", "jay"], "Flies": ["jay"], "Polar": ["tux"],
             "Child": [["pip", "tux"]]},
}  # fmt: skip
RULES = (
    "(or (Polar x) (exists y (and (Child x y) (Polar y))))",
    "(or (Polar x) (exists y (Child x y)))",
    "(Bird x)",
    "(or (Polar x) (forall y (implies (Child y x) (Polar y))))",
    "(Polar x)",  # inconsistent: it leaves pip
    "(iff (exists y (or (Child x y) (Child y x))) (Bird x))",
)
REGIMES = ("full", "partial", "skeptical")
NAMES = {frozenset({False}): "no exception", frozenset({True}): "an exception",
         frozenset({False, True}): "an exception in some completions"}  # fmt: skip


# --- the model checker ----------------------------------------------------------------


def parse(text: str) -> Any:
    words = iter(text.replace("(", " ( ").replace(")", " ) ").split())

    def read(word: str) -> Any:
        return list(iter(lambda: read_next(), None)) if word == "(" else word

    def read_next() -> Any:
        word = next(words)
        return None if word == ")" else read(word)

    return read(next(words))


def holds(tree: Any, atoms: set[tuple[str, ...]], domain: list[str], env: dict[str, str]) -> bool:
    head, *parts = tree

    def is_true(part: Any, **more: str) -> bool:
        return holds(part, atoms, domain, {**env, **more})

    if head == "and":
        return all(is_true(part) for part in parts)
    if head == "or":
        return any(is_true(part) for part in parts)
    if head == "not":
        return not is_true(parts[0])
    if head == "implies":
        return not is_true(parts[0]) or is_true(parts[1])
    if head == "iff":
        return is_true(parts[0]) == is_true(parts[1])
    if head in ("exists", "forall"):
        each = (is_true(parts[1], **{parts[0]: one}) for one in domain)
        return any(each) if head == "exists" else all(each)
    return (head, *(env[part] for part in parts)) in atoms


def completions(world: dict[str, Any]) -> Iterator[set[tuple[str, ...]]]:
    def atoms(part: str) -> list[tuple[str, ...]]:
        listed = world.get(part, {})
        return [(name, *([one] if isinstance(one, str) else one))
                for name in listed for one in listed[name]]  # fmt: skip

    unknown = atoms("unknown")
    for size in range(len(unknown) + 1):
        for chosen in itertools.combinations(unknown, size):
            yield {*atoms("true"), *chosen}


def judge(rule: str, world: dict[str, Any], regime: str) -> tuple[bool, int | None, dict[str, str]]:
    """Return whether a rule is valid, its cost, and what it says of each element."""
    tree, axiom, domain = parse(rule), parse(AXIOM), world["domain"]
    covered: dict[str, set[bool]] = {name: set() for name in domain}
    repaired: list[tuple[bool, int]] = []
    for atoms in completions(world):
        exceptions = [name for name in domain if holds(tree, atoms, domain, {"x": name})]
        for name in domain:
            covered[name].add(name in exceptions)
        both = atoms | {("Ab", name) for name in exceptions}
        repaired.append((holds(axiom, both, domain, {}), len(exceptions)))
    costs = [cost for valid, cost in repaired if valid]
    valid = len(costs) == len(repaired) if regime == "skeptical" else bool(costs)
    cost = (max if regime == "skeptical" else min)(costs) if valid else None
    return valid, cost, {name: NAMES[frozenset(seen)] for name, seen in covered.items()}


def random_world(draw: random.Random, number: int, regime: str) -> dict[str, Any]:
    domain = [f"e{place}" for place in range(draw.randrange(1, 4))]
    atoms = [(name, list(at)) for name, places in SIGNATURE.items()
             for at in itertools.product(domain, repeat=places)]  # fmt: skip
    world: dict[str, Any] = {"id": f"N{number}", "domain": domain, "true": {}, "unknown": {}}
    for name, at in atoms:
        chance = draw.random()
        if chance < 0.45:
            world["true"].setdefault(name, []).append(at)
        elif chance < 0.65 and regime != "full":
            world["unknown"].setdefault(name, []).append(at)
    if regime == "full":
        del world["unknown"]
    return world


# --- the tests ------------------------------------------------------------------------


def problem(regime: str, worlds: list[Any], name: str = "birds") -> dict[str, Any]:
    return {"id": name, "regime": regime, "theory": THEORY, "worlds": worlds}


@functools.cache
def stored_rules(regime: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return _run_rules(Path(folder), regime).read_bytes()


def run_rules(folder: Path, regime: str) -> Path:
    """A copy of the store of a session with `RULES`, which is run once for each regime."""
    store = folder / "worlds.duckdb"
    store.write_bytes(stored_rules(regime))
    return store


def _run_rules(folder: Path, regime: str) -> Path:
    (folder / "birds.json").write_text(json.dumps(problem(regime, [SHOWN])))
    answers = [json.dumps({"formula": rule, "description": "a rule"}) for rule in RULES]
    store = folder / "worlds.duckdb"
    peirce.run("abd", data=folder / "birds.json", model=ScriptedProposer(answers), method="abduce",
               max_answers=len(RULES), store=store)  # fmt: skip
    return store


def consistent_rules(store: Path) -> list[str]:
    rows = peirce.show("last", "birds", store=store)
    return [str(row.hypothesis) for row in rows if row.verdict in ("accepted", "redundant")]


@pytest.mark.parametrize("regime", REGIMES)
def test_elements_validity_cost_and_agreement_are_those_of_all_completions(tmp_path, regime):
    store = run_rules(tmp_path, regime)
    draw = random.Random(f"worlds {regime}")
    worlds = [random_world(draw, number, regime) for number in range(60)]
    (tmp_path / "new.json").write_text(json.dumps(problem(regime, worlds)))
    rows = list(peirce.predict("last", tmp_path / "new.json", store=store))
    rules = consistent_rules(store)
    assert len(rules) >= 3
    best = rows[0].rule
    assert best in rules and {row.rule for row in rows} == {best}
    at = iter(rows)
    seen = set()
    for world in worlds:
        valid, cost, said = judge(best, world, regime)
        others = [judge(rule, world, regime)[2] for rule in rules]
        for name in world["domain"]:
            row = next(at)
            assert (row["world"], row["element"]) == (world["id"], name)
            assert (row["valid"], row["cost"]) == (valid, cost)
            assert row.prediction == said[name] and "expected" not in row
            share = sum(one[name] == said[name] for one in others) / len(others)
            assert row.agreement == pytest.approx(share)
            seen |= {(row.prediction, row["valid"])}
    assert next(at, None) is None
    assert len(seen) >= (2 if regime == "full" else 3)  # the worlds are no trivial ones


def test_worlds_alone_have_the_theory_and_regime_of_the_bank(tmp_path):
    store = run_rules(tmp_path, "full")
    worlds = [random_world(random.Random(n), n, "full") for n in range(5)]
    whole, lines, one_list = (tmp_path / name for name in ("whole.json", "new.jsonl", "list.json"))
    whole.write_text(json.dumps(problem("full", worlds, "other name")))
    lines.write_text("".join(json.dumps(world) + "\n" for world in worlds))
    one_list.write_text(json.dumps(worlds))
    found = [list(peirce.predict("last", path, store=store)) for path in (whole, lines, one_list)]
    assert found[0] == found[1] == found[2] and len(found[0]) > 5
    (tmp_path / "one.json").write_text(json.dumps(worlds[0]))
    alone = list(peirce.predict("last", tmp_path / "one.json", store=store))
    assert alone == found[0][: len(alone)] and alone


def test_the_regime_is_that_of_the_file(tmp_path):
    store = run_rules(tmp_path, "full")
    world = {"domain": ["tux"], "true": {"Bird": ["tux"]}, "unknown": {"Polar": ["tux"]}}
    (tmp_path / "new.json").write_text(json.dumps(problem("partial", [world])))
    (row,) = peirce.predict("last", tmp_path / "new.json", store=store)
    valid, cost, said = judge(row.rule, world, "partial")
    assert (row["valid"], row["cost"], row.prediction) == (valid, cost, said["tux"])
    with pytest.raises(DataError, match="unknown atoms, which there are none of in the full"):
        (tmp_path / "bare.jsonl").write_text(json.dumps(world))
        peirce.predict("last", tmp_path / "bare.jsonl", store=store)


def test_a_bank_in_a_file_and_an_output_file(tmp_path):
    store = run_rules(tmp_path, "full")
    bank, data, out = (tmp_path / name for name in ("bank.json", "new.jsonl", "out.csv"))
    peirce.bank("last", out=bank, store=store)
    data.write_text(json.dumps(random_world(random.Random(3), 0, "full")))
    rows = list(peirce.predict("last", data, store=store))
    assert list(peirce.predict(bank, data)) == rows
    written = peirce.predict(bank, data, out=out)
    assert written.columns == [
        "world",
        "element",
        "prediction",
        "agreement",
        "rule",
        "valid",
        "cost",
    ]
    assert len(out.read_text().splitlines()) == 1 + len(rows)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"domain": ["a"], "true": {"Bird": ["b"]}}', r"line 1, problem 'birds', worlds\[0\]"),
        ('{"domain": ["a"], "true": {"P": ["a"]}}', "the theory has no predicate 'P'"),
        ('{"input": {"domain": ["a"], "true": {}}}', "line 1"),
        ("[1, 2]", "must be an object with id, regime, theory, worlds"),
        ("", "is empty"),
    ],
)
def test_bad_worlds_are_one_sentence(tmp_path, content, said):
    store = run_rules(tmp_path, "full")
    (tmp_path / "new.jsonl").write_text(content)
    with pytest.raises(DataError, match=said):
        peirce.predict("last", tmp_path / "new.jsonl", store=store)


def test_another_theory_is_refused(tmp_path):
    store = run_rules(tmp_path, "full")
    other = {**problem("full", [{"domain": ["a"], "true": {}}]), "theory": "T1"}
    (tmp_path / "new.json").write_text(json.dumps(other))
    with pytest.raises(DataError, match="'T1 / TH2' has other axioms or predicates"):
        peirce.predict("last", tmp_path / "new.json", store=store)


@pytest.mark.parametrize("name", ["new.csv", "new.parquet", "new.xlsx"])
def test_a_table_is_refused_without_naming_the_command_of_another_purpose(tmp_path, name):
    store = run_rules(tmp_path, "full")
    (tmp_path / name).write_text("domain\na\n")
    with pytest.raises(DataError, match=r"this is a table.*give a file of worlds") as refused:
        peirce.predict("last", tmp_path / name, store=store)
    assert "peirce run" not in str(refused.value)


def test_a_predicate_that_new_worlds_do_not_mention_is_named(tmp_path, recwarn):
    store = run_rules(tmp_path, "full")
    told = {name: [] for name in SHOWN["true"]}
    omitted = next(iter(told))
    rest = {name: atoms for name, atoms in told.items() if name != omitted}
    for number, true in enumerate((told, rest)):
        world = {"domain": ["a"], "true": true}
        for form, content in (("alone", [world]), ("problem", problem("full", [world]))):
            data = tmp_path / f"{form}{number}.json"
            data.write_text(json.dumps(content))
            recwarn.clear()
            list(peirce.predict("last", data, store=store))
            said = [str(one.message) for one in recwarn]
            assert any(f"no world mentions {omitted}, so" in one for one in said) == (true == rest)
