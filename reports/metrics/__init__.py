"""Evaluations: metrics for each problem of a stored session, with confidence intervals."""
