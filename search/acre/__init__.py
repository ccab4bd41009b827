"""Scenes of objects that are on or off (the task `acre`): rules over attributes and objects."""
