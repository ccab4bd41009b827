"""A tiny data set in the published form: an instance of each regime, and holdouts of two."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

ELEMENTS = ["a0", "a1", "a2"]
NEIGHBOURS = "(exists y (and (R x y) (P y)))"


def world(name: str, unknown: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    """a0 has the neighbour a1 in P, and is not in Q: it breaks T1."""
    predicates = {
        "P": {"true": ["a1"]},
        "Q": {"true": ["a2"]},
        "R": {"true": ["(a0, a1)", "(a2, a1)"]},
        "S": {"true": []},
    }
    made = {"worldId": name, "domain": ELEMENTS, "predicates": predicates, "optCost": 1, **other}
    return copy.deepcopy(made | ({} if unknown is None else {"unknownAtoms": unknown}))


FALSE = {
    "P": ["a0", "a2"],
    "Q": ["a0", "a1"],
    "R": ["(a0, a0)", "(a0, a2)", "(a1, a0)", "(a1, a1)", "(a1, a2)", "(a2, a0)", "(a2, a2)"],
    "S": [f"({one}, {other})" for one in ELEMENTS for other in ELEMENTS],
}


def with_false(made: dict[str, Any]) -> dict[str, Any]:
    for name, some in FALSE.items():
        made["predicates"][name]["false"] = list(some)
    return made


def instance(name: str, scenario: str, theory: str, *worlds: dict[str, Any]) -> dict[str, Any]:
    axiom = f"(forall x (implies (and {NEIGHBOURS} (not (Ab x))) (Q x)))"
    return {
        "schemaVersion": "abd_benchmark_record_v1",
        "instanceId": name,
        "problemDescription": {"scenario": scenario, "difficulty": "easy"},
        "problem": {
            "schemaVersion": "abd_problem_v1",
            "instanceId": name,
            "scenario": scenario,
            "theoryId": theory,
            "axioms": [axiom],
            "allowedAlphaPreds": ["S"],
            "gold": {"alpha": NEIGHBOURS, "totalGoldAlphaCost": 2},
            "trainWorlds": list(worlds),
        },
    }


def instances() -> list[dict[str, Any]]:
    pairs, texts = {"S": [["a0", "a1"]], "P": []}, {"R": ["(a1, a1)"], "S": ["(a0, a1)"]}
    return [
        instance("FULL", "ABD_FULL", "TH2", with_false(world("W0")), world("W1")),
        instance("PARTIAL", "ABD_PARTIAL", "TH2", world("W0", pairs, optCost=None)),
        instance("SKEPTICAL", "ABD_SKEPTICAL", "TH2", world("W0", texts, isHeldout=False)),
    ]


def holdout(name: str, number: int, status: str = "success", **other: Any) -> dict[str, Any]:
    scenario = f"ABD_{name}"
    return {
        "instanceId": name,
        "scenario": scenario,
        "theoryId": "TH2",
        "holdoutIdx": number,
        "world": world(f"H{9 - number}", {} if name == "FULL" else {"S": [["a2", "a2"]]}),
        "meta": {"status": status},
        **other,
    }


def holdouts() -> list[dict[str, Any]]:
    return [
        holdout("PARTIAL", 0),
        holdout("FULL", 0),
        holdout("PARTIAL", 1),
        holdout("PARTIAL", 2, "failed"),
        holdout("PARTIAL", 3, world={}),
        holdout("ELSEWHERE", 0),
    ]


def save(path: Path, text: str) -> Path:
    """Packed where the name says so."""
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path


def yaml_of(records: Any) -> str:
    """As published: by PyYAML's dumper, with anchors."""
    import yaml

    return yaml.safe_dump(records, sort_keys=False)


def save_instances(folder: Path, records: Any = None, name: str = "abd_instances_v1.yaml") -> Path:
    return save(folder / name, yaml_of(instances() if records is None else records))


def save_holdouts(folder: Path, rows: Any = None, name: str = "abd_holdouts_v1.jsonl") -> Path:
    rows = holdouts() if rows is None else rows
    return save(folder / name, "".join(json.dumps(row) + "\n" for row in rows))
