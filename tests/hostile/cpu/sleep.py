# attack: sleeps just under the limits, which costs no CPU time
# verdict[seccomp]: ok
# verdict[else]: too_slow|ok
# values[seccomp]: [{"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}, {"undefined": "PermissionError"}]
# limits: wall_s=1
import time


def f(x):
    time.sleep(600)
    return x
