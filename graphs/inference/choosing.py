"""`--inference choose`: the strategy that does best on the validation rows, and on no others.

The choice is by accuracy, then macro F1, then the order of `STRATEGIES`. Where the entries' worth
comes from the same rows, the figures of the choice are too good; those of the test rows are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...records import Observation, UsageError
from .reading import Predicted, Reading, Strategy
from .scores import accuracy, macro_f1
from .weighing import gold


@dataclass(frozen=True)
class Choice:
    """figures: of each strategy on the validation rows {"accuracy", "f1", "n"}. predicted: what
    each said there, so that the chosen one need not be asked again."""

    strategy: str
    figures: Mapping[str, Mapping[str, float]]
    predicted: Mapping[str, Predicted]


async def choose(
    reading: Reading,
    validation: Sequence[Observation],
    strategies: Mapping[str, Strategy],
    place: str = "",
) -> Choice:
    """One after the other, so that what one has asked of the judge the next one finds answered.
    Raises UsageError without validation rows or strategies, Unavailable for an outage."""
    names = ", ".join(strategies)
    if not validation or not strategies:
        raise UsageError(
            f"there are no validation rows to choose an inference by: name one of {names}"
        )
    true, inputs = gold(reading, validation), [one.input for one in validation]
    predicted = {name: await one(reading, inputs, place) for name, one in strategies.items()}
    figures = {
        name: {
            "accuracy": accuracy(one.codes, true),
            "f1": macro_f1(one.codes, true),
            "n": len(true),
        }
        for name, one in predicted.items()
    }
    best = max(figures, key=lambda name: (figures[name]["accuracy"], figures[name]["f1"]))
    return Choice(best, figures, predicted)
