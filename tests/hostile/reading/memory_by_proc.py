# attack: memory of the parent, of the zygote and of itself by /proc/PID/mem
# verdict: ok
# values: [[], [], [], []]
# limits: input_cpu_s=5 cpu_s=20 wall_s=20 memory_mb=256
# seconds: 20
import os
import re

SECRET = re.compile(b"peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    found = set()
    for pid in ("self", os.getppid(), "@PID@", "@DECOY@", 1):
        try:
            with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
                for line in maps:
                    if "rw" in line:
                        first, last = (int(n, 16) for n in line.split()[0].split("-"))
                        memory.seek(first)
                        for at in range(first, last, 2**22):
                            found.update(SECRET.findall(memory.read(min(2**22, last - at))))
        except OSError:
            pass
    return sorted(one.decode() for one in found)
