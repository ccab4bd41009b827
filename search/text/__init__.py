"""Sentences that explain the labels of labelled text (the task `labels`)."""
