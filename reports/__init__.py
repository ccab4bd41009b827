"""Tables and figures from what a store holds; nothing here knows how a session was run."""

from .metrics.evaluation import (
    Evaluation,
    Metric,
    Scores,
    Tally,
    default_evaluation,
    evaluate,
    evaluate_session,
    evaluations,
    find_evaluation,
    tally,
)
from .metrics.sections import Added, ReportSection, ScoredSessions
from .metrics.statistics import bootstrap

__all__ = [
    "Added",
    "Evaluation",
    "Metric",
    "ReportSection",
    "ScoredSessions",
    "Scores",
    "Tally",
    "bootstrap",
    "default_evaluation",
    "evaluate",
    "evaluate_session",
    "evaluations",
    "find_evaluation",
    "tally",
]
