# attack: changes what descriptors share with other processes: non-blocking, append, offset, size of the pipe
# verdict: ok|crashed|protocol
import os
import sys


def f(x):
    ctypes = sys.modules.get("ctypes")
    for number in range(64):
        try:
            os.set_blocking(number, False)
            os.set_inheritable(number, True)
            os.lseek(number, 10**6, 0)
            os.ftruncate(number, 10)
        except OSError:
            pass
        if ctypes is not None:
            control = ctypes.CDLL(None).fcntl
            for command, value in ((4, 0o2000 | 0o4000 | 0o20000), (1031, 4096), (1033, 15), (1024, 1), (1026, 0x8000001F)):
                control(number, command, value)
    return x
