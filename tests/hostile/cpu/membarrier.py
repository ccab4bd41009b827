# attack: waits for all cores again and again, which costs no CPU time of its own
# verdict: ok
# values[seccomp]: [0, 0, 0, 0]
# limits: wall_s=20
# seconds: 10
import sys


def f(x):
    ctypes = sys.modules.get("ctypes")
    if ctypes is None:
        return 0
    call = ctypes.CDLL(None).syscall
    return sum(call(number, 1, 0, 0) == 0 for number in (324, 283) for _ in range(50))
