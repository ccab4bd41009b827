# attack: SIGKILL to every process that it may reach
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
# needs: seccomp
import os


def f(x):
    os.kill(-1, 9)
    return x
