"""A user's own problems: pairs from a file, or a task file in YAML or Python."""
