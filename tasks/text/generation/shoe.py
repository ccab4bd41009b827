"""`labels:shoe`: the colour of shoes that a customer buys (HypoBench, appendix B.4).

There are three variants, which differ in the rule for the colour:

- shoe: the colour of the shirt;
- simple: for a man the colour of the shirt, for a woman the colour of the hat;
- hard: with a black or orange hat, the colour of the shirt; with a white or red hat, the colour of
  the bag; with a green or blue hat, black for a man and white for a woman.

There are 3,456 possible customers. A data set has 1,100 different customers, split into 900, 100
and 100 rows. The published splits have the same sizes, but 111 of their training rows are
duplicates, and 25 of their 100 test rows also occur in the training rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product

from ....records import Observation
from ....tools.sentence_rules.conditions import AllOf, Comparison, mentions
from ....tools.sentence_rules.rules import ConditionClause, Rule
from ....tools.sentence_rules.terms import Term
from ..columns import Columns
from ..problems import LabelledData
from .planted import Noise, apply_rule, build_labelled_data, make_clean_splits

COLOURS = ("white", "red", "orange", "green", "blue", "black")
TEXT_COLUMN = "appearance"
_SIZES = {"train": 900, "val": 100, "test": 100}
_ABOUT = "How a customer looks, and the colour of the shoes that the customer bought."
_NAMES = {"shoe": "shoe", "simple": "shoe_two_level/simple", "hard": "shoe_two_level/hard"}


def list_customers() -> list[str]:
    """Return the descriptions of all possible customers, in a fixed order."""
    parts = product(
        ("young", "old"), ("tall", "short"), ("man", "woman"), COLOURS, COLOURS,
        ("large", "small"), COLOURS,
    )  # fmt: skip
    return [
        f"a {age} and {height} {gender} with {hat} hat, {shirt} shirt, and a {size} {bag} bag"
        for age, height, gender, hat, shirt, size, bag in parts
    ]


def _has(*texts: str) -> Comparison:
    return mentions(tuple(Term(text) for text in texts))


def _same_colour_clauses(thing: str, *conditions: Comparison) -> list[ConditionClause]:
    """Return a clause per colour: under the conditions the shoes have the thing's colour."""
    return [
        ConditionClause(AllOf((*conditions, own)) if conditions else own, colour)
        for colour in COLOURS
        for own in (_has(f"{colour} {thing}"),)
    ]


def _clauses(variant: str) -> list[ConditionClause]:
    man, woman = _has("man"), _has("woman")
    if variant == "shoe":
        return _same_colour_clauses("shirt")
    if variant == "simple":
        return [*_same_colour_clauses("shirt", man), *_same_colour_clauses("hat", woman)]
    cool = _has("green hat", "blue hat")
    return [
        *_same_colour_clauses("shirt", _has("black hat", "orange hat")),
        *_same_colour_clauses("bag", _has("white hat", "red hat")),
        ConditionClause(AllOf((man, cool)), "black"),
        ConditionClause(AllOf((woman, cool)), "white"),
    ]


def build_findings(variant: str) -> list[Rule]:
    """Return the rules of a variant. Exactly one of them applies to each customer."""
    return [Rule((clause,)) for clause in _clauses(variant)]


class ShoeGenerator:
    """The generator `shoe`, which describes customers and predicts the colour of the shoes they
    buy.
    """

    name = "shoe"
    about = "customers and the colour of their shoes, in three variants"

    def list_sets(self, seed: int) -> Mapping[str, frozenset[str]]:
        """Return the names of the three data sets, one per variant, with their tags."""
        return {name: frozenset((variant,)) for variant, name in _NAMES.items()}

    def iter_further_names(self, seed: int) -> Iterator[str]:
        """Return an empty iterator, because this generator has no additional data sets."""
        return iter(())

    def generate(self, name: str, seed: int, noise: Noise = "exact") -> LabelledData:
        """Return the data set with this name."""
        variant = next(key for key, own in _NAMES.items() if own == name)
        rules = build_findings(variant)
        columns = Columns({TEXT_COLUMN: {"kind": "text", "about": "what is seen"}}, "text", COLOURS)
        chosen = random.Random(f"{name} {seed}").sample(list_customers(), sum(_SIZES.values()))
        inputs = [{TEXT_COLUMN: one} for one in chosen]
        rule = Rule(tuple(clause for one in rules for clause in one.clauses))
        labels = apply_rule(inputs, rule, columns, COLOURS)
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
        return build_labelled_data(
            name, columns, COLOURS, make_clean_splits(splits), _ABOUT, rules, rules, told
        )


GENERATOR = ShoeGenerator()
