"""The template library: rules that instances are planted with, in tiers by quantifier depth.

Tier 0 has no quantifier, tier 1 one, tier 2 two nested steps, tier 3 three of them or counts
(exactly two, one only, two different ones). A theory takes the templates over its allowed
predicates. The published library is not public; these are the shapes of graded modal logic over R
and S, and some coincide with references of the published instances.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ....tools.logic.formula import Formula
from ....tools.logic.reading import read_formula
from ....tools.logic.theories import SIGNATURE, Theory
from .shapes import (
    Shape,
    back,
    both,
    closed,
    either,
    every,
    exactly_two,
    has,
    loop,
    meeting,
    no,
    one_only,
    shared,
    some,
    two,
)


class Template(NamedTuple):
    """family: the predicates that stand in it, in order."""

    id: str
    tier: int
    text: str
    formula: Formula

    @property
    def family(self) -> str:
        return "".join(sorted(self.formula.predicates))


_P, _Q, _NOT_P, _NOT_Q = has("P"), has("Q"), no(has("P")), no(has("Q"))
_OTHER = {"R": "S", "S": "R"}


def _tier_0() -> list[Shape]:
    plain = [_P, _Q, loop("R"), loop("S")]
    return [
        *plain, *map(no, plain), both(_P, _Q), both(_P, _NOT_Q), both(_NOT_P, _Q), either(_P, _Q),
        *(both(_P, loop(r)) for r in "RS"), *(both(_P, no(loop(r))) for r in "RS"),
    ]  # fmt: skip


def _tier_1() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        made += [some(r), no(some(r)), some(f"{r}-"), no(some(f"{r}-")), back(r), back(r, _P)]
        for p in (_P, _Q):
            made += [
                some(r, p), some(r, no(p)), every(r, p), every(r, no(p)), some(f"{r}-", p),
                both(some(r), every(r, p)), every(f"{r}-", p), both(p, some(r)), both(no(p), some(r)),
            ]  # fmt: skip
        made += [
            both(_P, some(r, _P)), both(_P, some(r, _NOT_P)), both(_NOT_P, some(r, _P)),
            both(_NOT_P, some(r, _NOT_P)), both(_P, every(r, _P)), both(_P, some(f"{r}-", _P)),
            both(some(r, _P), some(r, _NOT_P)), both(_Q, some(r, _P)), both(_P, some(r, _Q)),
            some(r, both(_P, _Q)), some(r, both(_P, loop(r))),
        ]  # fmt: skip
    return [*made, both(some("R"), some("S")), both(some("R", _P), some("S")),
            both(some("S", _P), some("R")), both(some("R", _P), no(some("S")))]  # fmt: skip


def _tier_2() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        for q in (r, _OTHER[r]):
            all_p, some_p = every(q, _P), some(q, _P)
            made += [
                some(r, all_p), some(r, both(_P, all_p)), some(r, both(_P, some_p)),
                some(r, some_p), every(r, some_p), every(r, all_p), some(r, no(some(q))),
                some(r, both(_P, no(some(q)))), some(r, some(q, _NOT_P)),
                both(_P, some(r, all_p)), both(_NOT_P, some(r, all_p)), both(_P, every(r, all_p)),
                some(r, both(_NOT_P, all_p)), some(r, both(some(q), all_p)),
                some(r, both(_P, some(q, _NOT_P))), some(r, both(_P, every(q, _NOT_P))),
                both(_P, some(r, some_p)), both(_P, every(r, some(q))), both(_P, every(r, some_p)),
            ]  # fmt: skip
        made += [
            some(f"{r}-", every(r, _P)), some(f"{r}-", both(_P, every(r, _P))),
            some(r, every(f"{r}-", _P)), some(r, both(_P, every(f"{r}-", _P))),
            every(f"{r}-", some(r, _P)),
        ]  # fmt: skip
    made += [
        some("R", both(_Q, every("R", _P))), some("R", both(_P, every("R", _Q))),
        some("R-", both(_Q, every("R", _P))), some("R", both(_P, some("R", _Q))),
        some("R", both(_P, every("R", _NOT_Q))), both(_P, some("R", both(_Q, every("R", _P)))),
        some("S", both(_P, some("S", _Q))), some("S", both(_Q, every("S", _P))),
    ]  # fmt: skip
    return made


def _tier_3() -> list[Shape]:
    made: list[Shape] = []
    for r in "RS":
        s = _OTHER[r]
        all_p, some_p = every(r, _P), some(r, _P)
        made += [
            exactly_two(r), both(_P, exactly_two(r)), two(r, _P, _P),
            one_only(r, _P), one_only(r, _P, all_p), both(_P, one_only(r, _P)), one_only(r, all_p),
            two(r, _P, all_p), two(r, all_p, all_p), two(r, both(_P, all_p)),
            some(r, some(r, all_p)), some(r, both(_P, some(r, all_p))), some(r, every(r, some_p)),
            some(r, both(_P, every(r, some_p))), every(r, some(r, all_p)), every(r, every(r, some_p)),
            both(_P, some(r, some(r, all_p))), some(r, both(_P, every(r, every(r, _P)))),
            some(r, two(r, _P, _P)), some(r, both(_P, two(r))), some(r, one_only(r, _P)),
            closed(r), both(_P, closed(r)), some(r, both(_P, closed(r))),
            some(r, some(s, every(r, _P))), some(r, both(_P, some(s, every(r, _P)))),
            some(r, every(s, some(r, _P))), some(r, every(s, no(some(r)))),
            some(r, some(s, both(_P, no(some(r))))), shared(r, s),
            some(r, one_only(s, _P)), both(two(r, _P, _P), some(s)), some(r, both(_P, one_only(r))),
        ]  # fmt: skip
    return [
        *made, meeting("R", "S", _P), two("R", _Q, _Q), two("R", _P, _Q), one_only("R", _Q), one_only("R", both(_P, _Q)),
        some("R", both(_Q, some("R", every("R", _P)))), some("R", both(_P, every("R", some("R", _Q)))),
        both(_P, some("R", both(_Q, every("R", every("R", _P))))), two("S", _Q, _Q),
    ]  # fmt: skip


@cache
def library() -> tuple[Template, ...]:
    """All templates, tier by tier."""
    made: list[Template] = []
    tiers = (_tier_0(), _tier_1(), _tier_2(), _tier_3())
    for tier, shapes in enumerate(tiers):
        for shape in shapes:
            text = shape.text()
            made.append(
                Template(f"t{tier}-{shape.name}", tier, text, read_formula(text, tuple(SIGNATURE)))
            )
    return tuple(made)


def templates_of(theory: Theory, tier: int) -> list[Template]:
    """Those of the tier that the theory allows. In the skeptical regime they have to speak of R or
    S, as all from tier 1 on do."""
    return [
        one for one in library() if one.tier == tier and one.formula.predicates <= theory.allowed
    ]
