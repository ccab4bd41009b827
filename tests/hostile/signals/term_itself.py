# attack: a SIGTERM to itself, which is no timeout
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
import os


def f(x):
    os.kill(os.getpid(), 15)
    return x
