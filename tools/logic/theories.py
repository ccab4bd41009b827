"""Default theories: axioms that may have exceptions, over a signature and the predicate Ab.

Ab ("abnormal") marks the exceptions. A rule defines to which elements Ab applies. A theory of
*default form* has one or more axioms `forall x: ANTE and not Ab(x) implies CONS`, in which Ab
occurs nowhere else. An element violates such an axiom if ANTE holds for the element and CONS does
not. A rule repairs a world if it marks all elements that violate an axiom. The fast path
(`fast_path.py`) relies on this form. Rules of any other theory are judged by Z3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from ...records import DataError, Json, canonical_json
from .evaluation import MAX_FREE_VARIABLES
from .formula import (
    ABNORMAL,
    BINARY,
    FREE,
    QUANTIFIERS,
    Formula,
    FormulaBuilder,
    Node,
    format_sexpr,
    substitute,
)
from .parser import FormulaError, parse_formula

OPERATORS = ("not", *BINARY, *QUANTIFIERS)
_PREDICATE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAX_ARGUMENTS = 3  # arguments of a predicate
JSON_KEYS = ("names", "axioms", "signature", "allowed")  # keys of the JSON form


@dataclass(frozen=True)
class Theory:
    """A default theory: axioms that state the normal case, and the predicates that a rule may use.

    Attributes:
        names: For a published theory, the name in the paper and the name in the published files.
            Otherwise a name chosen by the user.
        axioms: Formulas without free variables.
        signature: Number of arguments of each predicate except Ab.
        allowed: Predicates that a rule may use. A rule must not use Ab or any other predicate.
    """

    names: tuple[str, ...]
    axioms: tuple[Formula, ...]
    signature: Mapping[str, int]
    allowed: frozenset[str]

    @property
    def predicates(self) -> tuple[str, ...]:
        """All predicates that the axioms may use, including Ab."""
        return (*self.signature, ABNORMAL)

    @property
    def forbidden(self) -> tuple[str, ...]:
        """The predicates that a rule must not use."""
        return tuple(name for name in self.predicates if name not in self.allowed)

    @property
    def title(self) -> str:
        """The names of the theory in one text for display."""
        return " / ".join(self.names)

    def as_json(self) -> dict[str, Json]:
        """Return this theory as a JSON object, which `theory_from_json` accepts."""
        return {
            "names": list(self.names),
            "axioms": [format_sexpr(axiom) for axiom in self.axioms],
            "signature": dict(self.signature),
            "allowed": sorted(self.allowed),
        }

    @cached_property
    def violation(self) -> Formula | None:
        """The formula that holds for elements that violate an axiom unless Ab marks them.

        The free variable is `FREE`. The value is None if the theory is not of default form.
        """
        return _either(None if one is None else one.violation for one in self._defaults)

    @cached_property
    def antecedent(self) -> Formula | None:
        """The formula that holds for elements to which an axiom applies.

        Used as a rule, this formula is valid in all worlds. The free variable is `FREE`. The value
        is None if the theory is not of default form.
        """
        return _either(None if one is None else one.antecedent for one in self._defaults)

    @cached_property
    def _defaults(self) -> tuple[_Default | None, ...]:
        return tuple(_default(axiom) for axiom in self.axioms)


class _Default(NamedTuple):
    """The formulas ANTE and "ANTE and not CONS" of an axiom, with the free variable `FREE`."""

    antecedent: Formula
    violation: Formula


def _either(some: Iterable[Formula | None]) -> Formula | None:
    """Return the disjunction of the formulas; None if one of them is missing."""
    builder = FormulaBuilder()
    parts = []
    for one in some:
        if one is None:
            return None
        parts.append(builder.include(one))
    if not parts:
        return None
    return builder.formula(builder.connect("or", parts) if len(parts) > 1 else parts[0])


def _default(axiom: Formula) -> _Default | None:
    """Return the parts of an axiom of default form; None for any other axiom."""
    nodes = axiom.nodes
    top = nodes[-1]
    if top.kind != "forall" or nodes[top.parts[0]].kind != "implies":
        return None
    before, after = nodes[top.parts[0]].parts
    conjuncts, flat = [before], False
    while not flat:
        flat = True
        for place in conjuncts:
            if nodes[place].kind == "and":
                at = conjuncts.index(place)
                conjuncts[at : at + 1] = nodes[place].parts
                flat = False
                break
    blocks = [place for place in conjuncts if _is_block(nodes, place, top.name)]
    if len(blocks) != 1:
        return None
    builder = FormulaBuilder()
    places: list[int] = []
    for node in nodes:
        places.append(builder.add(node._replace(parts=tuple(places[p] for p in node.parts))))
    kept = [places[place] for place in conjuncts if place not in blocks]
    broken = builder.connect("and", [*kept, builder.connect("not", [places[after]])])
    ante = builder.connect("and", kept) if kept else builder.equal(top.name, top.name)
    found = _Default(builder.formula(ante), builder.formula(broken))
    if ABNORMAL in found.violation.predicates or found.violation.free - {top.name}:
        return None
    return (
        found if top.name == FREE else _Default(*(substitute(one, FREE, top.name) for one in found))
    )


def _is_block(nodes: Sequence[Node], place: int, variable: str) -> bool:
    node = nodes[place]
    if node.kind != "not":
        return False
    inner = nodes[node.parts[0]]
    return bool(inner.kind == "atom" and inner.name == ABNORMAL and inner.terms == (variable,))


def parse_theory(
    names: Sequence[str],
    axioms: Sequence[str],
    signature: Mapping[str, int],
    allowed: Sequence[str],
    where: str,
) -> Theory:
    """Parse the texts of a theory, and check the theory.

    Args:
        names: Names of the theory.
        axioms: Axioms as S-expressions.
        signature: Number of arguments of each predicate except Ab.
        allowed: Predicates that a rule may use.
        where: Where the texts come from; error messages begin with this text.

    Raises:
        DataError: The signature or an axiom is invalid, an axiom has free variables or names an
            object, or no axiom uses Ab.
    """
    for name, places in signature.items():
        if not _PREDICATE.fullmatch(name) or name in OPERATORS:
            raise DataError(f"{where}: {name!r} cannot name a predicate")
        if name == ABNORMAL:
            raise DataError(
                f"{where}: {ABNORMAL} is what a rule defines, and no predicate of worlds"
            )
        if type(places) is not int or not 0 <= places <= MAX_ARGUMENTS:
            raise DataError(
                f"{where}: predicate {name!r} has {places!r} arguments; 0 to {MAX_ARGUMENTS} can be"
            )
    for name in allowed:
        if name not in signature:
            known = ", ".join(signature)
            raise DataError(f"{where}: rules may hold {name!r}, which no world tells of: {known}")
    read = []
    for number, text in enumerate(axioms, 1):
        at = f"{where}: axiom {number}"
        try:
            formula = parse_formula(text, (*signature, ABNORMAL))
        except FormulaError as error:
            raise DataError(f"{at}: {error.sentence}") from None
        if formula.free:
            raise DataError(f"{at}: {sorted(formula.free)[0]!r} is bound by no quantifier")
        if max(map(len, formula.free_at)) > MAX_FREE_VARIABLES:
            raise DataError(f"{at}: a part of it has more than {MAX_FREE_VARIABLES} free variables")
        if formula.objects:
            raise DataError(f"{at}: names the object {sorted(formula.objects)[0]!r}")
        for node in formula.nodes:
            due = 1 if node.name == ABNORMAL else signature.get(node.name)
            if node.kind == "atom" and len(node.terms) != due:
                raise DataError(f"{at}: {node.name} takes {due} arguments, not {len(node.terms)}")
        read.append(formula)
    if not any(ABNORMAL in formula.predicates for formula in read):
        raise DataError(f"{where}: no axiom speaks of {ABNORMAL}, so there is nothing to define")
    return Theory(tuple(names), tuple(read), dict(signature), frozenset(allowed))


def theory_from_json(data: Mapping[str, Json]) -> Theory:
    """Return the theory that a JSON object describes, in the form of `Theory.as_json`.

    Raises:
        DataError: The object does not describe a valid theory.
    """
    return _theory_from(canonical_json({key: data[key] for key in JSON_KEYS}))


@lru_cache(maxsize=64)
def _theory_from(text: str) -> Theory:
    data = json.loads(text)
    return parse_theory(
        data["names"], data["axioms"], data["signature"], data["allowed"], "the theory"
    )


_BY_A_NEIGHBOUR = "(exists y (and ({} x y) (P y)))"
_R, _S = _BY_A_NEIGHBOUR.format("R"), _BY_A_NEIGHBOUR.format("S")
_PUBLISHED = (  # ABD, tables 1, C.1 and C.2
    ("T1", "TH2", _R, "(Q x)", "PRS"),
    ("T2", "TH7", _R, "(exists z (and (S x z) (Q z)))", "PR"),
    ("T3", "TH10", _S, "(exists z (and (R x z) (Q z)))", "PS"),
    ("T4", "TH11", _R, "(exists z (and (S x z) (forall w (implies (R z w) (P w)))))", "PQR"),
    ("T5", "TH12", _R, "(forall z (implies (S x z) (Q z)))", "PRS"),
    ("T6", "TH3", "(P x)", "(exists y (R x y))", "PQS"),
    ("T7", "TH5", "(P x)", "(forall y (implies (R x y) (Q y)))", "PRS"),
)
SIGNATURE: Mapping[str, int] = {"P": 1, "Q": 1, "R": 2, "S": 2}

PUBLISHED_THEORIES: Mapping[str, Theory] = {
    code: parse_theory(
        (name, code),
        [f"(forall x (implies (and {before} (not (Ab x))) {after}))"],
        SIGNATURE,
        list(allowed),
        name,
    )
    for name, code, before, after, allowed in _PUBLISHED
}


def find_published(name: str) -> Theory | None:
    """Return the published theory with this name (such as T1 or TH2), or None if there is none."""
    return next((theory for theory in PUBLISHED_THEORIES.values() if name in theory.names), None)
