# attack: gives its core to others on and on, so that much time passes for little CPU time
# verdict: ok
# values[seccomp]: [0, 0, 0, 0]
import os


def f(x):
    yielded = 0
    for _ in range(100):
        try:
            os.sched_yield()
            yielded += 1
        except OSError:
            pass
    return yielded
