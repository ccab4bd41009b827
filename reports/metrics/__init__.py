"""Evaluations: compute the metrics of stored sessions, with confidence intervals."""
