# attack: an alarm that rings after the last call, with a handler that does not end
# verdict: ok|too_slow|crashed
# limits: cpu_s=1 wall_s=4
import sys

signal = sys.modules["signal"]


def late(*_):
    for _ in iter(int, 1):
        try:
            for _ in iter(int, 1):
                pass
        except BaseException:
            pass


def f(x):
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    return x
