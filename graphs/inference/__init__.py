"""Predict labels of new rows from a bank of sentences. Each strategy has its own file.

    reading = Reading(entries, view, judge, prompts=prompts, ask=ask)
    reading = await weigh_entries(reading, validation)  # if there are validation rows
    predicted = await predict("multi", reading, inputs)
    predicted.codes      # [0, 1, -2, ...]: index of a label, or why there is none

The strategies of HypoGeniC are `best`, `filter-weight`, `one-step`, `two-step` and `multi` (the
default, as in HypoBench's published results). Each file names its corrections of the original. The
strategy `weighted`, a regression over all sentences, is Peirce's own. Every strategy also works
without a model, with exact rules alone. All questions to models run concurrently.

If no sentence decides a row, the row gets the majority label of the shown rows. In tasks that
compare two texts, this label does not depend on the order of the texts. All other decisions follow
the sentences: swapping the two texts swaps the label, if the judge and the model are symmetric.

`choose.choose_strategy` selects a strategy by its results on validation rows.
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
