# attack: forks in every process it has; a net of its own ends it: at most nine generations, each dies after 15 s
# verdict[seccomp]: ok
# verdict[else]: ok|crashed|protocol|too_slow
# values[seccomp]: ["PermissionError", "PermissionError", "PermissionError", "PermissionError"]
# limits: wall_s=3
# needs: seccomp
import os
import time


def f(x):
    end = time.monotonic() + 15
    try:
        for _ in range(9):
            os.fork()
    except OSError as error:
        return type(error).__name__
    for _ in iter(lambda: time.monotonic() < end, False):
        pass
    os._exit(0)
