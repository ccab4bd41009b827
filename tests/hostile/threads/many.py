# attack: two thousand threads that spin
# verdict: ok
# values[seccomp]: [0, 0, 0, 0]
# limits: wall_s=4 cpu_s=2
# needs: seccomp
import _thread


def spin():
    for _ in iter(int, 1):
        pass


def f(x):
    started = 0
    for _ in range(2000):
        try:
            _thread.start_new_thread(spin, ())
            started += 1
        except (RuntimeError, MemoryError):
            break
    return started
