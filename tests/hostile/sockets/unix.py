# attack: a message to a listener on an abstract name and on a path, and a listener of its own
# verdict: ok
# values[seccomp]: [[], [], [], []]
# limits: wall_s=3
import sys


def f(x):
    done = []
    for name in ("socket", "_socket"):
        for act, address in (("connect", "\0@ABSTRACT@"), ("connect", "@OPEN@/listener"), ("bind", "\0peirce-hostile-listener"),
                             ("bind", "peirce-hostile-listener"), ("bind", "@OPEN@/peirce-hostile-listener")):
            try:
                socket = sys.modules.get(name) or __import__(name)
                one = socket.socket(1, 1)
                getattr(one, act)(address)
                one.detach()
                done.append(act)
            except (ImportError, OSError):
                pass
    return done
