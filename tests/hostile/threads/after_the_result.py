# attack: a thread that goes on when the answer is given, and gives another one
# verdict: ok|protocol
# values[seccomp]: [0, 0, 0, 0]
import _thread
import os


def later():
    for _ in range(10**9):
        try:
            os.write(3, b"PEI1")
        except OSError:
            pass


def f(x):
    try:
        _thread.start_new_thread(later, ())
    except RuntimeError:
        return 0
    return 1
