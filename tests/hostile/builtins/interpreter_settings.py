# attack: settings of the interpreter: switch interval, hooks, recursion, digits, collector, audit hook
# verdict: ok|crashed|protocol|too_slow
# limits: cpu_s=1 wall_s=4
import gc
import sys


def f(x):
    def hook(*_):
        raise KeyboardInterrupt

    for action in (
        lambda: sys.setswitchinterval(1e-9),
        lambda: sys.set_int_max_str_digits(640),
        lambda: sys.setrecursionlimit(60),
        lambda: gc.set_threshold(1, 1, 1),
        lambda: gc.callbacks.append(hook),
        lambda: sys.addaudithook(hook),
        lambda: sys.setprofile(hook),
    ):
        try:
            action()
        except (KeyboardInterrupt, RecursionError, ValueError):
            pass
    return x
