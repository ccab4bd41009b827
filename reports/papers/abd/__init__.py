"""Tables and figures for the ABD tasks (abduction of rules over finite relational worlds)."""
