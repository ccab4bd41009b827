"""A user's own problems, from a file of pairs or from a task file in YAML or Python."""
