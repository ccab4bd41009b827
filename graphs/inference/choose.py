"""`--inference choose`: select the strategy that does best on the validation rows.

Strategies are compared by accuracy, then macro F1, then the order of `STRATEGIES`. Where the worth
of entries comes from the same rows, the figures of the choice are optimistic; those of the test
rows are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...records import Json, UsageError
from ...tools.label_scores import accuracy, macro_f1
from .reading import Reading, RowPredictions, Strategy
from .strategies import STRATEGIES
from .weighing import encode_labels


@dataclass(frozen=True)
class StrategyChoice:
    """The inference strategy selected on validation rows, with the scores of all strategies.

    Args:
        strategy: its name.
        accuracy: accuracy of each strategy on the validation rows.
        f1: macro F1 of each strategy on the validation rows.
        n: number of validation rows.
        predicted: predictions of each strategy for these rows.
    """

    strategy: str
    accuracy: Mapping[str, float]
    f1: Mapping[str, float]
    n: int
    predicted: Mapping[str, RowPredictions]


async def choose_strategy(
    reading: Reading,
    inputs: Sequence[Json],
    labels: Sequence[str],
    strategies: Mapping[str, Strategy] = STRATEGIES,
) -> StrategyChoice:
    """Select the strategy that labels the validation rows best.

    The strategies run one after the other, so that each reuses the judge's answers to earlier
    strategies.

    Args:
        reading: the bank.
        inputs: the n validation rows.
        labels: their labels.
        strategies: the strategies to compare, by name.

    Raises:
        UsageError: there are no rows or no strategies.
        DataError: a label is unknown.
        Unavailable: judge or model cannot be reached.
    """
    if not inputs or not strategies:
        names = ", ".join(strategies or STRATEGIES)
        raise UsageError(
            f"there are no validation rows to choose a strategy with: use one of {names}"
        )
    true = encode_labels(reading, labels)
    predicted = {name: await one(reading, inputs, "") for name, one in strategies.items()}
    right = {name: accuracy(one.codes, true) for name, one in predicted.items()}
    f1 = {name: macro_f1(one.codes, true) for name, one in predicted.items()}
    best = max(strategies, key=lambda name: (right[name], f1[name]))
    return StrategyChoice(best, right, f1, len(true), predicted)
