# attack: replaces the functions of the harness' own modules, found by sys.modules and by frames
# verdict: ok|protocol|crashed
import sys


def f(x):
    def forged(*_, **__):
        return {"verdict": "ok", "reason_names": [], "limited": False, "cpu_s": -1.0}, b"\xff" * 100

    frame = sys._getframe().f_back
    spaces = [vars(m) for m in list(sys.modules.values()) if hasattr(m, "__dict__")]
    while frame is not None:
        spaces.append(frame.f_globals)
        frame = frame.f_back
    for space in spaces:
        for name in ("attempt", "checked", "frame", "write_all", "refusal", "code_bytes", "canonical_bytes", "plain"):
            if name in space:
                space[name] = forged
        if "Trial" in space:
            space["Trial"].outcome = forged
            space["Trial"].done = lambda self: 10**9
    return x
