# attack: empty files and nested folders until no name is left, with names that are hard to remove
# verdict: ok
# limits: cpu_s=2 wall_s=6
import os


def f(x):
    for n in range(3000):
        try:
            os.close(os.open(f"peirce-hostile-{n}\n\udcff", os.O_CREAT | os.O_WRONLY, 0))
        except OSError:
            break
    path = "."
    for _ in range(100):
        path += "/peirce-hostile-" + "d" * 200
        try:
            os.mkdir(path, 0)
            os.chdir(path)
            path = "."
        except OSError:
            break
    return x
