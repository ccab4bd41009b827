# attack: replaces os._exit and os.write, by which the harness leaves
# verdict: ok|crashed|protocol|too_slow
# limits: wall_s=2 cpu_s=1
import os
import sys


def f(x):
    os._exit = os.write = os.writev = os.close = lambda *_: 1
    sys.modules["posix"]._exit = sys.modules["posix"].write = lambda *_: 1
    return x
