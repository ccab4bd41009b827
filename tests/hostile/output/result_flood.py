# attack: never stops to write on the result's descriptor
# verdict: protocol|output_too_large
import os


def f(x):
    for _ in iter(int, 1):
        os.write(3, b"x" * 65536)
