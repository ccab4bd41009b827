"""Prompts: pure functions that return the messages of one request to a model."""
