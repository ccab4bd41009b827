"""Two grids made one, cell by cell: by and, or, xor, one over the other. Which way is read off the
pairs: a way is a text with `v` and `w`, tried on the different triples (v, w, output) there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from .colours import named

Triples = frozenset[tuple[int, int, int]]

# (text, what it says of "the first" and "the second", price); {k} is a colour.
PAINTING = [
    ("{k} if v and w else 0", "{name} where both are coloured", 0.0),
    ("{k} if v or w else 0", "{name} where either is coloured", 0.1),
    ("{k} if bool(v) != bool(w) else 0", "{name} where just one is coloured", 0.1),
    ("0 if v or w else {k}", "{name} where neither is coloured", 0.0),
    ("0 if v and w else {k}", "{name} unless both are coloured", 0.2),
    ("{k} if v and not w else 0", "{name} where only the first is coloured", 0.2),
    ("{k} if w and not v else 0", "{name} where only the second is coloured", 0.2),
    ("{k} if bool(v) == bool(w) else 0", "{name} where both or neither are coloured", 0.2),
    ("{k} if v == w else 0", "{name} where they are equal", 0.4),
    ("{k} if v != w else 0", "{name} where they differ", 0.4),
    ("{k} if v == w else v", "the first, {name} where they are equal", 0.7),
    ("{k} if v != w else v", "the first, {name} where they differ", 0.5),
    ("{k} if v and w else v", "the first, {name} where both are coloured", 0.6),
    ("{k} if v and w else v or w", "either, {name} where both are coloured", 0.6),
    ("{k} if w and not v else v", "the first, {name} where only the second is coloured", 0.5),
    ("{k} if v and not w else v", "the first, {name} where the second is not coloured", 0.6),
    ("v or w or {k}", "the first over the second over {name}", 0.6),
]
PLAIN = [
    ("v or w", "the first over the second", 0.0),
    ("w or v", "the second over the first", 0.0),
    ("v if w else 0", "the first where the second is coloured", 0.1),
    ("w if v else 0", "the second where the first is coloured", 0.1),
    ("0 if v and w else v or w", "what just one of them shows", 0.2),
    ("v if v == w else 0", "what both show alike", 0.2),
    ("0 if v == w else v", "the first where they differ", 0.3),
    ("0 if w else v", "the first where the second is black (0)", 0.2),
    ("0 if v else w", "the second where the first is black (0)", 0.2),
    ("max(v, w)", "the larger number of the two", 0.6),
    ("min(v, w)", "the smaller number of the two", 0.6),
]


@lru_cache(maxsize=4096)
def _made(text: str) -> Any:
    return eval(f"lambda v, w: {text}")


def ways(triples: Triples, paints: Iterable[int]) -> Iterator[tuple[str, str, float]]:
    """The texts that hold for all triples, what they say, and their prices."""
    candidates = list(PLAIN)
    for k in paints:
        candidates += [
            (text.format(k=k), says.format(name=named(k)), price + 0.1)
            for text, says, price in PAINTING
        ]
    for text, says, price in candidates:
        made = _made(text)
        if all(made(v, w) == o for v, w, o in triples):
            yield text, says, price


def different(triples: Triples) -> bool:
    """Whether both grids say something: neither is the output, and neither is of one colour."""
    return all(
        (
            any(v != o for v, _, o in triples),
            any(w != o for _, w, o in triples),
            len({v for v, _, _ in triples}) > 1,
            len({w for _, w, _ in triples}) > 1,
        )
    )
