"""Rules that must not do as well as the reference (ABD, appendices D.3 and D.4).

The pool: all templates of tiers 0 and 1 over the theory's predicates with "all" and "none", up to
ten mutants of the reference, and formulas mined from earlier answers. A rule that covers the same
elements as the reference in all of some random worlds is no competitor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from ....tools.logic.formula import Formula, written
from ....tools.logic.reading import read_formula
from ....tools.logic.rules import Rule, read_rule
from ....tools.logic.sampling import Stream
from ....tools.logic.tables import TooWide
from ....tools.logic.theories import PUBLISHED, SIGNATURE, Theory
from .drawing import Drawn, draw
from .mutants import mutants
from .recipes import recipe
from .templates import library, templates_of

MOST_MUTANTS = 10
MOST_MINED = 40
MOST_MINED_SIZE = 60  # AST; what is longer is no shortcut
PROBES = 96


class Competitor(NamedTuple):
    """kind: "tier0", "tier1", "mined" or "mutant"."""

    id: str
    kind: str
    formula: Formula


@cache
def probes() -> Drawn:
    """Random worlds to tell rules apart by."""
    return draw(Stream("abd probes"), recipe("full", "easy"), PROBES)


@lru_cache(maxsize=20_000)
def behaviour(formula: Formula) -> bytes:
    """What a rule covers in the probes. Raises `TooWide`."""
    return np.packbits(probes().extent(formula)).tobytes()


@cache
def simple(theory_name: str) -> tuple[Competitor, ...]:
    """Of a published theory: tiers 0 and 1."""
    theory = next(one for one in PUBLISHED.values() if theory_name in one.names)
    constants = (("t0-all", "(= x x)"), ("t0-none", "(not (= x x))"))
    made = [
        Competitor(name, "tier0", read_formula(text, tuple(SIGNATURE))) for name, text in constants
    ]
    for tier in (0, 1):
        made += [
            Competitor(one.id, f"tier{tier}", one.formula) for one in templates_of(theory, tier)
        ]
    return tuple(made)


def pool(
    theory: Theory, reference: Formula, stream: Stream, mined: Sequence[Formula] = ()
) -> list[Competitor]:
    """All that compete with the reference, no two alike."""
    changed = mutants(reference, theory)
    drawn = [changed[place] for place in stream.shuffled(len(changed))]
    some = [Competitor(f"mined-{place}", "mined", one) for place, one in enumerate(mined)]
    seen = {behaviour(reference)}
    kept = []
    for one in (*simple(theory.names[0]), *some):
        if _new(one.formula, seen):
            kept.append(one)
    count = 0
    for formula in drawn:
        if count < MOST_MUTANTS and _new(formula, seen):
            kept.append(Competitor(f"mutant-{count}", "mutant", formula))
            count += 1
    return kept


def _new(formula: Formula, seen: set[bytes]) -> bool:
    found = behaviour(formula)
    if found in seen:
        return False
    seen.add(found)
    return True


def mined_rules(texts: Sequence[str], theory: Theory) -> list[Formula]:
    """The shortest of the texts that are rules of the theory, so many as are mined; what the
    library has already is left out."""
    known = {one.formula for one in library()}
    found: dict[Formula, None] = {}
    for text in texts:
        read = read_rule(text, theory)
        if isinstance(read, Rule) and read.formula.size <= MOST_MINED_SIZE:
            found.setdefault(read.formula)
    kept = []
    for formula in sorted(found, key=lambda one: (one.size, written(one))):
        try:
            behaviour(formula)
        except TooWide:
            continue
        if formula not in known:
            kept.append(formula)
    return kept[:MOST_MINED]
