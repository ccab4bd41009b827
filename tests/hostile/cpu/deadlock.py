# attack: waits for a lock that it holds itself
# verdict[seccomp]: crashed|ok
# verdict[else]: too_slow
# limits: wall_s=1
import _thread


def f(x):
    lock = _thread.allocate_lock()
    lock.acquire()
    lock.acquire()
    return x
