# attack: symlinks out of its folder, FIFOs and device nodes in it, and open to wait at them
# verdict: ok|too_slow
# values[seccomp]: [[], [], [], []]
# limits: wall_s=2
import os
import sys


def f(x):
    done = []
    for name, action in (
        ("symlink", lambda: (os.symlink("/etc/passwd", "peirce-hostile-l"), open("peirce-hostile-l").read())),
        ("hard link", lambda: os.link("/etc/passwd", "peirce-hostile-h")),
        ("fifo", lambda: (os.mkfifo("peirce-hostile-f"), os.open("peirce-hostile-f", os.O_RDONLY))),
        ("device", lambda: os.open(os.mknod("peirce-hostile-d", 0o020666, os.makedev(1, 1)) or "peirce-hostile-d", 0)),
        ("setuid", lambda: os.chmod("peirce-hostile-h", 0o4777)),
    ):
        try:
            action()
            done.append(name)
        except OSError:
            pass
    return done
