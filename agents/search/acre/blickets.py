"""What is likeliest of ACRE: some objects are blickets, and a scene is on iff it holds one.

All that was in a scene that is off is a dud. Of a scene that is on, what is left without the duds
holds a blicket; `few` is a smallest choice that explains them all, `many` is everything left. Of
objects that were never seen, one alone is more often a dud, but of two or more one is more often a
blicket: so the first answer says "on iff it holds one of the few, or at least two objects that are
no duds", and another "one of the many, or at least four", for a world with fewer blickets. Both
were settled on generated problems (tasks/acre_generator.py), not on published ones; LOG.md has the
figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .grammar import EVERY, Kind, Literal, Rule, Scene


class Evidence:
    """What the shown scenes say: which objects do nothing (duds), and what is left of each scene
    that is on."""

    def __init__(self, shown: Sequence[Scene], on: Sequence[bool]) -> None:
        duds = {entity for scene, lit in zip(shown, on, strict=True) if not lit for entity in scene}
        lit = [frozenset(scene) - duds for scene, lit in zip(shown, on, strict=True) if lit]
        self.left = [some for some in dict.fromkeys(lit) if not any(one < some for one in lit)]
        self.explained = all(self.left)  # else a scene is on that holds nothing but duds
        self.duds = tuple(sorted(duds))
        self.many = tuple(sorted(frozenset().union(*self.left)))
        self.few = _few(self.left)

    def sets(self) -> list[Kind]:
        """Kinds of objects that the shown scenes suggest."""
        kinds = []
        if len(self.many) > 1:
            kinds.append(Kind(entities=self.many))
        if len(self.few) > 1 and self.few != self.many:
            kinds.append(Kind(entities=self.few))
        if self.duds:
            kinds.append(Kind(entities=self.duds, others=True))
        return kinds

    def rules(self) -> Iterator[Rule]:
        """The likeliest rule, and another; none where blickets do not explain the shown scenes."""
        if not self.explained or not self.left:
            return
        unknown = Kind(entities=self.duds, others=True) if self.duds else EVERY
        for blickets, least in ((self.few, 2), (self.many, 4)):
            known = Literal("any", Kind(entities=blickets))
            yield Rule(known, "or", Literal("least", unknown, least))


def _few(left: Sequence[frozenset[str]]) -> tuple[str, ...]:
    """Entities, one at least of each set: again and again the one that most sets hold."""
    chosen: list[str] = []
    open_sets = [some for some in left if some]
    while open_sets:
        held = Counter(entity for some in open_sets for entity in some)
        chosen.append(min(held, key=lambda entity: (-held[entity], entity)))
        open_sets = [some for some in open_sets if chosen[-1] not in some]
    return tuple(sorted(chosen))
