"""Tables and figures of the GEAR paper."""
