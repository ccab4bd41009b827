"""A package that adds one part of each kind to Peirce: see pyproject.toml for their names."""
