# attack: a header of brackets, for a parser that calls itself
# verdict: protocol
import os


def f(x):
    os.write(3, b"PEI1" + (60000).to_bytes(4, "little") + (0).to_bytes(8, "little") + b"[" * 60000)
    os._exit(0)
