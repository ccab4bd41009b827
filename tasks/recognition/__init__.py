"""Recognise the content of a data file and the task that can read it."""
