# attack: a profile hook that does not end, left behind
# verdict: ok|too_slow|crashed
# limits: cpu_s=1 wall_s=4
import sys


def late(frame, event, argument):
    for _ in iter(int, 1):
        pass


def f(x):
    sys.setprofile(late)
    return x
