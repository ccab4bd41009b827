# attack: finalizers and weak references that run when the module is dropped
# verdict: ok
# values: [[3, 1, 2], [1], [], [5, 5]]
import sys


class Last:
    def __init__(self):
        self.open = open

    def __del__(self):
        self.open("@OPEN@/peirce-hostile-marker", "w").close()


sys.peirce_hostile = last = Last()
last.again = last


def f(x):
    return x
