# attack: names that the interpreter keeps: interned strings, code constants, caches of compiled text
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=2 cpu_s=8 wall_s=10
import gc
import re
import sys
import types

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    found, pending = set(), []
    for one in gc.get_objects():
        code = getattr(one, "__code__", None)
        if isinstance(code, types.CodeType):
            pending.append(code)
    for code in pending:
        found.update(SECRET.findall(repr(code.co_consts) + repr(code.co_names)))
    for name in ("linecache", "re", "functools", "_frozen_importlib"):
        module = sys.modules.get(name)
        if module is not None:
            found.update(SECRET.findall(repr(vars(module))))
    return sorted(found)
