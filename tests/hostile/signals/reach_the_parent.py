# attack: signals that the test listens for, to the process of the test, its group and everybody
# verdict: ok|crashed
# values[seccomp]: [0, 0, 0, 0]
import os
import sys


def f(x):
    sent, signal = 0, sys.modules.get("signal")
    for action in (
        lambda: os.kill(int("@PID@"), 10),
        lambda: os.kill(int("@PID@"), 18),
        lambda: os.killpg(os.getpgid(int("@PID@")), 18),
        lambda: os.kill(-1, 18),
        lambda: signal.pthread_kill(int("@PID@"), 10),
        lambda: signal.pidfd_send_signal(os.pidfd_open(int("@PID@")), 10),
        lambda: os.kill(int("@DECOY@"), 15),
    ):
        try:
            action()
            sent += 1
        except (OSError, AttributeError, OverflowError):
            pass
    return sent
