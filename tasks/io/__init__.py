"""Reading and writing what the tasks share: files, JSON, YAML, observations, sample spaces."""
