# attack: closes every descriptor and goes on
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [[3, 1, 2], [1], [], [5, 5]]
import os


def f(x):
    os.closerange(0, 4096)
    return x
