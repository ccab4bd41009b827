"""The three stages of a preference (GEAR, section 6.1): which of two answers is better, and by what."""

from __future__ import annotations

from enum import IntEnum


class Stage(IntEnum):
    """Parsing: one can be read. Consistency: both can, one is consistent. GEAR: both are, and one has the
    higher score."""

    PARSING = 0
    CONSISTENCY = 1
    GEAR = 2


STAGES = tuple(stage.name.lower() for stage in Stage)  # as tables, files and settings name them
