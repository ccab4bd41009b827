"""Commands that evaluate, judge, predict, rate and report."""
