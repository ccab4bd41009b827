"""Training: preference pairs, DPO, classifiers, a small proposer from nothing."""
