# attack: a pattern with exponential backtracking whose timeouts are swallowed
# verdict: too_slow
import re


def f(x):
    for _ in iter(int, 1):
        try:
            re.match("(a*)*(b|a)*$", "a" * 60 + "c")
        except BaseException:
            pass
