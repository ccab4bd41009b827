# attack: a loop inside C code without memory
# verdict: too_slow
def f(x):
    return sum(range(10**15))
