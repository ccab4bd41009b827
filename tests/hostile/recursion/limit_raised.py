# attack: raises the recursion limit and overflows the stack of C code
# verdict: crashed
import sys

sys.setrecursionlimit(10**9)


def f(x):
    return sorted([x], key=f)
