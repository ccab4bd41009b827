"""Sessions: planned, run, resumed; the settings that they record."""
