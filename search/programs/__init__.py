"""Repair of Python functions that a model wrote, by a search that interprets them itself."""
