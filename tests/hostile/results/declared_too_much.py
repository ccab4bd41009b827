# attack: declares an exabyte, so that somebody makes room for it
# verdict: output_too_large|protocol
import os


def f(x):
    os.write(3, b"PEI1" + (2).to_bytes(4, "little") + (2**60).to_bytes(8, "little") + b"{}")
    os._exit(0)
