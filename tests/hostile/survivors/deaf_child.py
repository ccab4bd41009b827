# attack: makes itself hard to end: a new session, no signal on the death of its parent, every signal ignored
# verdict: too_slow
# limits: cpu_s=1 wall_s=3
import os
import sys

ctypes, signal = sys.modules.get("ctypes"), sys.modules["signal"]


def f(x):
    for action in (os.setsid, os.setpgrp, lambda: os.setpgid(0, 0), lambda: ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)):
        try:
            action()
        except (OSError, AttributeError):
            pass
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    for _ in iter(int, 1):
        pass
