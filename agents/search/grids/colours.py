"""Names of the ten colours, as answers say them."""

from __future__ import annotations

NAMES = ("black", "blue", "red", "green", "yellow", "grey", "pink", "orange", "cyan", "brown")


def named(colour: int) -> str:
    return f"{NAMES[colour]} ({colour})"
