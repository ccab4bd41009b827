# attack: a pattern with exponential backtracking
# verdict: ok
# values: [{"undefined": "timeout"}, {"undefined": "timeout"}, [], {"undefined": "timeout"}]
# limits: cpu_s=3
import re


def f(x):
    return bool(re.match("(a|a)+$", "a" * 60 + "b")) if x else x
