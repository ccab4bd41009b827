# attack: stops itself, which costs no CPU time and which no timer ends
# verdict[seccomp]: ok
# verdict[else]: too_slow
# values[seccomp]: [0, 0, 0, 0]
# limits: wall_s=1
import os


def f(x):
    stopped = 0
    for number in (19, 20, 21, 22):
        try:
            os.kill(os.getpid(), number)
            stopped += 1
        except OSError:
            pass
    return stopped
