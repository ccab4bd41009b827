"""Texts of templates and phrases, and what a data set of them is made of.

A post has one phrase of each of four types; there are five of a type. A phrase is a verb and its
core, the words that no other phrase and no template has: whoever looks for the core finds the phrase
in any of its forms. 4 templates with 5 x 5 x 5 x 5 phrases are 2,500 posts; without templates ("plain":
a line a type) there are 625.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from ....tools.sentence_rules.conditions import Compare, mentions
from ....tools.sentence_rules.terms import Term


class Worded(Protocol):
    """A phrase, whoever worded it: those below, or a model's (written.py)."""

    @property
    def core(self) -> str:
        """The words that stand in every form of it, and nowhere else."""
        ...

    @property
    def leaning(self) -> int:
        """The place of the label that one would expect of it."""
        ...

    def form(self, name: str) -> str: ...


@dataclass(frozen=True)
class Phrase:
    """base, third, gerund: forms of the verb. core: the words after it. leaning: the place of the
    label that one would expect of it."""

    base: str
    third: str
    gerund: str
    core: str
    leaning: int

    def form(self, name: str) -> str:
        """`base`, `third`, `gerund`, or `Gerund` at the beginning of a sentence."""
        verb = getattr(self, name.lower())
        return f"{verb[0].upper() + verb[1:] if name[0].isupper() else verb} {self.core}"


@dataclass(frozen=True)
class Topic:
    """labels: three. types: name -> its phrases, five of each of four. templates: texts with a slot
    `{0.base}` a type, by its number. item: what one text is called; verdict: what a label says of
    it."""

    name: str
    description: str
    labels: tuple[str, ...]
    types: tuple[tuple[str, tuple[Worded, ...]], ...]
    templates: tuple[str, ...]
    item: str = "post"
    verdict: str = "be by a {} author"

    @property
    def phrases(self) -> tuple[Worded, ...]:
        """Of all types, in order: 20."""
        return tuple(one for _, some in self.types for one in some)

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """A phrase of each type: their places among `phrases`, (625, 4)."""
        return list(product(*self.places))

    @property
    def places(self) -> list[range]:
        """The places of each type's phrases."""
        starts = [sum(len(some) for _, some in self.types[:n]) for n in range(len(self.types))]
        return [
            range(start, start + len(some))
            for start, (_, some) in zip(starts, self.types, strict=True)
        ]

    def plain(self, choice: Sequence[int]) -> str:
        phrases = self.phrases
        lines = zip(self.types, choice, strict=True)
        return "\n".join(f"{name}: {phrases[place].form('third')}" for (name, _), place in lines)

    def told(self, template: str, choice: Sequence[int]) -> str:
        phrases = self.phrases
        return template.format(*(_Forms(phrases[place]) for place in choice))


class _Forms:
    """`{0.third}` of a template."""

    def __init__(self, phrase: Worded) -> None:
        self._phrase = phrase

    def __getattr__(self, name: str) -> str:
        return self._phrase.form(name)


def has(*phrases: Worded) -> Compare:
    """The post has one of the phrases."""
    return mentions(tuple(Term(one.core) for one in phrases))
