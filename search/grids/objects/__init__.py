"""Rules about objects: ways to see objects in a grid, and what is done with each of them."""
