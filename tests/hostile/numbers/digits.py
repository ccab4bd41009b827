# attack: the decimal digits of a number of a million digits, a quadratic call
# verdict: too_slow|ok
# limits: cpu_s=1 wall_s=4
def f(x):
    return len(str(7 ** (2 * 10**6)))
