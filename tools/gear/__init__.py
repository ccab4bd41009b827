"""GEAR's label-free measures of a set of hypotheses, computed with NumPy on prediction matrices."""

from .novelty import Coverage, coverage, coverages, is_redundant
from .scores import (
    SetScores,
    beta,
    beta_bounds,
    consistency,
    distances_from_intersections,
    encode_undefined,
    first_prediction_mask,
    gamma,
    generalizability,
    instruction_following,
    intersections,
    jaccard_distances,
    prediction_share,
    scatter_point,
    score_set,
    stack_predictions,
)

__all__ = [
    "Coverage",
    "SetScores",
    "beta",
    "beta_bounds",
    "consistency",
    "coverage",
    "coverages",
    "distances_from_intersections",
    "encode_undefined",
    "first_prediction_mask",
    "gamma",
    "generalizability",
    "instruction_following",
    "intersections",
    "is_redundant",
    "jaccard_distances",
    "prediction_share",
    "scatter_point",
    "score_set",
    "stack_predictions",
]  # fmt: skip
