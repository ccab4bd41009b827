# attack: becomes another program
# verdict[seccomp]: ok
# verdict[else]: crashed|protocol|too_slow
# values[seccomp]: ["refused", "refused", "refused", "refused"]
# limits: wall_s=2
import os


def f(x):
    for action in (
        lambda: os.execv("/bin/sh", ["sh", "-c", "sleep 20 # peirce-hostile-marker"]),
        lambda: os.execve("/usr/bin/env", ["env"], {}),
        lambda: os.execvp("python3", ["python3", "-c", "0"]),
    ):
        try:
            action()
        except OSError:
            pass
    return "refused"
