# attack: reads from every descriptor, to steal the next request or the result
# verdict: ok|crashed|protocol
# values[seccomp]: [[], [], [], []]
# limits: wall_s=3
import os


def f(x):
    stolen = []
    for number in range(64):
        try:
            os.set_blocking(number, False)
            for _ in range(20):
                data = os.read(number, 2**20)
                if not data:
                    break
                stolen.append(number)
        except OSError:
            pass
    return stolen
