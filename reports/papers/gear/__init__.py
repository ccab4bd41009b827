"""Tables and figures of GEAR."""
