# attack: kills and stops its parent
# verdict[seccomp]: ok
# verdict[else]: crashed
# values[seccomp]: [0, 0, 0, 0]
# needs: seccomp
import os


def f(x):
    sent = 0
    for pid in {os.getppid(), 1, 2, 3} - {os.getpid(), 0}:
        for number in (19, 15, 9):
            try:
                os.kill(pid, number)
                sent += 1
            except OSError:
                pass
    return sent
