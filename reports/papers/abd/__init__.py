"""Tables and figures for the task `abd` (ABD: abduction of rules over finite relational worlds)."""
