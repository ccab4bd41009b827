"""The T3 evaluation of GEAR."""
