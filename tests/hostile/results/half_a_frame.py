# attack: the beginning of a result and an exit with success
# verdict: protocol
import os


def f(x):
    os.write(3, b"PEI1\x10\x00\x00\x00")
    os._exit(0)
