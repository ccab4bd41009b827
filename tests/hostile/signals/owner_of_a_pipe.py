# attack: names other processes as those who get the signals of its pipes and timers
# verdict: ok|protocol|crashed
import os
import sys


def f(x):
    fcntl = sys.modules.get("fcntl")
    for target in (int("@PID@"), -int("@PID@"), os.getppid(), 1, -1):
        for number in (0, 1, 2, 3):
            try:
                fcntl.fcntl(number, 10, 10)
                fcntl.fcntl(number, 8, target)
                fcntl.fcntl(number, 4, 0o20000)
            except (OSError, AttributeError, OverflowError):
                pass
    return x
