"""Prompts: pure functions from a model's view of a problem to messages."""
