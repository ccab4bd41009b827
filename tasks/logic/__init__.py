"""Exception rules for worlds (ABD): the family `logic` and the task `abd`."""
