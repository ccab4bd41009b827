"""Exception rules for worlds (ABD): the family, and the task abd."""
