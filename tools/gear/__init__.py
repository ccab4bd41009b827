"""GEAR's measures of a set of hypotheses without labels, as numpy over matrices of predictions."""
