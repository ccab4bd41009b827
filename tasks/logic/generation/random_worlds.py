"""Draw many random worlds at once, as the paper describes (ABD, appendix D.1).

For each world, the size and a density for each predicate are drawn uniformly from their ranges. A
predicate with k arguments then has `floor(density * size^k)` true atoms, at uniformly drawn places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....tools.logic.evaluation import (
    Bools,
    Structures,
    TableTooLarge,
    TruthAlgebra,
    broadcast_to_elements,
    evaluate,
)
from ....tools.logic.formula import Formula
from ....tools.logic.sampling import RandomStream, draw_atoms, element_mask
from ....tools.logic.theories import SIGNATURE
from ....tools.logic.worlds import Tuples, World
from .recipes import Recipe

MAX_CELLS_AT_ONCE = 4_000_000  # cells of a formula's tables that are evaluated at once
MAX_CELLS_PER_WORLD = 500_000  # cells of a formula's tables for one world


@dataclass(frozen=True)
class WorldTables:
    """Several random worlds, stored as arrays of truth values.

    Args:
        inside: whether a world has an element, shape (worlds, size).
        true: for each predicate, whether an atom is true; the first axis is the world.
        unknown: for each predicate with unknown atoms, whether an atom is unknown. No atom is both
            true and unknown.
    """

    inside: Bools
    true: Mapping[str, Bools]
    unknown: Mapping[str, Bools]

    def __len__(self) -> int:
        return len(self.inside)

    def select(self, places: NDArray[np.int64] | Bools) -> WorldTables:
        """Return the worlds that `places` selects.

        Args:
            places: an array of indices, or an array with one truth value per world.
        """
        return WorldTables(
            self.inside[places],
            {name: table[places] for name, table in self.true.items()},
            {name: table[places] for name, table in self.unknown.items()},
        )

    def extent(self, formula: Formula) -> Bools:
        """Return which elements satisfy a formula about x if all unknown atoms are false.

        Returns:
            An array of truth values with shape (worlds, elements).

        Raises:
            TableTooLarge: the formula needs more than `MAX_CELLS_PER_WORLD` cells for a world.
        """
        size = self.inside.shape[1]
        cells = sum(size ** len(free) for free in formula.free_at)
        if cells > MAX_CELLS_PER_WORLD:
            raise TableTooLarge
        step = max(1, MAX_CELLS_AT_ONCE // cells)
        parts = []
        for start in range(0, len(self), step):
            cut = slice(start, start + step)
            true = {name: table[cut] for name, table in self.true.items()}
            structures = Structures.from_tables(self.inside[cut], true)
            value = evaluate(formula, TruthAlgebra(structures), cells * step)
            parts.append(broadcast_to_elements(value, formula, size) & self.inside[cut])
        found: Bools = np.concatenate(parts) if parts else np.zeros((0, size), bool)
        return found

    def to_world(self, place: int, name: str) -> World:
        """Return the world with index `place` as a `World`, with elements named a0, a1 and so on."""
        count = int(self.inside[place].sum())
        true = {name: _tuples(table[place]) for name, table in self.true.items()}
        unknown = {name: _tuples(table[place]) for name, table in self.unknown.items()}
        return World(
            name,
            tuple(f"a{element}" for element in range(count)),
            true,
            {name: some for name, some in unknown.items() if some},
        )


def _tuples(table: Bools) -> Tuples:
    return tuple(tuple(at) for at in np.argwhere(table).tolist())


def draw_worlds(
    stream: RandomStream, recipe: Recipe, count: int, size: int | None = None
) -> WorldTables:
    """Draw `count` random worlds without unknown atoms.

    Args:
        stream: the source of random numbers.
        recipe: the ranges of sizes and densities.
        count: the number of worlds.
        size: the number of elements of every world, or None to draw a number for each world.
    """
    least, most = recipe.sizes
    sizes = least + stream.integers(most - least + 1, count)
    if size is not None:
        sizes[:] = size
    inside = element_mask(sizes, most if size is None else size)
    true = {}
    for name, places in SIGNATURE.items():
        low, high = recipe.densities[name]
        density = low + (high - low) * stream.uniform(count)
        true[name] = draw_atoms(stream, inside, (density * sizes**places).astype(np.int64), places)
    return WorldTables(inside, true, {})
