"""Programs from a list of integers to a list of integers, an integer or a truth value."""

from .engine import Problem, prepared, serves

__all__ = ["Problem", "prepared", "serves"]
