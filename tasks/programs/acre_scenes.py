"""The vocabulary of ACRE: 48 entities that scenes contain, and the three possible outputs of a
scene.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

COLORS = ("blue", "brown", "cyan", "gray", "green", "purple", "red", "yellow")
MATERIALS = ("metal", "rubber")
SHAPES = ("cube", "cylinder", "sphere")
ENTITIES = tuple(f"{c} {m} {s}" for c in COLORS for m in MATERIALS for s in SHAPES)
ON, OFF, UNDETERMINED = OUTPUTS = ("on", "off", "undetermined")
T = TypeVar("T")


def scene_name(scene: Sequence[str]) -> str:
    """Return the entities of a scene as one text."""
    return ", ".join(scene)


def sample_without_replacement(rng: random.Random, population: Sequence[T], count: int) -> list[T]:
    """Draw `count` different elements of `population`, in random order.

    Only `Random.random` is used, because Python keeps its numbers stable across versions.
    """
    left = list(population)
    return [left.pop(int(rng.random() * len(left))) for _ in range(count)]
