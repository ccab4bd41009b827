"""Input and output shared by the tasks: files, JSON, YAML, observations and sample spaces."""
