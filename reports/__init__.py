"""Evaluations, tables, figures and pages that are computed from a store.

Reports only read stored sessions. They do not depend on the code that ran a session.
"""

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")

from .metrics.evaluation import (
    Evaluation,
    Metric,
    Scores,
    default_evaluation,
    evaluate,
    evaluate_session,
    evaluations,
    find_evaluation,
)
from .metrics.sections import ReportSection, ScoredSessions, SectionOutput
from .metrics.statistics import bootstrap
from .metrics.tallies import Tally, tally

__all__ = [
    "Evaluation",
    "Metric",
    "ReportSection",
    "ScoredSessions",
    "Scores",
    "SectionOutput",
    "Tally",
    "bootstrap",
    "default_evaluation",
    "evaluate",
    "evaluate_session",
    "evaluations",
    "find_evaluation",
    "tally",
]
