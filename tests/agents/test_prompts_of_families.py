"""What a prompt says of rules about worlds, and of a task of a user's own.

Internals: the messages are composed from a problem alone, without a session that sends them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from peirce.agents.prompts.protocol import build_messages
from peirce.records import InputSet, Observation, Problem
from peirce.tasks import problem_family
from peirce.tools.logic import PUBLISHED_THEORIES

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks"))
from own_files import WHOLE, load

NO_SPACE = InputSet("none", ())
BIRD = {"id": "W0", "domain": ["a0", "a1", "a2"],
        "true": {"P": [["a1"]], "R": [["a0", "a1"], ["a2", "a1"]], "Q": [["a2"]]}}  # fmt: skip
OPEN = {"id": "W1", "domain": ["a0", "a1"],
        "true": {"P": [["a1"]]}, "unknown": {"R": [["a0", "a1"]]}}  # fmt: skip
HELD = {"id": "H0", "domain": ["a0", "a1"],
        "true": {"P": [["a1"]]}, "unknown": {"R": [["a1", "a1"]]}}  # fmt: skip


def problem(regime: str = "skeptical", name: str = "TH2") -> Problem:
    shown = (BIRD,) if regime == "full" else (BIRD, OPEN)
    return Problem(
        "birds", "abd", "logic",
        tuple(Observation(one, True) for one in shown), (Observation(HELD, True),),
        {"theory": {**PUBLISHED_THEORIES[name].as_json(), "regime": regime}},
        {"reference": "(exists y (R x y))", "reference_cost": 3, "bounds": [1, 0],
         "hidden_bounds": [0]},
        "birds",
    )  # fmt: skip


def test_a_prompt_has_the_task_s_own_words(tmp_path):
    ((problem, space),) = load(tmp_path, WHOLE)
    words = problem_family(problem).words
    (message,) = build_messages(problem.make_view(space), words, answer_format="tuple")
    text = message["content"]
    assert text.startswith("A gauge turns a length into a reading.")
    assert "2: 2 cm reads 0.8" in text and "3.9" not in text
    assert "numbers are rounded to 1 decimals" in text


@pytest.mark.parametrize("regime", ["full", "partial", "skeptical"])
def test_a_prompt_says_role_semantics_scope_theory_worlds_and_form_and_no_holdout(regime):
    one = problem(regime)
    family = problem_family(one)
    (message,) = build_messages(
        one.make_view(NO_SPACE), family.words, answer_format="json", tools=True
    )
    text = message["content"]
    said = {
        "full": "known completely",
        "partial": "there is a completion",
        "skeptical": "in every completion",
    }
    assert [word for word in said.values() if word in text] == [said[regime]]
    for part in (
        "alpha may use: P, R, S and =.", "alpha may not use: Q, Ab.",
        "(forall x (implies (and (exists y (and (R x y) (P y))) (not (Ab x))) (Q x)))",
        "World W0: elements a0 a1 a2", "true R: (a0, a1) (a2, a1)", "true P: a1",
    ):  # fmt: skip
        assert part in text
    assert ("unknown R: (a0, a1)" in text) == (regime != "full")
    assert "H0" not in text and "(exists y (R x y))" not in text  # holdout, reference
    validity, cost, size = (
        text.index(aim) for aim in ("1. alpha is valid", "2. the sum", "3. the")
    )
    assert validity < cost < size
