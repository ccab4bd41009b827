"""The evaluation of exception rules (ABD): records, groups, tables 1 to 6 and the appendix."""
