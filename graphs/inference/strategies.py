"""The strategies by name; the first is the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json, UsageError
from . import best, filter_weight, multi, one_step, two_step, weighted
from .reading import Predicted, Reading, Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "multi": multi.predict,
    "best": best.predict,
    "filter-weight": filter_weight.predict,
    "one-step": one_step.predict,
    "two-step": two_step.predict,
    "weighted": weighted.predict,
}


def strategy(name: str) -> Strategy:
    """Raises UsageError, which names the valid ones, for an unknown name."""
    if name not in STRATEGIES:
        raise UsageError(f"unknown inference {name!r}: it is one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]


async def predict(
    name: str, reading: Reading, inputs: Sequence[Json], place: str = ""
) -> Predicted:
    """What the strategy `name` predicts for each of n inputs. place: see `Strategy`. Raises
    UsageError for an unknown name, Unavailable for an outage of judge or model."""
    return await strategy(name)(reading, inputs, place)
