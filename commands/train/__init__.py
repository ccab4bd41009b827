"""Preference pairs, DPO, classifiers, and a small proposer from nothing."""
