"""Sentences about labelled text (HypoBench): the family `text` and the task `labels`."""
