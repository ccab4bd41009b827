# attack: sends itself the signals by which the limits speak
# verdict: ok|crashed|too_slow
import os


def f(x):
    for number in (27, 26, 14, 29, 23):
        try:
            os.kill(os.getpid(), number)
        except OSError:
            pass
    os.kill(os.getpid(), 24)
    return x
