# attack: posix_spawn of a shell that leaves a mark and a sleeper
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    done = []
    for action in (os.posix_spawn, os.posix_spawnp):
        try:
            action("/bin/sh", ["sh", "-c", ": > @OPEN@/peirce-hostile-marker; sleep 30 # peirce-hostile-marker"], {})
            done.append(action.__name__)
        except (OSError, NotImplementedError):
            pass
    return done
