"""The three stages of preference pairs (GEAR, section 6.1), which compare answers by different
criteria.
"""

from __future__ import annotations

from enum import IntEnum


class Stage(IntEnum):
    """The criterion by which the chosen answer of a preference pair is better than the rejected
    one.

    PARSING: only the chosen answer can be parsed. CONSISTENCY: both answers can be parsed, and only
    the chosen answer is consistent with the observations. GEAR: both answers are consistent, and
    the chosen answer has the higher score.
    """

    PARSING = 0
    CONSISTENCY = 1
    GEAR = 2


STAGES = tuple(stage.name.lower() for stage in Stage)  # the names in tables, files and settings
