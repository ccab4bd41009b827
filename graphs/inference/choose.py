"""`--inference choose`: select the strategy that does best on the validation rows.

Strategies are compared by accuracy, then by macro F1, then by their order in `STRATEGIES`. If the
accuracies of the sentences were measured on the same validation rows, the results of the selected
strategy on these rows are optimistic. Its results on test rows are not affected.
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
        strategy: The name of the selected strategy.
        accuracy: The accuracy of each strategy on the validation rows.
        f1: The macro F1 of each strategy on the validation rows.
        n: The number of validation rows.
        predicted: The predictions of each strategy for the validation rows.
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

    The strategies run one after the other, so that each strategy reuses recorded answers of the
    judge.

    Args:
        reading: The bank.
        inputs: The n validation rows.
        labels: The true labels of the validation rows.
        strategies: The strategies to compare, by name.

    Raises:
        UsageError: There are no validation rows or no strategies.
        DataError: A label is unknown.
        Unavailable: The judge or the model gave no answer.
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
