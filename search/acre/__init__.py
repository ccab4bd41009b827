"""Rules about scenes of objects that are on or off (the task `acre`)."""
