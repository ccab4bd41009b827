# attack: a SIGTERM to itself, which is no timeout
# verdict: crashed
import os


def f(x):
    os.kill(os.getpid(), 15)
    return x
