# attack: a SIGKILL to itself, which is no limit
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
import os


def f(x):
    os.kill(os.getpid(), 9)
    return x
