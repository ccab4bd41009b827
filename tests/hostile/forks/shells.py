# attack: os.system and os.popen
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    done = []
    for name, action in (
        ("system", lambda: os.system("sleep 0; : > @OPEN@/peirce-hostile-marker") == 0),
        ("popen", lambda: os.popen("echo said").read() == "said\n"),
        ("spawnl", lambda: os.spawnl(os.P_WAIT, "/bin/true", "true") == 0),
        ("openpty", lambda: bool(os.forkpty())),
    ):
        try:
            if action():
                done.append(name)
        except Exception:
            pass
    return done
