"""A package that adds one part of each kind but models to Peirce: see pyproject.toml for their names."""
