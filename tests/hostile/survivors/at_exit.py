# attack: handlers for the end of the interpreter
# verdict: ok
# values: [[3, 1, 2], [1], [], [5, 5]]
import sys


def f(x):
    def late():
        open("@OPEN@/peirce-hostile-marker", "w").close()
        for _ in iter(int, 1):
            pass

    __import__("atexit").register(late)
    sys.excepthook = sys.unraisablehook = late
    return x
