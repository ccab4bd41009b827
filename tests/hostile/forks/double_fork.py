# attack: a grandchild in a session of its own that outlives the hypothesis and leaves a mark later
# verdict[seccomp]: ok
# verdict[else]: ok|crashed|protocol|too_slow
# values[seccomp]: ["refused", "refused", "refused", "refused"]
import os
import time


def f(x):
    try:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.setsid()
                end = time.monotonic() + 20
                for _ in iter(lambda: time.monotonic() < end, False):
                    pass
                open("@OPEN@/peirce-hostile-marker", "w").close()
            os._exit(0)
    except OSError:
        return "refused"
    return "forked"
