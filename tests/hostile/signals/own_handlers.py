# attack: handlers for everything that return at once, so that no limit that Python handles is left
# verdict: too_slow
# limits: cpu_s=1 wall_s=4
import sys

signal = sys.modules["signal"]


def f(x):
    for number in range(1, 65):
        try:
            signal.signal(number, lambda *_: None)
        except (OSError, ValueError):
            pass
    for _ in iter(int, 1):
        pass
