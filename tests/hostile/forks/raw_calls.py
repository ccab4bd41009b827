# attack: fork, vfork, clone and execve by their numbers, through whatever of ctypes can be found
# verdict: ok
# values[seccomp]: [[], [], [], []]
# needs: seccomp
import sys


def f(x):
    done = []
    kinds, pending = [], [object]
    for _ in range(20000):
        if not pending:
            break
        kind = pending.pop()
        if kind is not type:
            kinds.append(kind)
            pending += type.__subclasses__(kind)
    for kind in kinds:
        if kind.__name__ in ("CDLL", "PyDLL", "LibraryLoader") and "ctypes" in kind.__module__:
            try:
                libc = kind(None)
                for number, name in ((57, "fork"), (58, "vfork"), (56, "clone"), (220, "clone of aarch64"), (435, "clone3")):
                    pid = libc.syscall(number, 17 if "clone" in name else 0, 0, 0, 0, 0)
                    if pid == 0:
                        libc._exit(0)
                    if pid > 0:
                        done.append(name)
            except Exception:
                pass
    return done
