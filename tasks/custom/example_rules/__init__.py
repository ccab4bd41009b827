"""Generated problems of the task `examples`: everyday rules of many kinds, with random details.

A kind draws a rule and inputs for it. The rule is Python source, so that a problem can be generated
again from its record, and so that a reader sees what was planted.
"""

from __future__ import annotations

import math
import random
from datetime import date, datetime, timedelta, timezone
from typing import NamedTuple

from ....records import Json
from ..pair_values import order_fields
from . import numbers, records, texts
from .drawing import Kind

SHOWN, HIDDEN = 8, 6  # pairs of a problem
_DRAWS = 60  # inputs that are drawn until enough of them are different
KINDS: dict[str, Kind] = {
    **texts.KINDS,
    **numbers.KINDS,
    **records.KINDS,
}
RULE_NAMES = {  # that the source of a rule may use
    "datetime": datetime,
    "date": date,
    "timedelta": timedelta,
    "timezone": timezone,
    "math": math,
}


class Planted(NamedTuple):
    """A rule with inputs.

    Args:
        rule: the source of an expression in x.
        inputs: the inputs, each different.
    """

    rule: str
    inputs: list[Json]


def plant(kind: str, rng: random.Random, further: int = 0) -> Planted:
    """Draw a rule of a kind, and inputs of which not all have the same output.

    Args:
        kind: a key of `KINDS`.
        rng: the source of randomness.
        further: how many inputs are drawn besides those of a problem; some may be equal.
    """
    while True:
        rule, draw = KINDS[kind](rng)
        inputs: dict[str, Json] = {}
        for _ in range(_DRAWS):
            value = order_fields(draw(rng))
            inputs.setdefault(repr(value), value)
            if len(inputs) == SHOWN + HIDDEN:
                break
        some = list(inputs.values())
        outputs = [repr(apply_rule(rule, value)) for value in some]
        enough = len(some) == SHOWN + HIDDEN and {"None"} & set(outputs) <= set(outputs[:SHOWN])
        # Both parts show what the rule does.
        if enough and len(set(outputs[:SHOWN])) > 1 and len(set(outputs[SHOWN:])) > 1:
            return Planted(rule, [*some, *(order_fields(draw(rng)) for _ in range(further))])


def apply_rule(rule: str, value: Json) -> Json:
    """Return the output of a planted rule for an input."""
    return order_fields(eval(rule, {**RULE_NAMES, "x": value}))
