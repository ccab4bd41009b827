"""Scores: evaluations, judged hypotheses, predictions, ratings, reports."""
