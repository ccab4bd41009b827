# attack: looks about: what exists in the folders of the machine, and who is on it
# verdict: ok
# values[landlock]: [[], [], [], []]
import os


def f(x):
    seen = []
    for path in ("/", "/root", "/home", "/tmp", "/etc", "/proc", "@HOME@", "@OPEN@", "/usr/lib", "/sys"):
        try:
            if os.listdir(path) != os.listdir("."):
                seen.append(path)
        except OSError:
            pass
    for path in ("/etc/passwd", "/bin/sh", "@FILE@", "/proc/@PID@/root/etc"):
        if os.path.exists(path):
            seen.append(path)
    return seen
