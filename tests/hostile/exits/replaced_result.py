# attack: puts another descriptor in the place of the result's
# verdict: crashed
import os


def f(x):
    os.dup2(1, 3)
    return x
