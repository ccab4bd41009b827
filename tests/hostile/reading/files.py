# attack: reads a planted file by every way to open one
# verdict: ok
# values: [[], [], [], []]
import io
import os
import re
import sys

SECRET = re.compile("peirce-secret-[a-z]+-[0-9a-f]{16}")


def f(x):
    text = ""
    linecache, tokenize = sys.modules.get("linecache"), sys.modules.get("tokenize")
    for path in ("@FILE@", "@HOME_FILE@", "/proc/@PID@/cwd/../@FILE@", "/proc/@PID@/root@FILE@", "/proc/self/root@FILE@"):
        for action in (
            lambda: open(path).read(),
            lambda: io.open_code(path).read().decode(),
            lambda: io.FileIO(path).readall().decode(),
            lambda: os.read(os.open(path, os.O_RDONLY), 1000).decode(),
            lambda: os.read(os.open(path, os.O_RDWR), 1000).decode(),
            lambda: os.pread(os.open(path.lstrip("/"), 0, dir_fd=os.open("/", 0)), 1000, 0).decode(),
            lambda: "".join(linecache.getlines(path)),
            lambda: tokenize.open(path).read(),
            lambda: os.readlink(path),
            lambda: repr(os.listdir(os.path.dirname(path))),
            lambda: repr(list(os.scandir(os.path.dirname(path)))),
            lambda: os.popen("cat " + path).read(),
        ):
            try:
                text += action()
            except (OSError, ImportError, AttributeError, ValueError):
                pass
    return sorted(set(SECRET.findall(text)))
