# attack: looks for what the harness counts: numbers of runs, other input sets, ids of processes
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=2 cpu_s=10 wall_s=12
import gc
import sys


def f(x):
    told, frame = set(), sys._getframe()
    gc.unfreeze()
    spaces = []
    while frame is not None:
        spaces.append(frame.f_locals)
        frame = frame.f_back
    spaces += [getattr(one, "__dict__", {}) for one in gc.get_objects() if type(one).__name__ in ("Stage", "Zygote")]
    for space in spaces:
        for name in ("stages", "down", "up", "write_down", "read_up", "pid", "ours"):
            if name in space:
                told.add(name)
        request = space.get("request")
        if isinstance(request, dict) and "id" in request:
            told.add("number of the run")
    return sorted(told)
