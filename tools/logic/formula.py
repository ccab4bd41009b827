"""First-order formulas over a finite signature, stored as a list of nodes.

Each node comes after its children in the list, so every traversal is a loop. Formulas of any depth
are parsed, measured and evaluated without recursion. Equal subformulas share one node, which is
evaluated once. Sizes count the syntax tree as it was written (ABD, appendix B.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

Kind = Literal["atom", "equal", "not", "and", "or", "implies", "iff", "forall", "exists"]

BINARY: tuple[Kind, ...] = ("and", "or", "implies", "iff")
QUANTIFIERS: tuple[Kind, ...] = ("forall", "exists")
ABNORMAL = "Ab"
FREE = "x"  # the variable of a rule alpha(x)
# Latin letters come first. A formula may hold any of more than a thousand lower-case letters.
LETTERS = "yzwuvabcdefghijklmnopqrstx" + "".join(filter(str.islower, map(chr, range(0xDF, 0x2000))))


class Node(NamedTuple):
    """One node of a formula.

    Attributes:
        kind: Kind of the node, such as "atom", "and" or "forall".
        name: Predicate of an atom, or variable of a quantifier; "" for other kinds.
        terms: Arguments of an atom or of an equality.
        parts: Indices of the child nodes. Each index is smaller than the index of this node.
    """

    kind: Kind
    name: str = ""
    terms: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()


class Formula:
    """A first-order formula, stored as a list of nodes of which the last is the root.

    Two formulas are equal if their nodes are equal.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.nodes == other.nodes

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<Formula of {self.size} nodes>"

    @cached_property
    def _hash(self) -> int:
        return hash(self.nodes)

    @cached_property
    def size(self) -> int:
        """The size of the syntax tree in nodes (ABD, appendix B.3).

        An atom or equality counts 1 plus the number of its arguments. A negation counts 1 plus the
        size of its operand, a binary connective 1 plus the sizes of both operands, and a quantifier
        2 plus the size of its operand. The paper's example shows that the predicate symbol counts.
        """
        sizes: list[int] = []
        for node in self.nodes:
            own = 2 if node.kind in QUANTIFIERS else 1 + len(node.terms)
            sizes.append(own + sum(sizes[part] for part in node.parts))
        return sizes[-1]

    @cached_property
    def depth(self) -> int:
        """The quantifier depth: the largest number of nested quantifiers."""
        depths: list[int] = []
        for node in self.nodes:
            inner = max((depths[part] for part in node.parts), default=0)
            depths.append(inner + (node.kind in QUANTIFIERS))
        return depths[-1]

    @cached_property
    def nesting(self) -> int:
        """The height of the syntax tree: the largest number of nodes inside each other."""
        heights: list[int] = []
        for node in self.nodes:
            heights.append(1 + max((heights[part] for part in node.parts), default=0))
        return heights[-1]

    @cached_property
    def free_at(self) -> tuple[frozenset[str], ...]:
        """The free variables of each node, in the order of the nodes."""
        free: list[frozenset[str]] = []
        for node in self.nodes:
            here = frozenset(term for term in node.terms if is_variable(term))
            here = here.union(*(free[part] for part in node.parts))
            free.append(here - {node.name} if node.kind in QUANTIFIERS else here)
        return tuple(free)

    @property
    def free(self) -> frozenset[str]:
        """The free variables of the formula."""
        return self.free_at[-1]

    @cached_property
    def predicates(self) -> frozenset[str]:
        """The predicates that occur in the formula."""
        return frozenset(node.name for node in self.nodes if node.kind == "atom")

    @cached_property
    def objects(self) -> frozenset[str]:
        """The names of objects that occur in the formula: all terms that are not variables."""
        return frozenset(t for node in self.nodes for t in node.terms if not is_variable(t))


class FormulaBuilder:
    """A builder of formulas that stores equal nodes once.

    Methods that add a node return its index, which other methods take as an operand.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.places: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        """Add a node unless an equal node exists, and return its index."""
        place = self.places.get(node)
        if place is None:
            place = self.places[node] = len(self.nodes)
            self.nodes.append(node)
        return place

    def atom(self, predicate: str, terms: Iterable[str]) -> int:
        """Add an atom, and return its index."""
        return self.add(Node("atom", predicate, tuple(terms)))

    def equal(self, one: str, other: str) -> int:
        """Add an equality of two terms, and return its index."""
        return self.add(Node("equal", "", (one, other)))

    def connect(self, kind: Kind, parts: Sequence[int]) -> int:
        """Add a connective, and return its index.

        The connective `not` takes one operand, and binary connectives take two. `and` and `or` also
        take more than two operands and then nest to the right, as in the published parser.

        Args:
            kind: The connective.
            parts: Indices of the operands.
        """
        whole = parts[-1]
        if kind == "not":
            return self.add(Node("not", "", (), (whole,)))
        for part in reversed(parts[:-1]):
            whole = self.add(Node(kind, "", (), (part, whole)))
        return whole

    def bind(self, kind: Kind, variable: str, part: int) -> int:
        """Add a quantifier over `variable`, and return its index.

        Args:
            kind: The quantifier, "forall" or "exists".
            variable: The variable that the quantifier binds.
            part: Index of the formula inside the quantifier.
        """
        return self.add(Node(kind, variable, (), (part,)))

    def include(self, formula: Formula) -> int:
        """Add all nodes of `formula`, and return the index of its root."""
        places: list[int] = []
        for node in formula.nodes:
            places.append(self.add(node._replace(parts=tuple(places[p] for p in node.parts))))
        return places[-1]

    def formula(self, root: int) -> Formula:
        """Return the formula whose root is the node with index `root`.

        The formula contains only the nodes that the root needs.
        """
        wanted = {root}
        for place in range(root, -1, -1):
            if place in wanted:
                wanted.update(self.nodes[place].parts)
        kept = sorted(wanted)
        places = {place: new for new, place in enumerate(kept)}
        return Formula(
            [
                self.nodes[place]._replace(parts=tuple(places[p] for p in self.nodes[place].parts))
                for place in kept
            ]
        )


def is_variable(term: str) -> bool:
    """Return whether a term is a variable, which is a single lower-case letter.

    Every other term is the name of an object.
    """
    return len(term) == 1 and term.islower()


def substitute(formula: Formula, term: str, variable: str = FREE) -> Formula:
    """Return the formula with `term` in place of the free occurrences of `variable`.

    Bound variables are renamed where a quantifier would otherwise capture `term`.
    """
    if term == variable:
        return formula
    taken = {term, variable, *(t for node in formula.nodes for t in (*node.terms, node.name))}
    spare = next(letter for letter in LETTERS if letter not in taken)
    builder = FormulaBuilder()
    places: dict[tuple[int, bool, bool], int] = {}

    # The new form of a node depends on whether `variable` and `term` are bound above it.
    def parts_of(place: int, bound: bool, caught: bool) -> list[tuple[int, bool, bool]]:
        node = formula.nodes[place]
        if node.kind in QUANTIFIERS:
            bound, caught = bound or node.name == variable, caught or node.name == term
        return [(part, bound, caught) for part in node.parts]

    whole = (len(formula.nodes) - 1, False, False)
    asked = [whole]
    seen = {whole}
    for key in asked:
        fresh = [part for part in parts_of(*key) if part not in seen]
        seen.update(fresh)
        asked += dict.fromkeys(fresh)
    for key in sorted(seen):
        place, bound, caught = key
        node = formula.nodes[place]
        name = spare if node.kind in QUANTIFIERS and node.name == term else node.name
        terms = tuple(
            term if t == variable and not bound else spare if t == term and caught else t
            for t in node.terms
        )
        parts = tuple(places[part] for part in parts_of(*key))
        places[key] = builder.add(Node(node.kind, name, terms, parts))
    return builder.formula(places[whole])


# --- Formulas as text: S-expressions, which `reading.py` parses, and the usual notation of logic.

_SIGNS = {"and": "∧", "or": "∨", "implies": "→", "iff": "↔", "forall": "∀", "exists": "∃"}
# A connective with a larger number binds more tightly. A part that binds less gets parentheses.
_CLOSE = {"iff": 1, "implies": 2, "or": 3, "and": 4, "forall": 5, "exists": 5, "not": 5}


def format_sexpr(formula: Formula) -> str:
    """Return the formula as an S-expression with binary connectives and single spaces."""
    return _joined(formula, lambda place, around: _expression(formula.nodes[place]))


def format_infix(formula: Formula) -> str:
    """Return the formula in logical notation, such as `∃y (R(x, y) ∧ P(y))` or `y ≠ z`."""

    def pieces(place: int, around: int) -> list[str | tuple[int, int]]:
        return _notation(formula, place, around)

    return _joined(formula, pieces)


def _joined(formula: Formula, pieces) -> str:  # type: ignore[no-untyped-def]
    """Join the text of a formula.

    Args:
        formula: The formula.
        pieces: Returns the pieces of a node: text, or a part as (index, binding strength around
            it).
    """
    out: list[str] = []
    waiting: list[str | tuple[int, int]] = [(len(formula.nodes) - 1, 0)]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            out.append(piece)
        else:
            waiting.extend(reversed(pieces(*piece)))
    return "".join(out)


def _expression(node: Node) -> list[str | tuple[int, int]]:
    head = "=" if node.kind == "equal" else node.name if node.kind == "atom" else node.kind
    words = [node.name] if node.kind in QUANTIFIERS else node.terms
    # As in the published files, an atom without arguments keeps its blank.
    said = f"({head} {' '.join(words)}" if words or node.kind == "atom" else f"({head}"
    made: list[str | tuple[int, int]] = [said]
    for part in node.parts:
        made += [" ", (part, 0)]
    return [*made, ")"]


def _notation(formula: Formula, place: int, around: int) -> list[str | tuple[int, int]]:
    node = formula.nodes[place]
    if node.kind == "atom":
        return [f"{node.name}({', '.join(node.terms)})" if node.terms else node.name]
    if node.kind == "equal":
        return [" = ".join(node.terms)]
    close = _CLOSE[node.kind]
    if node.kind == "not":
        inner = formula.nodes[node.parts[0]]
        if inner.kind == "equal":
            return [" ≠ ".join(inner.terms)]
        return ["¬", (node.parts[0], close)]
    if node.kind in QUANTIFIERS:
        return [f"{_SIGNS[node.kind]}{node.name} ", (node.parts[0], close)]
    left, right = node.parts
    # `and` and `or` chain. Nested `implies` and `iff` get parentheses on either side.
    chains = node.kind in ("and", "or")
    sign = f" {_SIGNS[node.kind]} "
    made: list[str | tuple[int, int]] = [
        (left, close if chains else close + 1), sign, (right, close if chains else close + 1)
    ]  # fmt: skip
    return ["(", *made, ")"] if close < around else made
