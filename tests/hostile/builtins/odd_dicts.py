# attack: globals whose reading runs code, and a class for the module
# verdict: ok|no_function|crashed
import sys


class Odd(dict):
    def __missing__(self, key):
        raise SystemExit

    def get(self, *_):
        return lambda x: "forged"


def f(x):
    try:
        f.__globals__.update({"__builtins__": Odd()})
        exec("y = 1", Odd())
        type(sys).__setattr__(sys, "__class__", type("M", (type(sys),), {"__getattr__": lambda *_: 1 / 0}))
    except Exception:
        pass
    return x
