# attack: one call of C code that takes minutes
# verdict: ok|too_slow
# limits: memory_mb=512
def f(x):
    return 7 ** 10**8
