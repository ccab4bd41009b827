# attack: makes the harness answer with fewer values, and with more, than there are inputs
# verdict: protocol|ok|crashed
import sys


def f(x):
    frame = sys._getframe().f_back
    while frame is not None:
        for value in list(frame.f_locals.values()):
            for name in ("results", "undefined"):
                held = getattr(value, name, None)
                if hasattr(held, "extend") and not isinstance(held, int):
                    held.extend(type(held)([b"1"] * 50) if isinstance(held, list) else bytes(50))
        frame = frame.f_back
    return x
