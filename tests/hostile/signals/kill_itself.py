# attack: a SIGKILL to itself, which is no limit
# verdict: crashed
import os


def f(x):
    os.kill(os.getpid(), 9)
    return x
