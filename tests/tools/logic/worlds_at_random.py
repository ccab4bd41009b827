"""Random small worlds, theories and formulas, and a naive judge that goes through all completions:
what the fast path and Z3 are held to. Slow and plain on purpose."""

from __future__ import annotations

import random
from itertools import product

from peirce.tools.logic import (
    PUBLISHED_THEORIES,
    SIGNATURE,
    Formula,
    Regime,
    Theory,
    World,
    parse_formula,
)

PREDICATES = (*SIGNATURE, "Ab")


def world(draw: random.Random, size: int, unknown: int, signature=SIGNATURE, name="W") -> World:
    names = tuple(f"a{place}" for place in range(size))
    true = {}
    for predicate, places in signature.items():
        atoms = list(product(range(size), repeat=places))
        density = draw.choice((0.1, 0.3, 0.5, 0.8))
        true[predicate] = {atom for atom in atoms if draw.random() < density}
    binary = [
        (predicate, atom)
        for predicate, places in signature.items()
        if places == 2
        for atom in product(range(size), repeat=2)
    ]
    open_ = {}
    for predicate, atom in draw.sample(binary, min(unknown, len(binary))):
        true[predicate].discard(atom)
        open_.setdefault(predicate, set()).add(atom)
    sort = {k: tuple(sorted(v)) for k, v in true.items()}
    return World(name, names, sort, {k: tuple(sorted(v)) for k, v in open_.items()})


def formula_text(
    draw: random.Random, allowed, depth: int, bound=("x",), signature=SIGNATURE
) -> str:
    kind = draw.random()
    if depth == 0 or kind < 0.2:
        if draw.random() < 0.15:
            return f"(= {draw.choice(bound)} {draw.choice(bound)})"
        predicate = draw.choice(sorted(allowed))
        terms = " ".join(draw.choice(bound) for _ in range(signature[predicate]))
        return f"({predicate} {terms})"
    part = lambda names=bound: formula_text(draw, allowed, depth - 1, names, signature)
    if kind < 0.35:
        return f"(not {part()})"
    if kind < 0.65:
        operator = draw.choice(("and", "or", "implies", "iff"))
        return f"({operator} {part()} {part()})"
    variable = draw.choice("yzwx")  # x again: shadowing
    names = (*dict.fromkeys((*bound, variable)),)
    return f"({draw.choice(('exists', 'forall'))} {variable} {part(names)})"


def rule(draw: random.Random, theory: Theory, depth: int = 4) -> Formula:
    text = formula_text(draw, theory.allowed, depth, signature=theory.signature)
    return parse_formula(text, theory.predicates)


def any_theory(draw: random.Random) -> Theory:
    return draw.choice(list(PUBLISHED_THEORIES.values()))


# --- the naive judge ----------------------------------------------------------------------------


def holds(formula: Formula, true, size: int, values: dict[str, int], abnormal=frozenset()) -> bool:
    """By the textbook: true is a set of (predicate, places)."""

    def at(place: int, values: dict[str, int]) -> bool:
        node = formula.nodes[place]
        if node.kind == "atom":
            where = tuple(values[t] for t in node.terms)
            return where[0] in abnormal if node.name == "Ab" else (node.name, where) in true
        if node.kind == "equal":
            return values[node.terms[0]] == values[node.terms[1]]
        if node.kind in ("forall", "exists"):
            every = (at(node.parts[0], {**values, node.name: e}) for e in range(size))
            return all(every) if node.kind == "forall" else any(every)
        if node.kind == "not":
            return not at(node.parts[0], values)
        one, other = (at(part, values) for part in node.parts)
        return {"and": one and other, "or": one or other, "implies": other or not one,
                "iff": one == other}[node.kind]  # fmt: skip

    return at(len(formula.nodes) - 1, values)


def completions(world: World, closed: bool):
    known = {(p, atom) for p, atoms in world.true.items() for atom in atoms}
    unknown = [] if closed else list(world.unknown_atoms)
    for chosen in product((False, True), repeat=len(unknown)):
        yield known | {atom for atom, yes in zip(unknown, chosen, strict=True) if yes}


def covered(formula: Formula, true, size: int) -> frozenset[int]:
    return frozenset(e for e in range(size) if holds(formula, true, size, {"x": e}))


def naive(theory: Theory, world: World, regime: Regime, rule: Formula):
    """(valid, cost, bound) of any theory, by the table of judging.py."""
    size = len(world.names)
    valid, costs, bounds = [], [], []
    for true in completions(world, regime == "full"):
        marks = covered(rule, true, size)
        fits = all(holds(axiom, true, size, {}, marks) for axiom in theory.axioms)
        valid.append(fits)
        if fits or regime == "skeptical":
            costs.append(len(marks))
        least = [
            sum(choice)
            for choice in product((0, 1), repeat=size)
            if all(
                holds(axiom, true, size, {}, {e for e in range(size) if choice[e]})
                for axiom in theory.axioms
            )
        ]
        bounds.append(min(least, default=None))
    if regime == "skeptical":
        bound = None if None in bounds else max(bounds)
        return all(valid), max(costs) if all(valid) else None, bound
    known = [one for one in bounds if one is not None]
    return any(valid), min(costs) if any(valid) else None, min(known, default=None)
