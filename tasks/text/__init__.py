"""Sentences about labelled text (HypoBench): the family, and the task labels."""
