"""Which features are made of which, and in which order, within a budget."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...tools.logic.sampling import Whole
from .features import CONNECTED, JUST_TWO, Features, Kind, places_of
from .lanes import EQUALITY, Guard, Lanes, Literal

# Of neighbours, and of two literals: more than six predicates, and three of two arguments, make.
MOST_PROPERTIES, MOST_GUARDS = 240, 60


def guards_of(predicates: Collection[str]) -> tuple[list[Guard], list[Guard]]:
    """Of predicates with two arguments: each way alone; and two literals together, of which the
    second may be denied or say that the elements differ."""
    ways = [Literal(name, swapped) for name in sorted(predicates) for swapped in (False, True)]
    alone = [Guard((way,)) for way in ways]
    differ = Literal(EQUALITY, positive=False)
    together = []
    for place, way in enumerate(ways):
        together += [Guard((way, other)) for other in ways[place + 1 :]]
        together.append(Guard((way, differ)))
        together += [Guard((way, other._replace(positive=False))) for other in ways if other != way]
    return alone, together


def grown(lanes: Lanes, allowed: Collection[str], most: int) -> Features:
    """Features of up to three nested neighbourhoods over the allowed predicates of one and two
    arguments; smaller properties first at every depth. most: how many may be evaluated, about; the
    first neighbourhoods are, however small it is. Widths are those of `most` 30,000, and of theories
    like the published ones: where there are more predicates, each has fewer."""
    found = Features(lanes)
    related = [name for name in allowed if lanes.true[name].ndim == 3]
    alone, together = guards_of(related)
    together = together[:: -(-len(together) // MOST_GUARDS) or 1]
    everything = found.everything()
    atoms = found.atoms(allowed)
    literals = np.concatenate([atoms, found.negations(atoms)])
    width = most / 30_000 / max(1.0, len(alone) / 4, len(literals) / 8)

    def few(some: Whole, count: int) -> Whole:
        return found.smallest(some, max(4, round(count * width)))

    plain = np.concatenate([everything, literals])
    grades: tuple[Kind, ...] = ("some", "every", "two")
    properties = places_of(
        [plain, *(found.connected(kind, literals, literals) for kind in CONNECTED)]
    )
    properties = np.sort(found.smallest(properties, MOST_PROPERTIES))
    first = places_of(
        [
            found.of_neighbours((*grades, "one"), [*alone, Guard()], properties),
            found.of_neighbours((JUST_TWO,), alone, plain),
            found.of_neighbours(grades, together, plain),
            found.pairs(alone, plain, few(properties, 12)),
        ]
    )
    simple = few(first, 40)
    bodies = places_of(
        [
            first,
            found.negations(few(first, 300)),
            found.connected("and", literals, few(first, 400)),
            *(found.connected(k, literals, few(first, 200)) for k in ("or", "iff", "implies")),
            *(found.connected(k, simple, simple) for k in ("and", "iff")),
        ]
    )
    second = places_of(
        [
            found.of_neighbours(grades[:2], alone, few(bodies, 1500)),
            found.of_neighbours(grades[:2], together, few(first, 60)),
            found.pairs(alone, plain, few(first, 40)),
        ]
    )
    deeper = places_of([second, found.connected("and", literals, few(second, 500))])
    found.of_neighbours(grades[:2], alone, few(deeper, 750))
    return found
