"""Rules planted in a user's worlds: everyone has a badge, except those of whom the rule holds.

Internals: candidates and their order are examined in this process.
"""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np
import pytest
from peirce.search.logic.ranking import TRADE_OFFS, CandidateRules, Ranking
from peirce.tools.logic import (
    PreparedWorlds,
    World,
    format_sexpr,
    parse_formula,
    parse_world,
)

from .logic_problems import answered, default, found_of, generated

SIGNATURE = {"Badge": 1, "Contractor": 1, "Remote": 1, "ReportsTo": 2, "Mentors": 2, "Person": 1}
ALLOWED = "Contractor Remote ReportsTo Mentors"
THEORY = default("(Person x)", "(Badge x)", SIGNATURE, ALLOWED)
CONTRACTORS = "(or (Contractor x) (exists y (and (ReportsTo x y) (Contractor y))))"
RULES = (
    CONTRACTORS,
    "(or (Remote x) (exists y (and (Mentors x y) (Contractor y))))",
    "(and (Contractor x) (exists y (and (Mentors x y) (Remote y))))",
    "(or (exists y (and (ReportsTo x y) (Remote y))) (exists y (and (Mentors x y) (Contractor y))))",
)


@lru_cache(maxsize=64)
def planted(rule: str, seed: int, worlds: int = 5) -> tuple[World, ...]:
    """Worlds of six to twelve people, each with a superior, in which the rule is exactly right."""
    draw, found = random.Random(f"{rule} {seed}"), []
    formula = parse_formula(rule, THEORY.predicates)
    while len(found) < worlds:
        names = [f"e{place}" for place in range(draw.randint(6, 12))]
        true = {
            "Person": names,
            "Contractor": [one for one in names if draw.random() < 0.25],
            "Remote": [one for one in names if draw.random() < 0.25],
            "ReportsTo": [[one, draw.choice(names[:place])] for place, one in enumerate(names) if place],
            "Mentors": [[a, b] for a in names for b in names if a != b and draw.random() < 0.15],
        }  # fmt: skip
        name = f"W{len(found)}"
        blank = parse_world({"id": name, "domain": names, "true": true}, SIGNATURE, "")
        marks = PreparedWorlds(THEORY, (blank,), "full").extension(formula)[0]
        if 1 <= marks.sum() <= 6:
            badges = [one for one, marked in zip(names, marks, strict=False) if not marked]
            world = {"id": name, "domain": names, "true": {**true, "Badge": badges}}
            found.append(parse_world(world, SIGNATURE, ""))
    return tuple(found)


def marks_of(worlds: tuple[World, ...], text: str) -> list:
    prepared = PreparedWorlds(THEORY, worlds, "full")
    return prepared.extension(parse_formula(text, THEORY.predicates)).tolist()


@pytest.mark.parametrize("seed", (1, 2))
@pytest.mark.parametrize("rule", RULES)
def test_a_planted_rule_is_the_first_answer(rule: str, seed: int) -> None:
    """Told by what it marks in further worlds of its kind."""
    found = answered(THEORY, planted(rule, seed), "full", budget=150_000)["source"]
    further = planted(rule, 1_000 + seed, 20)
    assert marks_of(further, found) == marks_of(further, rule), found


def test_a_planted_rule_is_a_first_answer_where_more_than_three_break_the_theory() -> None:
    """The further worlds have as many exceptions as the prompt worlds."""
    worlds = tuple(
        one for one in planted(CONTRACTORS, 7, 40) if len(one.names) - len(one.true["Badge"]) > 3
    )[:4]
    found = CandidateRules(PreparedWorlds(THEORY, worlds, "full"), "many", 150_000)
    first = next(iter(Ranking(found, TRADE_OFFS["balanced"])))
    assert found.validity_odds.released.any()
    assert format_sexpr(first.formula) in (
        CONTRACTORS,
        "(or (exists y (and (ReportsTo x y) (Contractor y))) (Contractor x))",
    )


@pytest.mark.parametrize("name", TRADE_OFFS)
def test_no_exact_rule_precedes_the_smallest_exact_one(name: str) -> None:
    """A larger one says the same of the prompt worlds."""
    some = [found_of(p.id) for p in generated() if p.public["theory"]["regime"] == "full"]
    some.append(
        CandidateRules(PreparedWorlds(THEORY, planted(CONTRACTORS, 0, 1), "full"), "", 20_000)
    )
    for found in some:
        ranked = list(Ranking(found, TRADE_OFFS[name]))
        exact = [one.formula.size for one in ranked if one.cost == found.bound]
        assert exact[:1] == ([min(exact)] if exact else [])
    assert len(exact) > 10 and np.ptp(exact) > 0, "the last one has some of several sizes"
