"""Formulas as text: S-expressions, which `reading.py` reads back, and usual notation for people."""

from __future__ import annotations

from .formula import QUANTIFIERS, Formula, Node

_SIGNS = {"and": "∧", "or": "∨", "implies": "→", "iff": "↔", "forall": "∀", "exists": "∃"}
# A connective binds closer the larger its number; a part that binds less stands in parentheses.
_CLOSE = {"iff": 1, "implies": 2, "or": 3, "and": 4, "forall": 5, "exists": 5, "not": 5}


def written(formula: Formula) -> str:
    """The formula as an S-expression of binary connectives, parts separated by one blank."""
    return _joined(formula, lambda place, around: _expression(formula.nodes[place]))


def usual(formula: Formula) -> str:
    """The formula in the notation of logic: `∃y (R(x, y) ∧ P(y))`, `y ≠ z`."""

    def pieces(place: int, around: int) -> list[str | tuple[int, int]]:
        return _notation(formula, place, around)

    return _joined(formula, pieces)


def _joined(formula: Formula, pieces) -> str:  # type: ignore[no-untyped-def]
    """The text of a formula whose node at a place is written as pieces: text, or (place, how
    close it is bound) of a part."""
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
    # As published: an atom without arguments keeps its blank.
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
    # `and`, `or` and `iff` chain; of `implies` and of `iff` beside another the side is shown.
    chains = node.kind in ("and", "or")
    sign = f" {_SIGNS[node.kind]} "
    made: list[str | tuple[int, int]] = [
        (left, close if chains else close + 1), sign, (right, close if chains else close + 1)
    ]  # fmt: skip
    return ["(", *made, ")"] if close < around else made
