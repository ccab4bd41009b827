# attack: ignores every signal that can be ignored, then runs on
# verdict: too_slow
# limits: cpu_s=1 wall_s=5
import sys

signal = sys.modules["signal"]
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def f(x):
    for _ in iter(int, 1):
        pass
