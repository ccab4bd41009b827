# attack: constants that the compiler computes
# verdict: no_function|ok|memory|syntax|too_slow
# limits: memory_mb=64 cpu_s=2
a = ("x" * 4096) * 10**7
b = (1,) * 10**9
c = 2**100**3


def f(x):
    return x
