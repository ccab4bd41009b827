# attack: an alarm every microsecond whose handler raises, also while the harness works between two calls
# verdict: ok|crashed|protocol|too_slow
# limits: wall_s=3
import sys

signal = sys.modules["signal"]


def ring(number, frame):
    raise KeyError("peirce-hostile")


def f(x):
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
    return x
