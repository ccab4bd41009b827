# attack: environments: its own, as the kernel tells it, and those of all processes
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=1 cpu_s=5 wall_s=8
import os
import re

SECRET = re.compile(b"peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    text = repr(dict(os.environ)).encode()
    pids = ["self", "@PID@", "@DECOY@", str(os.getppid())]
    try:
        pids += [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        pass
    for pid in pids:
        for name in ("environ", "cmdline"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    text += file.read()
            except OSError:
                pass
    return [found.decode() for found in sorted(set(SECRET.findall(text)))]
