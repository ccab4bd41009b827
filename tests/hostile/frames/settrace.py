# attack: a trace function on every frame of the harness that changes locals and raises
# verdict: ok|protocol|crashed|too_slow
# limits: cpu_s=1 wall_s=3
import sys


def trace(frame, event, argument):
    for name in ("body", "header", "names"):
        if name in frame.f_locals:
            raise SystemExit
    return trace


def f(x):
    frame = sys._getframe()
    while frame is not None:
        frame.f_trace = trace
        frame = frame.f_back
    sys.settrace(trace)
    return x
