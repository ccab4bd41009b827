"""The template library: at least 40, each in its tier and in scope of a theory, no two alike.

Internals: the library of templates is of the generator alone.
"""

from __future__ import annotations

from collections import Counter

from peirce.tasks.logic.generation.competitors import behaviour
from peirce.tasks.logic.generation.templates import template_library, templates_in_tier
from peirce.tools.logic import FREE, PUBLISHED_THEORIES, Rule, format_sexpr, read_rule


def test_there_are_more_than_forty_for_planting() -> None:
    tiers = Counter(one.tier for one in template_library())
    assert tiers[1] + tiers[2] + tiers[3] > 200 and min(tiers[2], tiers[3]) >= 40
    assert len({one.id for one in template_library()}) == len(template_library())


def test_each_is_a_rule_of_some_theory() -> None:
    for one in template_library():
        assert any(
            isinstance(read_rule(one.text, theory), Rule) for theory in PUBLISHED_THEORIES.values()
        )
        assert one.formula.free == {FREE} and not one.formula.objects, one.id
        assert format_sexpr(one.formula).count("(") >= one.text.count("(")


def test_each_has_the_quantifier_depth_of_its_tier() -> None:
    for one in template_library():
        depths = {0: (0,), 1: (1,), 2: (2,), 3: (2, 3)}[one.tier]
        assert one.formula.depth in depths, one.id


def test_no_two_cover_the_same_elements_of_random_worlds() -> None:
    found = Counter(behaviour(one.formula) for one in template_library())
    assert max(found.values()) == 1


def test_theories_take_what_they_allow_and_have_enough() -> None:
    for theory in PUBLISHED_THEORIES.values():
        for tier in (1, 2, 3):
            some = templates_in_tier(theory, tier)
            assert len(some) >= 20, (theory.title, tier)
            assert all(one.formula.predicates <= theory.allowed for one in some)
            assert all(one.formula.predicates & {"R", "S"} for one in some)


def test_the_antecedent_is_valid_everywhere_and_is_found() -> None:
    said = {code: format_sexpr(theory.antecedent) for code, theory in PUBLISHED_THEORIES.items()}
    assert said["TH10"] == "(exists y (and (S x y) (P y)))" and said["TH3"] == "(P x)"
