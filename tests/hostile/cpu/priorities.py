# attack: takes a higher priority, another scheduler and all cores
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    done = []
    for name, action in (
        ("nice", lambda: os.nice(-5)),
        ("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)),
        ("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        ("of the parent", lambda: os.setpriority(os.PRIO_PROCESS, int("@PID@"), 19)),
        ("cores of the parent", lambda: os.sched_setaffinity(int("@PID@"), {0})),
    ):
        try:
            action()
            done.append(name)
        except (OSError, AttributeError):
            pass
    return done
