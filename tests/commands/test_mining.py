"""Rules that sessions of a store proposed, which new problems can be made against.

Internals: the rules are read from the store alone, before any problem is drawn.
"""

from __future__ import annotations

import json
from pathlib import Path

import peirce
from peirce.agents.scripted import ScriptedProposer
from peirce.commands.data.generating import answered_rules

RULE = "(and (exists y (and (R x y) (P y))) (= x x))"


def test_rules_of_a_store_are_mined_by_their_theory(tmp_path: Path) -> None:
    world = {"id": "W0", "domain": ["a0", "a1"], "true": {"P": ["a1"], "R": [["a0", "a1"]]}}
    one = {"id": "own", "regime": "full", "theory": "T1", "worlds": [world]}
    (tmp_path / "worlds.json").write_text(json.dumps([one]))
    store = tmp_path / "a.duckdb"
    said = ScriptedProposer([json.dumps({"formula": RULE, "description": "a rule"}), "no rule"])
    peirce.run("abd", data=tmp_path / "worlds.json", model=said, store=store, max_answers=2)
    assert answered_rules(store, "logic") == {"T1": [RULE]}
