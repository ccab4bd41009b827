# attack: lifts its own limits, then takes what the old ones forbade
# verdict: ok
# values: [[0, "MemoryError"], [0, "MemoryError"], [0, "MemoryError"], [0, "MemoryError"]]
# limits: input_cpu_s=1 cpu_s=4 wall_s=8
import sys


def f(x):
    resource = sys.modules.get("resource")
    raised = 0
    if resource is not None:
        for name in ("AS", "CPU", "NOFILE", "FSIZE", "NPROC", "DATA", "STACK"):
            for limit in (resource.RLIM_INFINITY, 2**40):
                try:
                    number = getattr(resource, "RLIMIT_" + name)
                    before = resource.getrlimit(number)
                    resource.setrlimit(number, (limit, limit))
                    after = resource.getrlimit(number)[1]
                    raised += before[1] != -1 and (after == -1 or after > before[1])
                except (OSError, ValueError):
                    pass
    try:
        return [raised, len(bytearray(2**30))]
    except MemoryError:
        return [raised, "MemoryError"]
