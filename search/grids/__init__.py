"""Programs from a grid of colours to another (the tasks `mini_arc` and `arc`)."""

from .engine import Problem, prepared, serves

__all__ = ["Problem", "prepared", "serves"]
