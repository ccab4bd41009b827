"""Accuracy and discovery of labelled text (HypoBench): entries, tables, figures, baselines."""
