# attack: both processes after a fork go on and answer
# verdict[seccomp]: ok
# verdict[else]: ok|crashed|protocol|too_slow
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
import os


def f(x):
    return [os.fork() == 0, x]
