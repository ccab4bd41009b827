# attack: the head of a frame, then one byte of it after the other, for ever
# verdict: too_slow|protocol|output_too_large
# limits: cpu_s=1 wall_s=3 input_cpu_s=10
import os


def f(x):
    os.write(3, b"PEI1" + (100).to_bytes(4, "little") + (10**5).to_bytes(8, "little"))
    for n in range(10**9):
        if n % 10**6 == 0:
            os.write(3, b" ")
