"""Tables of the T3 evaluation of the GEAR paper."""
