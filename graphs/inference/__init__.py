"""Reading a bank: what its sentences together say of new rows, one file a strategy.

    reading = Reading(entries, view, judge, prompts=prompts, ask=ask)
    reading = await weighed(reading, validation)        # where there are such rows
    predicted = await predict("multi", reading, inputs)
    predicted.codes      # [0, 1, -2, ...]: index of a label, or why there is none

Strategies (HypoGeniC; mended as each file says): `best`, `filter-weight`, `one-step`, `two-step`,
`multi` (the default, as in HypoBench's published results), and `weighted` (ours: a regression over all
sentences). Each has a meaning without a model, by exact rules alone. All questions go side by side; none waits for another row's. A row that nothing
decides gets the majority label of the shown rows, in either order of two texts; every other
decision follows the sentences, so that texts swapped swap it where judge and model do.

`choose.choose` picks a strategy by validation rows.
"""

from __future__ import annotations

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
    ReadingSettings,
    Strategy,
    Worth,
)
from .strategies import STRATEGIES, predict, strategy
from .weighing import weighed, with_right

__all__ = [
    "DOES_NOT_APPLY", "NEEDS_MODEL", "REASONS", "STRATEGIES", "UNREADABLE", "Asking", "Decision",
    "Entry", "Judging", "Predicted", "Reading", "ReadingSettings", "Strategy", "Worth", "predict",
    "strategy", "weighed", "with_right",
]  # fmt: skip
