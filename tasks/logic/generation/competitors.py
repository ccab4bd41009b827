"""Rules that must do worse than the reference rule of an instance (ABD, appendices D.3 and D.4).

The competitors are all templates of tiers 0 and 1 over the theory's predicates, the rules that mark
all or no elements, up to ten mutants of the reference, and formulas from earlier answers. A rule
that marks the same elements as the reference in a fixed set of random worlds is not a competitor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from ....tools.logic.evaluation import TableTooLarge
from ....tools.logic.formula import Formula, format_sexpr
from ....tools.logic.parser import parse_formula
from ....tools.logic.rules import Rule, read_rule
from ....tools.logic.sampling import RandomStream
from ....tools.logic.theories import PUBLISHED_THEORIES, SIGNATURE, Theory
from .mutants import mutants
from .random_worlds import WorldTables, draw_worlds
from .recipes import get_recipe
from .templates import template_library, templates_in_tier

MAX_MUTANTS = 10
MAX_MINED = 40
MAX_MINED_SIZE = 60  # AST nodes; a longer rule is no shortcut
PROBES = 96  # random worlds


class Competitor(NamedTuple):
    """A rule that must do worse than the planted rule in the prompt worlds of an instance.

    Args:
        id: the name of the competitor.
        kind: "tier0" (a library rule without quantifiers, or a rule that marks all or no elements),
            "tier1" (a library rule with one quantifier), "mined" (a rule from an earlier answer) or
            "mutant" (a small change of the planted rule).
        formula: the rule.
    """

    id: str
    kind: str
    formula: Formula


@cache
def probe_worlds() -> WorldTables:
    """Return a fixed set of random worlds, on which rules are compared by the elements they mark."""
    return draw_worlds(RandomStream("abd probes"), get_recipe("full", "easy"), PROBES)


@lru_cache(maxsize=20_000)
def behaviour(formula: Formula) -> bytes:
    """Return the elements that a rule marks in the fixed worlds of `probe_worlds`, encoded as
    bytes.

    Two rules with equal bytes are treated as the same rule.

    Raises:
        TableTooLarge: the formula needs too much memory.
    """
    return np.packbits(probe_worlds().extent(formula)).tobytes()


@cache
def simple_competitors(theory_name: str) -> tuple[Competitor, ...]:
    """Return the competitors with at most one quantifier for a published theory.

    They are rules of the template library, a rule that marks all elements, and a rule that marks
    none.
    """
    theory = next(one for one in PUBLISHED_THEORIES.values() if theory_name in one.names)
    constants = (("t0-all", "(= x x)"), ("t0-none", "(not (= x x))"))
    made = [
        Competitor(name, "tier0", parse_formula(text, tuple(SIGNATURE))) for name, text in constants
    ]
    for tier in (0, 1):
        made += [
            Competitor(one.id, f"tier{tier}", one.formula)
            for one in templates_in_tier(theory, tier)
        ]
    return tuple(made)


def build_pool(
    theory: Theory, reference: Formula, stream: RandomStream, mined: Sequence[Formula] = ()
) -> list[Competitor]:
    """Return the competitors of a planted rule.

    No two competitors mark the same elements in the worlds of `probe_worlds`.

    Args:
        theory: the theory.
        reference: the planted rule.
        stream: the source of random numbers.
        mined: rules from earlier answers, which become competitors.
    """
    changed = mutants(reference, theory)
    drawn = [changed[place] for place in stream.permutation(len(changed))]
    some = [Competitor(f"mined-{place}", "mined", one) for place, one in enumerate(mined)]
    seen = {behaviour(reference)}
    kept = []
    for one in (*simple_competitors(theory.names[0]), *some):
        if _new(one.formula, seen):
            kept.append(one)
    count = 0
    for formula in drawn:
        if count < MAX_MUTANTS and _new(formula, seen):
            kept.append(Competitor(f"mutant-{count}", "mutant", formula))
            count += 1
    return kept


def _new(formula: Formula, seen: set[bytes]) -> bool:
    found = behaviour(formula)
    if found in seen:
        return False
    seen.add(found)
    return True


def select_mined_rules(texts: Sequence[str], theory: Theory) -> list[Formula]:
    """Return the shortest valid rules in `texts` as formulas, at most `MAX_MINED`.

    Texts that are not rules of the theory, and rules of the template library, are left out.
    """
    known = {one.formula for one in template_library()}
    found: dict[Formula, None] = {}
    for text in texts:
        read = read_rule(text, theory)
        if isinstance(read, Rule) and read.formula.size <= MAX_MINED_SIZE:
            found.setdefault(read.formula)
    kept = []
    for formula in sorted(found, key=lambda one: (one.size, format_sexpr(one))):
        try:
            behaviour(formula)
        except TableTooLarge:
            continue
        if formula not in known:
            kept.append(formula)
    return kept[:MAX_MINED]
