"""A given rule made valid, cheaper and smaller.

Its variants are tried (a part in place of the whole, dropped, denied), each alone and joined with a
feature, beside features alone and the search's own best; the one with the best score of the trade-off that is
valid in all prompt worlds takes its place, if it is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal as OneOf
from typing import NamedTuple

import numpy as np

from ...tools.logic.formula import FREE, Builder, Formula, Node
from ...tools.logic.sampling import Whole
from ...tools.logic.tables import Bools, Structures, TooWide, Truth, about_elements, evaluate
from .choice import Ranking, exact_cost
from .lanes import any_of
from .rules import Shape

VARIANTS = 300
JUDGED = 60
LARGEST = 200  # nodes of a rule that is varied
UNKNOWN = 1 << 40  # cost of a rule that is not valid, or that the fast path does not reach
MOST_CELLS = 1 << 22  # of a variant's tables: it is one of hundreds


class _Found(NamedTuple):
    """A variant, joined with a feature or not, and how it scores by the completions at hand."""

    score: float
    variant: int
    kind: OneOf["alone", "instead", "and", "or"]
    feature: int
    cost: int


def mended(ranking: Ranking, formula: Formula | None) -> Formula | None:
    """The best rule near the given one, or the search's own first where that is better; None where
    neither is better than what was given. formula: None where there is no rule to mend."""
    first = next(iter(ranking), None)
    choices = (
        [] if first is None else [(ranking.plain(first.cost, first.formula.size), first.formula)]
    )
    given = float(UNKNOWN)
    if formula is not None:
        choices = [*_nearby(ranking, formula), *choices]
        cost = exact_cost(ranking.found.prepared, formula, UNKNOWN)
        given = UNKNOWN if cost is None else ranking.plain(cost, formula.size)
    best = min(choices, key=lambda choice: choice[0], default=None)
    return best[1] if best is not None and best[0] < given else None


def _nearby(ranking: Ranking, formula: Formula) -> list[tuple[float, Formula]]:
    """Valid rules made of the given one, judged exactly, with their scores."""
    rows, kept = [], []
    lanes = ranking.found.prompt.lanes
    structures = Structures.from_tables(lanes.inside, lanes.true)
    for variant in _variants(formula):
        try:
            value = evaluate(variant, Truth(structures), MOST_CELLS)
        except TooWide:
            continue
        rows.append(about_elements(value, variant, lanes.size) & lanes.inside)
        kept.append(variant)
    if not rows:
        return []
    found = _joined(ranking, np.array(rows), np.array([one.size for one in kept], np.int64))
    judged = []
    for one in sorted(found)[:JUDGED]:
        rule = _formula(ranking, kept, one)
        cost = exact_cost(ranking.found.prepared, rule, one.cost)
        if cost is not None:
            judged.append((ranking.plain(cost, rule.size), rule))
    return judged


def _joined(ranking: Ranking, rows: Bools, sizes: Whole) -> list[_Found]:
    """The variants alone and with each of the smallest features, where they are valid."""
    evidence, features = ranking.found.evidence, ranking.found.features
    places, table = ranking.found.plainest, ranking.found.plainest_rows
    found: list[_Found] = []
    broken = evidence.broken

    def note(
        kind: OneOf["alone", "instead", "and", "or"],
        variant: int,
        covered: Bools,
        own: Whole,
        which: Whole,
    ) -> None:
        valid = ~any_of(broken[None] & ~covered)
        right, costs = evidence.judged(valid, covered.sum(axis=2))
        for at in np.flatnonzero(right):
            cost, size = int(costs[at]), int(own[at])
            score = ranking.plain(cost, size)
            found.append(_Found(score, variant, kind, int(which[at]), cost))

    note("instead", -1, table, features.sizes[places], places)
    none = np.full(1, -1)
    for variant, row in enumerate(rows):
        note("alone", variant, row[None], sizes[variant : variant + 1], none)
        own = sizes[variant] + features.sizes[places] + 1
        note("and", variant, table & row[None], own, places)
        note("or", variant, table | row[None], own, places)
    return found


def _formula(ranking: Ranking, variants: Sequence[Formula], one: _Found) -> Formula:
    if one.kind == "alone":
        return variants[one.variant]
    feature = Shape("feature", one.feature).formula(ranking.found.features)
    if one.kind == "instead":
        return feature
    builder = Builder()
    parts = [builder.include(variants[one.variant]), builder.include(feature)]
    return builder.formula(builder.connect(one.kind, parts))


def _variants(formula: Formula) -> Iterator[Formula]:
    """The rule itself; then each with one part left out, denied, or in place of what it is part of,
    each once and no larger than one node more. Free variables are those of the rule."""
    seen = set()
    for one in _changed(formula):
        if one.free <= {FREE} and one not in seen:
            seen.add(one)
            yield one
            if len(seen) == VARIANTS:
                return


def _changed(formula: Formula) -> Iterator[Formula]:
    yield formula
    if len(formula.nodes) > LARGEST:
        return
    for place in range(len(formula.nodes) - 1, -1, -1):
        node = formula.nodes[place]
        for part in node.parts:
            yield _with(formula, place, part)
        if node.kind == "not":
            continue
        yield _with(formula, place, None)
        if node.kind in ("and", "or"):
            kind: OneOf["and", "or"] = "or" if node.kind == "and" else "and"
            yield _with(formula, place, node._replace(kind=kind))
        if node.kind in ("exists", "forall"):
            other: OneOf["exists", "forall"] = "forall" if node.kind == "exists" else "exists"
            yield _with(formula, place, node._replace(kind=other))


def _with(formula: Formula, place: int, instead: int | Node | None) -> Formula:
    """The formula with another node at a place: one of its parts, another node of the same parts, or
    (None) its denial."""
    builder = Builder()
    places: list[int] = []
    for number, node in enumerate(formula.nodes):
        parts = tuple(places[part] for part in node.parts)
        if number != place:
            places.append(builder.add(node._replace(parts=parts)))
        elif isinstance(instead, int):
            places.append(places[instead])
        elif instead is None:
            places.append(builder.connect("not", [builder.add(node._replace(parts=parts))]))
        else:
            places.append(builder.add(instead._replace(parts=parts)))
    return builder.formula(places[-1])
