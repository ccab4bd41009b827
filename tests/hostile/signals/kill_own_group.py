# attack: kills its own group, where the zygote's might be the same
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
import os


def f(x):
    os.kill(0, 9)
    return x
