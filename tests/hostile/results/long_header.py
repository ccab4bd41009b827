# attack: a header longer than one may be, and one that is no text
# verdict: protocol
import os


def f(x):
    size = 70000 if x == [3, 1, 2] else 4
    os.write(3, b"PEI1" + size.to_bytes(4, "little") + bytes(8) + b"\xff\xfe{}" * (size // 4))
    os._exit(0)
