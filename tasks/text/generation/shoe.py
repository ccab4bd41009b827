"""`labels:shoe`: which colour of shoes a customer buys (HypoBench, appendix B.4), in three variants.

- shoe: that of the shirt;
- simple: of a man that of the shirt, of a woman that of the hat;
- hard: under a black or orange hat that of the shirt, under a white or red hat that of the bag,
  under a green or blue hat black for a man and white for a woman.

There are 3,456 customers; a set has 1,100 different ones, 900, 100 and 100 rows as published, where
111 training rows stand twice and 25 of the 100 test rows stand among them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product

from ....records import Observation
from ....tools.sentence_rules.conditions import AllOf, Compare, mentions
from ....tools.sentence_rules.rules import Rule, When
from ....tools.sentence_rules.terms import Term
from ..columns import Columns
from ..problems import Rows
from .planted import Noise, clean, labelled, planted

COLOURS = ("white", "red", "orange", "green", "blue", "black")
TEXT = "appearance"
_SIZES = {"train": 900, "val": 100, "test": 100}
_ABOUT = "How a customer looks, and the colour of the shoes that the customer bought."
_NAMES = {"shoe": "shoe", "simple": "shoe_two_level/simple", "hard": "shoe_two_level/hard"}


def customers() -> list[str]:
    """All of them, in order."""
    parts = product(
        ("young", "old"), ("tall", "short"), ("man", "woman"), COLOURS, COLOURS,
        ("large", "small"), COLOURS,
    )  # fmt: skip
    return [
        f"a {age} and {height} {gender} with {hat} hat, {shirt} shirt, and a {size} {bag} bag"
        for age, height, gender, hat, shirt, size, bag in parts
    ]


def _has(*texts: str) -> Compare:
    return mentions(tuple(Term(text) for text in texts))


def _same(thing: str, *conditions: Compare) -> list[When]:
    """A clause a colour: the shoes have the colour of the thing, where the conditions hold."""
    return [
        When(AllOf((*conditions, own)) if conditions else own, colour)
        for colour in COLOURS
        for own in (_has(f"{colour} {thing}"),)
    ]


def _clauses(variant: str) -> list[When]:
    man, woman = _has("man"), _has("woman")
    if variant == "shoe":
        return _same("shirt")
    if variant == "simple":
        return [*_same("shirt", man), *_same("hat", woman)]
    cool = _has("green hat", "blue hat")
    return [
        *_same("shirt", _has("black hat", "orange hat")),
        *_same("bag", _has("white hat", "red hat")),
        When(AllOf((man, cool)), "black"),
        When(AllOf((woman, cool)), "white"),
    ]


def findings(variant: str) -> list[Rule]:
    """The sentences of a variant: none contradicts another, and each customer has one."""
    return [Rule((clause,)) for clause in _clauses(variant)]


class ShoeSets:
    name = "shoe"
    about = "customers and the colour of their shoes, in three variants"

    def sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        return {name: frozenset((variant,)) for variant, name in _NAMES.items()}

    def more(self, seed: int) -> Iterator[str]:
        return iter(())

    def made(self, name: str, seed: int, noise: Noise = "exact") -> Rows:
        variant = next(key for key, own in _NAMES.items() if own == name)
        rules = findings(variant)
        columns = Columns({TEXT: {"kind": "text", "about": "what is seen"}}, "text", COLOURS)
        chosen = random.Random(f"{name} {seed}").sample(customers(), sum(_SIZES.values()))
        inputs = [{TEXT: one} for one in chosen]
        rule = Rule(tuple(clause for one in rules for clause in one.clauses))
        labels = labelled(inputs, rule, columns, COLOURS)
        rows = [Observation(one, str(label)) for one, label in zip(inputs, labels, strict=True)]
        splits, start = {}, 0
        for split, size in _SIZES.items():
            splits[split] = rows[start : start + size]
            start += size
        told = {
            "underlying_model": "decision_tree",
            "noise_level": 0,
            "true_num_hypotheses": len(rules),
            "depth": 1 if variant == "shoe" else 2,
            "seed": seed,
        }
        return planted(name, columns, COLOURS, clean(splits), _ABOUT, rules, rules, told)


GENERATOR = ShoeSets()
