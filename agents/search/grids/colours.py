"""Names of the ten colours, as answers say them."""

from __future__ import annotations

from ....tasks.grid_rules import NAMES


def named(colour: int) -> str:
    return f"{NAMES[colour]} ({colour})"
