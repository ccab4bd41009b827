"""Worlds with exceptions (the task `abd`): rules that say which elements are abnormal."""

from .engine import Problem, prepared, serves

__all__ = ["Problem", "prepared", "serves"]
