"""Programs from a list of integers to a list of integers, an integer or a truth value."""
