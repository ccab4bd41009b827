# attack: puts another descriptor in the place of the result's
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
import os


def f(x):
    os.dup2(1, 3)
    return x
