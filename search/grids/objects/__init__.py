"""Rules about objects: how objects are recognised in a grid, and what happens to each object."""
