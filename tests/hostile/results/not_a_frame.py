# attack: a result that is none
# verdict: protocol
import os


def f(x):
    os.write(3, b"[1, 2, 3]" * 10)
    os._exit(0)
