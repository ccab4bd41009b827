# attack: a callback of the collector that does not end, left behind
# verdict: ok|too_slow|crashed
# limits: cpu_s=1 wall_s=4
import gc


def late(*_):
    for _ in iter(int, 1):
        pass


def f(x):
    gc.callbacks.append(late)
    gc.set_threshold(1)
    return x
