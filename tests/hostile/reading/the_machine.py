# attack: what tells one machine from another: its name, its kernel, its user, its folders, its cores
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    told = []
    for name, ask in (
        ("name and kernel", os.uname),
        ("folder", os.getcwd),
        ("user", lambda: (os.getuid() + 1 and os.getuid()) or 1 / 0),
        ("group", lambda: (os.getgid() + 1 and os.getgid()) or 1 / 0),
        ("cores", lambda: os.sched_getaffinity(0)),
        ("terminal", lambda: os.ttyname(0)),
    ):
        try:
            ask()
            told.append(name)
        except (OSError, ZeroDivisionError):
            pass
    return told
