# attack: leaves a file in every folder that might take one
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    written = []
    for folder in ("/tmp", "/var/tmp", "/run", "/", "/root", "@HOME@", "@OPEN@", "/dev", "/proc/1/cwd", "/proc/@PID@/root/tmp",
                   "/proc/self/root/tmp", "/etc", "..", "../tmp"):
        path = folder + "/peirce-hostile-marker"
        for action in (lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)), lambda: os.mkdir(path)):
            try:
                action()
                written.append(folder)
            except OSError:
                pass
    return written
