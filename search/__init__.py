"""Hypotheses by search, without a model: an engine for each kind of input (engines.py), run in workers."""
