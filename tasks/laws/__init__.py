"""Laws: formulas that compute a number of a table from its other columns."""
