# attack: renames what it made into one another, and keeps files open and mapped that have no name any more
# verdict: ok|crashed
import os


def f(x):
    kept = []
    for n in range(20):
        try:
            os.mkdir(f"peirce-hostile-{n}", 0o300)
            os.rename(f"peirce-hostile-{n}", f"peirce-hostile-{max(0, n - 1)}/peirce-hostile-{n}")
        except OSError:
            pass
        try:
            kept.append(open(f"peirce-hostile-file-{n}", "wb"))
            kept[-1].write(bytes(10**5))
            os.unlink(f"peirce-hostile-file-{n}")
        except OSError:
            pass
    return x
