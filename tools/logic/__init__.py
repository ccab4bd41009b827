"""Default-exception abduction: formulas, finite worlds, theories, and what a rule costs in them.

formula.py (what a formula is), reading.py (from text), writing.py (to text), worlds.py, theories.py.
"""
