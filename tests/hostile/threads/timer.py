# attack: threading.Timer and a daemon thread whose death waits for a lock
# verdict: ok
# values[seccomp]: [0, 0, 0, 0]
import sys


def f(x):
    threading = sys.modules.get("threading")
    started = 0
    if threading is None:
        return started
    for make in (lambda: threading.Timer(0.2, print), lambda: threading.Thread(target=input, daemon=True)):
        try:
            make().start()
            started += 1
        except RuntimeError:
            pass
    return started
