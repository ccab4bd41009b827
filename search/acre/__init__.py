"""Scenes of objects that are on or off (the task `acre`): rules over attributes and objects."""

from .engine import Problem, prepared, serves

__all__ = ["Problem", "prepared", "serves"]
