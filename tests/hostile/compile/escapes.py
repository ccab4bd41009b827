# attack: what the compiler warns of, a hundred thousand times
# verdict: ok|syntax|too_slow|memory
# limits: cpu_s=2 wall_s=6
def f(x):
    return x


def g(x):
    return [@REPEAT 20000 x is 3, '\d', @0]
