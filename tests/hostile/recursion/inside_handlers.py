# attack: recursion in the handling of its own RecursionError
# verdict: ok|crashed|too_slow
# limits: cpu_s=1 wall_s=4
def f(x):
    try:
        f(x)
    except RecursionError:
        f(x)
    finally:
        f(x)
    return x
