"""A problem of task `abd` as a person reads it: the theory, what a rule may hold, the prompt worlds.

A line an element: its predicates of one argument, then for each relation the elements that follow
it. What is unknown bears a "?". Holdouts and the reference are not drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ..records import Problem
from ..tools.logic.theories import Theory, theory_from
from ..tools.logic.worlds import World, world_of
from ..tools.logic.writing import usual
from .sentences import shorten

WIDTH = 98  # columns; two more stay free
NAME = 24  # characters of an element's name
REGIMES: Mapping[str, str] = {
    "full": "full: every atom is known; a rule has to cover the elements that break the theory",
    "partial": "partial: some choice of the unknown atoms has to be repaired; the cheapest counts",
    "skeptical": "skeptical: every choice of the unknown atoms has to be repaired; the dearest counts",
}


def drawn(problem: Problem) -> str:
    theory = theory_from(problem.public["theory"])
    lines = list(_theory(theory, problem.public["theory"]["regime"]))
    for pair in problem.shown:
        lines += ["", *_world(world_of(pair.input, theory.signature, problem.id), theory.signature)]
    kept = [f"{len(problem.hidden)} holdouts"] * bool(problem.hidden)
    kept += ["a reference rule"] * (problem.secret.get("reference") is not None)
    if kept:
        lines += ["", f"not drawn: {' and '.join(kept)}"]
    return "\n".join(lines)


def _theory(theory: Theory, regime: str) -> Iterator[str]:
    yield from _row("theory", _printable(theory.title))
    for axiom in theory.axioms:
        yield from _row("axiom", usual(axiom))
    forbidden = ", ".join(sorted(theory.forbidden))
    yield from _row("rules", f"may hold {', '.join(sorted(theory.allowed))} and =; not {forbidden}")
    yield from _row("regime", REGIMES[regime])


def _row(title: str, text: str) -> Iterator[str]:
    for place, line in enumerate(textwrap.wrap(text, WIDTH - 8, break_on_hyphens=False)):
        yield f"{title if place == 0 else '':<8}{line}"


def _world(world: World, signature: Mapping[str, int]) -> Iterator[str]:
    unknown = len(world.unknown_atoms)
    said = f", {unknown} atoms unknown" if unknown else ""
    yield f"world {shorten(_printable(world.id), NAME)}: {len(world.names)} elements{said}"
    facts = [_marked(world, name, ()) or f"not {name}" for name, k in signature.items() if k == 0]
    yield from textwrap.wrap(", ".join(facts), WIDTH, initial_indent="  ", subsequent_indent="  ")
    names = [shorten(_printable(name), NAME) for name in world.names]
    properties = [name for name, places in signature.items() if places == 1]
    relations = [name for name, places in signature.items() if places > 1]
    head = [max(map(len, names)), *(1 + len(name) for name in properties)]
    left = WIDTH - sum(head) - 2 * (1 + len(head))
    width = max(12, left // max(1, len(relations)) - 2)
    if relations:
        yield _joined([*("" for _ in head), *(f"{name} to" for name in relations)], head, width)
    for place in range(len(names)):
        first = [names[place], *(_marked(world, name, (place,)) or "." for name in properties)]
        cells = [_wrapped(world, name, place, names, width) for name in relations]
        for line in range(max([1, *map(len, cells)])):
            rest = [cell[line] if line < len(cell) else "" for cell in cells]
            yield _joined([*(first if line == 0 else ("" for _ in head)), *rest], head, width)


def _printable(text: str) -> str:
    """In one line, whatever it is."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _joined(cells: Sequence[str], head: Sequence[int], width: int) -> str:
    widths = [*head, *(width for _ in cells[len(head) :])]
    padded = (f"{cell:<{room}}" for cell, room in zip(cells, widths, strict=True))
    return ("  " + "  ".join(padded)).rstrip()


def _marked(world: World, name: str, at: tuple[int, ...]) -> str:
    if at in world.true[name]:
        return name
    return f"{name}?" if at in world.unknown.get(name, ()) else ""


def _wrapped(world: World, name: str, place: int, names: Sequence[str], width: int) -> list[str]:
    """The elements, or tuples of them, that follow the one at `place`, in lines."""
    atoms = [(at, "") for at in world.true[name]]
    atoms += [(at, "?") for at in world.unknown.get(name, ())]
    words = []
    for at, mark in sorted(atoms):
        if at[0] == place:
            rest = [names[other] for other in at[1:]]
            words.append((rest[0] if len(rest) == 1 else f"({','.join(rest)})") + mark)
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
