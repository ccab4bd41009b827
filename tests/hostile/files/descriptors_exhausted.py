# attack: opens and duplicates until no descriptor is left, on every number that there is
# verdict: ok|crashed|protocol
import os


def f(x):
    for source in (0, 1, 2, 3):
        for target in range(4, 3000):
            try:
                os.dup2(source, target)
            except OSError:
                break
        for _ in range(3000):
            try:
                os.dup(source)
            except OSError:
                break
    return x
