"""`--inference choose`: the strategy that does best on the validation rows, and on no others.

By accuracy, then macro F1, then the order of `STRATEGIES`. Where the entries' worth comes from the
same rows, the figures of the choice are too good; those of the test rows are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...records import Json, UsageError
from ...tools.label_scores import accuracy, macro_f1
from .reading import Predicted, Reading, Strategy
from .strategies import STRATEGIES
from .weighing import gold


@dataclass(frozen=True)
class Choice:
    """accuracy, f1: of each strategy on the n validation rows. predicted: what each said there."""

    strategy: str
    accuracy: Mapping[str, float]
    f1: Mapping[str, float]
    n: int
    predicted: Mapping[str, Predicted]


async def choose(
    reading: Reading,
    inputs: Sequence[Json],
    labels: Sequence[str],
    strategies: Mapping[str, Strategy] = STRATEGIES,
) -> Choice:
    """inputs, labels: the n validation rows. The strategies go one after the other, so that what
    one has asked of the judge the next one finds answered. Raises UsageError without rows or
    strategies, DataError for an unknown label, Unavailable for an outage."""
    if not inputs or not strategies:
        names = ", ".join(strategies or STRATEGIES)
        raise UsageError(f"there are no validation rows to choose by: name one of {names}")
    true = gold(reading, labels)
    predicted = {name: await one(reading, inputs, "") for name, one in strategies.items()}
    right = {name: accuracy(one.codes, true) for name, one in predicted.items()}
    f1 = {name: macro_f1(one.codes, true) for name, one in predicted.items()}
    best = max(strategies, key=lambda name: (right[name], f1[name]))
    return Choice(best, right, f1, len(true), predicted)
