"""Evaluations, judged hypotheses, predictions, ratings and reports."""
