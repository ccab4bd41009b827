# attack: counts the hypotheses before it by the process ids, its own and those that answer
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os
import sys


def f(x):
    threads = sys.modules.get("_thread")
    asks = [os.getpid, os.getppid, lambda: os.getsid(0), lambda: os.getpgid(0), os.getpgrp]
    if threads is not None:
        asks.append(threads.get_native_id)
    told = []
    for ask in asks:
        try:
            if 0 < ask() < 2**31:
                told.append(ask())
        except OSError:
            pass
    for number in range(-3, 300):
        try:
            os.kill(number, 0)
            told.append(number)
        except OSError:
            pass
    return told
