# attack: asks for a name, which would tell a name server what it found
# verdict: ok
# values[seccomp]: ["refused", "refused", "refused", "refused"]
# limits: wall_s=4
import sys


def f(x):
    for name in ("socket", "_socket"):
        try:
            socket = sys.modules.get(name) or __import__(name)
            return socket.getaddrinfo("peirce-hostile.invalid", 80)[0][4][0]
        except (ImportError, OSError):
            pass
    return "refused"
