# attack: waits without a clock: select, poll, pause, sigwait, a read of a descriptor that never answers
# verdict[seccomp]: ok
# verdict[else]: ok|too_slow|crashed
# limits: wall_s=2 cpu_s=1
# values[seccomp]: [0, 0, 0, 0]
import os
import sys
import time


def f(x):
    select, signal, waited = sys.modules.get("select"), sys.modules.get("signal"), 0
    actions = []
    if select:
        actions += [lambda: select.select([], [], [], 600), lambda: select.poll().poll(600000)]
    if signal:
        actions += [signal.pause, lambda: signal.sigwait([10]), lambda: signal.sigtimedwait([10], 600)]
    actions += [lambda: os.read(os.pipe()[0], 1), lambda: os.waitpid(-1, 0), lambda: os.open("fifo", 0)]
    for action in actions:
        start = time.monotonic()
        try:
            action()
        except (OSError, ValueError):
            pass
        waited += time.monotonic() - start > 0.5
    return waited
