"""Labelled text (the task `labels`): sentences about what makes a row get its label."""

from .engine import Problem, prepared, serves

__all__ = ["Problem", "prepared", "serves"]
