"""Make small changes to a formula; the changed rules compete with the reference (ABD, appendix
D.3).

Each mutant has one change: another predicate in an atom, a negated atom, swapped arguments of a
relation, "some" instead of "every" or the reverse, or a conjunction or disjunction replaced by one
of its members.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....tools.logic.formula import FREE, QUANTIFIERS, Formula, FormulaBuilder, Kind, Node
from ....tools.logic.theories import SIGNATURE, Theory

_OTHER = {"P": "Q", "Q": "P", "R": "S", "S": "R"}


def mutants(formula: Formula, theory: Theory) -> list[Formula]:
    """Return all different rules of the theory that differ from `formula` in one small change.

    The order is fixed.
    """
    found: dict[Formula, None] = {}
    for place in range(len(formula.nodes)):
        for changed in _changed(formula, place):
            legal = changed.predicates <= theory.allowed and changed.free <= {FREE}
            if legal and changed != formula:
                found.setdefault(changed)
    return list(found)


def _changed(formula: Formula, at: int) -> Iterator[Formula]:
    node = formula.nodes[at]
    if node.kind == "atom":
        yield _with(formula, at, node._replace(name=_OTHER[node.name]))
        yield _with(formula, at, node, negated=True)
        if SIGNATURE[node.name] == 2:
            yield _with(formula, at, node._replace(terms=node.terms[::-1]))
    elif node.kind in ("and", "or"):
        for part in node.parts:
            yield _with(formula, at, None, instead=part)
    elif node.kind in QUANTIFIERS:
        inner = formula.nodes[node.parts[0]]
        if node.kind == "exists" and inner.kind == "and":
            yield _with(formula, at, node._replace(kind="forall"), body="implies")
        if node.kind == "forall" and inner.kind == "implies":
            yield _with(formula, at, node._replace(kind="exists"), body="and")


def _with(
    formula: Formula,
    at: int,
    new: Node | None,
    *,
    negated: bool = False,
    instead: int = -1,
    body: Kind | None = None,
) -> Formula:
    """Return the formula with a changed node at a place.

    Args:
        formula: the formula.
        at: the index of the node.
        new: the node instead of it, or None to put its part `instead` in its place.
        negated: whether to negate the node.
        instead: the index of the part.
        body: the connective directly within a quantifier.
    """
    builder = FormulaBuilder()
    places: list[int] = []
    for place, node in enumerate(formula.nodes):
        if place == at and new is None:
            places.append(places[instead])
            continue
        one = new if place == at and new is not None else node
        parts = tuple(places[part] for part in one.parts)
        if place == at and body is not None:
            inner = formula.nodes[one.parts[0]]
            parts = (builder.add(Node(body, "", (), tuple(places[p] for p in inner.parts))),)
        made = builder.add(one._replace(parts=parts))
        places.append(builder.connect("not", [made]) if place == at and negated else made)
    return builder.formula(places[-1])
