# attack: patterns that are bombs to compile
# verdict: ok|too_slow|memory
# limits: cpu_s=2 wall_s=6 memory_mb=128
import re


def f(x):
    pattern = ["(" * 100_000, "(?:a{0,60000}){0,60000}" * 2000, "|".join(map(str, range(60_000))), "[" + "a-z" * 100_000 + "]"][len(x)]
    return bool(re.compile(pattern).match("b"))
