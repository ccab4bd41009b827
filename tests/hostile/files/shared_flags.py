# attack: changes what descriptors share with the zygote: non-blocking, append, offset, owner of signals, pipe size
# verdict: ok|crashed|protocol
import os
import sys


def f(x):
    fcntl = sys.modules.get("fcntl")
    for number in range(64):
        for blocking in (False,):
            try:
                os.set_blocking(number, blocking)
                os.set_inheritable(number, True)
            except OSError:
                pass
        try:
            os.lseek(number, 10**6, 0)
            os.ftruncate(number, 10)
        except OSError:
            pass
        if fcntl is not None:
            for command, value in ((4, 0o2000 | 0o4000 | 0o20000), (8, int("@PID@")), (10, 18), (1031, 4096), (1024, 1)):
                try:
                    fcntl.fcntl(number, command, value)
                except (OSError, ValueError):
                    pass
    return x
