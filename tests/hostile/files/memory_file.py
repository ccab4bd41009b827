# attack: a program in a file that lies in memory alone, and executable memory
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    done = []
    try:
        number = os.memfd_create("peirce-hostile")
        done.append("made")
        os.write(number, b"#!/bin/sh\nsleep 20 # peirce-hostile-marker\n")
        os.execve(number, ["sh"], {})
    except (OSError, AttributeError):
        pass
    return done
