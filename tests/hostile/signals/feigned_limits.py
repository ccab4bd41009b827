# attack: gets itself the signals by which the limits speak, sent and by timers of its own
# verdict: ok|crashed|too_slow
import os
import sys


def f(x):
    for number in (27, 26, 14, 29, 23, 24):
        for pid in (os.getpid(), 0, -1):
            try:
                os.kill(pid, number)
            except OSError:
                pass
    for timer in (2, 0, 1):
        sys.modules["signal"].setitimer(timer, 0.001)
        sum(range(300_000))
    return x
