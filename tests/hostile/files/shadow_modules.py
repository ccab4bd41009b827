# attack: files that shadow standard modules, for this program and for later ones
# verdict: ok
# values: [[], [], [], []]
import sys


def f(x):
    for name in ("json", "math", "statistics", "random", "peirce_hostile", "sitecustomize", "encodings"):
        for folder in (".", "/dev/shm", "/tmp", "@OPEN@"):
            try:
                with open(f"{folder}/{name}.py", "w") as file:
                    file.write("raise SystemExit('peirce-hostile')\nshadow = True\n")
            except OSError:
                pass
    sys.path[:0] = [".", "/dev/shm", "/tmp", "@OPEN@"]
    done = []
    for name in ("peirce_hostile", "statistics"):
        try:
            if hasattr(__import__(name), "shadow"):
                done.append(name)
        except ImportError:
            pass
    return done
