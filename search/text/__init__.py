"""Labelled text (the task `labels`): sentences about what makes a row get its label."""
