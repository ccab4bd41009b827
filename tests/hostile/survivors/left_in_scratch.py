# attack: leaves a note for the next hypothesis, in its folder and in what processes share
# verdict: ok
# values: ["no note", "no note", "no note", "no note"]
# needs: landlock
import os


def f(x):
    found = "no note"
    for path in ("peirce-hostile-note", "/dev/shm/peirce-hostile-note", "/tmp/peirce-hostile-note"):
        if os.path.exists(path) and "@RUN@" not in open(path).read():
            found = "a note of another batch"
        try:
            with open(path, "w") as file:
                file.write("@RUN@")
        except OSError:
            pass
    return found
