# attack: takes descriptors that it holds for sockets and sends on them, with descriptors as cargo
# verdict: ok|protocol|crashed
# values[seccomp]: [[], [], [], []]
# limits: wall_s=3
import os
import sys


def f(x):
    done = []
    for name in ("socket", "_socket"):
        for number in range(32):
            try:
                socket = sys.modules.get(name) or __import__(name)
                one = socket.socket(1, 1, 0, number)
                one.setblocking(False)
                one.sendmsg([b"peirce-hostile"], [(1, 1, (0).to_bytes(4, "little"))])
                done.append(number)
                one.detach()
            except (ImportError, OSError):
                pass
    for number in range(32):
        try:
            os.sendfile(number, 0, 0, 10) and done.append(number)
        except OSError:
            pass
    return done
