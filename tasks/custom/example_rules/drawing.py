"""What the rules of generated problems draw: words, names, numbers and days."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

FIRST = [
    "Ada", "Alan", "Grace", "Edsger", "Barbara", "Donald", "Frances", "John", "Radia", "Tim",
    "Hedy", "Linus", "Margaret", "Niklaus", "Ken",
]  # fmt: skip
LAST = [
    "Lovelace", "Turing", "Hopper", "Dijkstra", "Liskov", "Knuth", "Allen", "McCarthy", "Perlman",
    "Lee", "Lamarr", "Torvalds", "Hamilton",
]  # fmt: skip
NOUNS = [
    "river", "stone", "cloud", "lamp", "garden", "winter", "harbor", "engine", "mirror", "paper",
    "signal", "anchor", "market", "window",
]  # fmt: skip
MARKS = "-_/:;,|."

Draw = Callable[[random.Random], Any]  # draws an input
Rule = tuple[str, Draw]  # the source of an expression in x, and its inputs
Kind = Callable[[random.Random], Rule]  # draws a rule


def pick(values: Sequence[Any], rng: random.Random) -> Any:
    """Return one of the values."""
    return values[int(rng.random() * len(values))]


def any_of(rules: Sequence[str], draw: Draw) -> Kind:
    """Return a kind that has one of several rules, all for the same inputs."""
    return lambda rng: (pick(rules, rng), draw)


def between(low: int, high: int, rng: random.Random) -> int:
    """Return an integer from `low` to `high`."""
    return low + int(rng.random() * (high - low + 1))


def draw_name(rng: random.Random) -> str:
    """Return a first and a last name."""
    return f"{pick(FIRST, rng)} {pick(LAST, rng)}"


def draw_phrase(rng: random.Random, least: int = 2, most: int = 4) -> str:
    """Return some nouns."""
    return " ".join(pick(NOUNS, rng) for _ in range(between(least, most, rng)))


def draw_day(rng: random.Random) -> date:
    """Return a day from 1972 to 2027."""
    return date.fromordinal(between(720_000, 740_000, rng))


def draw_fields(mark: str, count: int) -> Draw:
    """Return a way to draw `count` fields, each a noun with a number, with a mark between them."""
    return lambda rng: mark.join(f"{pick(NOUNS, rng)}{between(1, 99, rng)}" for _ in range(count))
