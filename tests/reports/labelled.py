"""Problems of labelled text and what a session predicted of them, in a line each."""

from __future__ import annotations

from peirce.records import Observation, Problem, StepRecord

RAIN = ("wet rain falls", "rain and rain", "a rain day", "much rain here")
SUN = ("dry sun shines", "sun and sun", "a sun day", "much sun here")


def problem(name="p", shown=(), labels=("wet", "dry"), columns=None, shape="text", **splits):
    """shown and each split: (input, label) pairs."""
    hidden, places = [], {}
    for split in ("val", "ind", "ood"):
        if split in splits:
            places[split] = [len(hidden), len(hidden) + len(splits[split])]
            hidden += splits[split]
    public = {
        "labels": list(labels),
        "label_name": "label",
        "description": "",
        "columns": columns or {"text": {"kind": "text", "about": ""}},
        "shape": shape,
    }
    pairs = [tuple(Observation(i, o) for i, o in some) for some in (shown, hidden)]
    return Problem(name, "labels", "text", *pairs, public, {"splits": places}, name)


def rows(labels):
    """Texts that do not matter, with these labels (one letter each)."""
    return [({"text": f"row {place}"}, label) for place, label in enumerate(labels)]


def step(strategy="multi", problem="p", number=1, **splits):
    """Each split: its labels (a text of one letter each, "-" where there is none), or the whole
    object."""
    told = {
        split: {"labels": [None if one == "-" else one for one in given], "reasons": {}}
        if isinstance(given, str)
        else given
        for split, given in splits.items()
    }
    return StepRecord(problem, number, (), {"inference": {"strategy": strategy, "splits": told}})
