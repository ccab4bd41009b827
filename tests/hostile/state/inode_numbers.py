# attack: counts the hypotheses before it by the inode numbers of pipes, of files and of its folder
# verdict: ok
# values[seccomp]: [[], [], [], []]
import os


def f(x):
    told = []
    for number in range(10):
        try:
            told.append(os.fstat(number).st_ino)
        except OSError:
            pass
    for path in (".", "/", "/dev/shm", "/tmp", "/dev/null", "peirce-hostile-new"):
        for ask in (
            lambda: os.stat(path).st_ino,
            lambda: os.lstat(path).st_ino,
            lambda: os.fstat(os.open(path, os.O_CREAT | os.O_RDWR)).st_ino,
            lambda: [entry.inode() for entry in os.scandir(path)],
            lambda: os.statvfs(path).f_ffree,
            lambda: os.stat(path).st_mtime_ns,
        ):
            try:
                told.append(ask())
            except OSError:
                pass
    return told
