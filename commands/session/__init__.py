"""Sessions planned, run, resumed, replayed and listed."""
