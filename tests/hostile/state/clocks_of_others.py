# attack: counts the hypotheses before it by the CPU time of the process that forks them
# verdict: ok
# values[seccomp]: [[], [], [], []]
import time


def f(x):
    told = []
    for pid in range(1, 300):
        for kind in (0, 1, 2, 4, 5, 6):
            try:
                told.append(time.clock_gettime_ns((~pid << 3) | kind))
            except OSError:
                pass
    return told
