"""Reading a bank: what its sentences together say of new rows, one file a strategy.

    reading = Reading(entries, view, judge, prompts=prompts, ask=ask)
    predicted = await predict("multi", reading, inputs)
    predicted.codes      # [0, 1, -2, ...]: index of a label, or why there is none

Strategies (HypoGeniC; mended as each file says): `best`, `filter-weight`, `one-step`, `two-step`,
`multi` (the default, as in HypoBench's published results). Each has a meaning without a model, by
exact rules alone. All questions go side by side; none waits for another row's. A row that nothing
decides gets the majority label of the shown rows, in either order of two texts; every other
decision follows the sentences, so that texts swapped swap it where the judge does.

`choose` picks a strategy by validation rows. `upper_bound` (right where any entry is) is a figure
beside, never a strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import Json, Observation, UsageError
from . import best, filter_weight, multi, one_step, two_step
from .choosing import Choice
from .choosing import choose as _choose
from .reading import (
    DOES_NOT_APPLY,
    NEEDS_MODEL,
    REASONS,
    UNREADABLE,
    Asking,
    Decision,
    Entry,
    Judging,
    Predicted,
    Reading,
    ReadingPrompts,
    ReadingSettings,
    Strategy,
    Worth,
)
from .weighing import upper_bound, weighed, with_right

__all__ = [
    "DEFAULT", "DOES_NOT_APPLY", "NEEDS_MODEL", "REASONS", "STRATEGIES", "UNREADABLE", "Asking", "Choice",
    "Decision", "Entry", "Judging", "Predicted", "Reading", "ReadingPrompts", "ReadingSettings",
    "Strategy", "Worth", "choose", "predict", "strategy", "upper_bound", "weighed", "with_right",
]  # fmt: skip

DEFAULT = "multi"
STRATEGIES: Mapping[str, Strategy] = {
    "multi": multi.predict,
    "best": best.predict,
    "filter-weight": filter_weight.predict,
    "one-step": one_step.predict,
    "two-step": two_step.predict,
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


async def choose(reading: Reading, validation: Sequence[Observation], place: str = "") -> Choice:
    """The strategy that does best on the validation rows (choosing.py says how)."""
    return await _choose(reading, validation, STRATEGIES, place)
