"""Rules about objects: which are seen, and what is done with each of them."""
