# attack: a message to a listener on the loopback, by TCP and UDP
# verdict: ok
# values[seccomp]: [[], [], [], []]
# limits: wall_s=3
import sys


def f(x):
    done = []
    for name in ("socket", "_socket"):
        try:
            socket = sys.modules.get(name) or __import__(name)
            with socket.socket(2, 1) as tcp:
                tcp.connect(("127.0.0.1", int("@PORT@")))
                tcp.send(b"peirce-hostile")
                done.append("tcp")
        except (ImportError, OSError):
            pass
        try:
            socket = sys.modules.get(name) or __import__(name)
            with socket.socket(2, 2) as udp:
                udp.sendto(b"peirce-hostile", ("127.0.0.1", int("@PORT@")))
                done.append("udp")
        except (ImportError, OSError):
            pass
    return done
