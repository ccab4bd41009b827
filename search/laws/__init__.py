"""Search for laws: formulas that explain a number by the other columns of a table."""
