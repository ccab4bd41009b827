"""Search for rules that predict whether a scene of objects is "on" or "off" (the task `acre`)."""
