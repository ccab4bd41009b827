# attack: a hundred megabytes on stdout and on stderr, by print and by write
# verdict: ok
# values: [6, 1, 0, 10]
# limits: input_cpu_s=2 cpu_s=8 wall_s=10
import os
import sys


def f(x):
    for _ in range(20):
        print("x" * 2**20)
        sys.stderr.write("y" * 2**20)
        for number in (1, 2):
            os.write(number, b"z" * 2**20)
    return sum(x)
