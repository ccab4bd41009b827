"""Evaluations: what each problem of a stored session came to, as numbers with intervals."""
