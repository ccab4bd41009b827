"""GEAR's T3 evaluation (section 6.2): pass rates and Top-1/2/3 of three answers."""
