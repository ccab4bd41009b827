"""The family `programs`, whose hypotheses are Python functions, and the tasks of this family."""
