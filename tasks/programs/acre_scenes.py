"""Scenes of ACRE: the vocabulary of 48 entities, and what a machine says of a scene."""

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
    return ", ".join(scene)


def some(rng: random.Random, of: Sequence[T], count: int) -> list[T]:
    """`count` different ones of `of`, in the order drawn; only `Random.random` is used."""
    left = list(of)
    return [left.pop(int(rng.random() * len(left))) for _ in range(count)]
