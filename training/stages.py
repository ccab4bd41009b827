"""The three stages of a preference (GEAR, section 6.1): what makes one of two answers better."""

from __future__ import annotations

from enum import IntEnum


class Stage(IntEnum):
    """The criterion that decides a pair.

    Parsing: only the chosen answer can be parsed. Consistency: both can, and only the chosen one is
    consistent. GEAR: both are consistent, and the chosen one has the higher score.
    """

    PARSING = 0
    CONSISTENCY = 1
    GEAR = 2


STAGES = tuple(stage.name.lower() for stage in Stage)  # the names in tables, files and settings
