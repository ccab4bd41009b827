# attack: closes every descriptor and goes on
# verdict: crashed
import os


def f(x):
    os.closerange(0, 4096)
    return x
