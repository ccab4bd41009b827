# attack: a format string that walks from a function to its globals and to the harness' modules
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=1 cpu_s=5 wall_s=8
import re
import sys

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    found = set()
    for template in (
        "{0.__globals__}",
        "{0.__builtins__}",
        "{0.__class__.__mro__[1].__init__.__class__}",
        "{1.modules}",
        "{1.modules[__main__].__dict__}",
        "{1.modules[os].environ}",
        "{1.modules[os].__dict__[environ]._data}",
        "{1.orig_argv}",
    ):
        try:
            found.update(SECRET.findall(template.format(f, sys)))
        except Exception:
            pass
    return sorted(found)
