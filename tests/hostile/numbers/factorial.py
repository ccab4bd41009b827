# attack: a factorial, in C
# verdict: too_slow|memory|ok
# limits: cpu_s=1 wall_s=4
import math


def f(x):
    return math.factorial(10**8)
