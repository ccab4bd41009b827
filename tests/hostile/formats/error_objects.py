# attack: AttributeError.obj, NameError and tracebacks hand over objects of the harness
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=1 cpu_s=5 wall_s=8
import re
import sys

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    found, pending, seen = set(), [], set()
    for name in list(sys.modules):
        try:
            sys.modules[name].no_such_thing
        except AttributeError as error:
            pending += [error.obj, error.__traceback__.tb_frame.f_builtins]
    while pending and len(seen) < 300:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        found.update(SECRET.findall(repr(one)[:100000]))
        if hasattr(one, "__dict__"):
            found.update(SECRET.findall(repr(vars(one))[:200000]))
    return sorted(found)
