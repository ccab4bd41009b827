# attack: turns the timer off that watches an input, then runs on
# verdict: too_slow|ok
# limits: cpu_s=1 wall_s=5
import sys


def f(x):
    signal = sys.modules["signal"]
    for timer in (signal.ITIMER_PROF, signal.ITIMER_VIRTUAL, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)
    for _ in iter(int, 1):
        pass
