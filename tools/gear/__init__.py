"""GEAR's label-free measures of a set of hypotheses, computed with NumPy on prediction matrices."""

from .novelty import Coverage, coverage, coverages, is_redundant
from .scores import (
    SetScores,
    beta,
    beta_bounds,
    consistency,
    distances_of,
    gamma,
    generalizability,
    instruction_following,
    intersections,
    jaccard_distances,
    matrix,
    new_predictions,
    prediction_share,
    scatter_point,
    set_scores,
    undefined_as_output,
)

__all__ = [
    "Coverage", "SetScores", "beta", "beta_bounds", "consistency", "coverage", "coverages",
    "distances_of", "gamma", "generalizability", "instruction_following", "intersections",
    "is_redundant", "jaccard_distances", "matrix", "new_predictions", "prediction_share",
    "scatter_point", "set_scores", "undefined_as_output",
]  # fmt: skip
