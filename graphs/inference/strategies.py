"""The inference strategies by name. The first strategy is the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json, UsageError
from . import best, filter_weight, multi, one_step, two_step, weighted
from .reading import Reading, RowPredictions, Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "multi": multi.predict,
    "best": best.predict,
    "filter-weight": filter_weight.predict,
    "one-step": one_step.predict,
    "two-step": two_step.predict,
    "weighted": weighted.predict,
}


def get_strategy(name: str) -> Strategy:
    """Return the inference strategy with this name.

    Raises:
        UsageError: The name is unknown. The message lists the valid names.
    """
    if name not in STRATEGIES:
        raise UsageError(f"unknown inference {name!r}: it must be one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]


async def predict(
    name: str, reading: Reading, inputs: Sequence[Json], place: str = ""
) -> RowPredictions:
    """Predict a label for each of n rows with an inference strategy.

    Args:
        name: The name of the strategy.
        reading: The bank.
        inputs: The rows.
        place: A prefix for the paths of model calls; needed only if a session uses several banks.

    Raises:
        UsageError: The name is unknown.
        Unavailable: The judge or the model gave no answer.
    """
    return await get_strategy(name)(reading, inputs, place)
