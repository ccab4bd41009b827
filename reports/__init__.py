"""Tables and figures from what a store holds; nothing here knows how a session was run."""

from .evaluation import (
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
from .statistics import bootstrap

__all__ = [
    "Evaluation",
    "Metric",
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
