"""Predict labels of new rows from a bank of sentences, with one file for each strategy.

    reading = Reading(entries, view, judge, prompts=prompts, ask=ask)
    reading = await weigh_entries(reading, validation)  # if there are validation rows
    predicted = await predict("multi", reading, inputs)
    predicted.codes      # [0, 1, -2, ...]: index of a label, or why there is none

The strategies of HypoGeniC, corrected as each file says, are `best`, `filter-weight`, `one-step`,
`two-step` and `multi` (the default, as in HypoBench's published results). `weighted`, a regression
over all sentences, is Peirce's own. Each also works without a model, by exact rules alone. All
questions run concurrently; none waits for another row's. A row that nothing decides gets the
majority label of the shown rows, in either order of two texts. Every other decision follows the
sentences, so swapping two texts swaps it if judge and model are symmetric.

`choose.choose_strategy` selects a strategy by validation rows.
"""

from __future__ import annotations

from .reading import (
    DOES_NOT_APPLY,
    NEEDS_MODEL,
    REASONS,
    UNREADABLE,
    Decision,
    Entry,
    ModelQuery,
    Reading,
    ReadingSettings,
    RowPredictions,
    SentenceJudge,
    Strategy,
    Worth,
)
from .strategies import STRATEGIES, get_strategy, predict
from .weighing import update_right_rows, weigh_entries

__all__ = [
    "DOES_NOT_APPLY",
    "NEEDS_MODEL",
    "REASONS",
    "STRATEGIES",
    "UNREADABLE",
    "Decision",
    "Entry",
    "ModelQuery",
    "Reading",
    "ReadingSettings",
    "RowPredictions",
    "SentenceJudge",
    "Strategy",
    "Worth",
    "get_strategy",
    "predict",
    "update_right_rows",
    "weigh_entries",
]  # fmt: skip
