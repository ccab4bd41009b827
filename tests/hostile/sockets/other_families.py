# attack: netlink, packets, raw, vsock, Bluetooth and the kernel's ciphers
# verdict: ok
# values[seccomp]: [[], [], [], []]
import sys


def f(x):
    done = []
    for name in ("socket", "_socket"):
        for family, kind in ((16, 3), (17, 3), (2, 3), (10, 1), (40, 1), (31, 3), (38, 5), (1, 1), (1, 2)):
            try:
                socket = sys.modules.get(name) or __import__(name)
                socket.socket(family, kind).close()
                done.append(family)
            except (ImportError, OSError):
                pass
    return done
