"""Record which files of a package a Python process executes (for bench/trace_proposal.py).

With its folder in PYTHONPATH and TRACE_OF_PEIRCE="LOG:ROOT" in the environment, every Python process
loads this file as it starts and appends to LOG a line for each file below ROOT the first time that

- its module level runs (`imported`), or
- one of its functions is called outside any import (`called`).

A line is written at once, so processes that are killed or leave by os._exit count too. Forked children
inherit the recording. A process that starts Python without `site`, as the sandbox does, gets this
file as its script, which then runs the real script; all other programs that are started are named in
LOG as `not traced`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

VARIABLE = "TRACE_OF_PEIRCE"
# Above the numbers that the sandbox closes in its children (sandbox/inside/child.py).
DESCRIPTOR = 5_000
FUNCTION = 1  # CO_OPTIMIZED: set for the code of functions, not of modules and class bodies
OTHERS = (".", "bench/", "tests/", "build/", "docs/")
VALUED = ("-X", "-W", "--check-hash-based-pycs")  # options of Python that take a value


def open_log(path: str) -> int:
    """Return a descriptor that appends to the log and has a number that nothing closes."""
    import fcntl
    import resource

    low = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        if hard == resource.RLIM_INFINITY or hard > DESCRIPTOR:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTOR + 8), hard))
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR)
    except OSError:
        return low
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    os.close(low)
    return high


def is_importing(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def install(log: str, root: str) -> None:
    """Record from here on, in this process, its threads and its children."""
    import subprocess
    import threading

    descriptor = open_log(log)
    prefix = os.path.join(root, "")
    imported: set[str] = set()
    finished: set[str] = set()  # names of files of which nothing new can be learnt

    def note(kind: str, what: str) -> None:
        os.write(descriptor, f"{os.getpid()}\t{kind}\t{what}\n".encode())

    def profile(frame: Any, event: str, arg: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        name = code.co_filename
        if name in finished:
            return
        inside = name[len(prefix) :]
        if not name.startswith(prefix) or inside.startswith(OTHERS) or "site-packages/" in inside:
            finished.add(name)
        elif not code.co_flags & FUNCTION:
            if code.co_name == "<module>" and name not in imported:
                imported.add(name)
                note("imported", inside)
        elif not is_importing(frame):
            finished.add(name)
            note("called", inside)

    start = subprocess.Popen.__init__

    def start_traced(self: Any, args: Any, *more: Any, **named: Any) -> None:
        changed = trace_command(args, log, root)
        if changed is None:
            note("not traced", " ".join(map(str, args)) if isinstance(args, list | tuple) else args)
        start(self, args if changed is None else changed, *more, **named)

    subprocess.Popen.__init__ = start_traced  # type: ignore[method-assign]
    note("started", " ".join(sys.orig_argv))
    threading.setprofile(profile)
    sys.setprofile(profile)


def trace_command(args: Any, log: str, root: str) -> list[str] | None:
    """Return the command as it is to be started; None where it will not be traced.

    Python without `-S`, `-I` or `-E` loads this file by itself, if its environment is inherited.
    """
    if not isinstance(args, list | tuple):
        return None
    words = [os.fspath(word) for word in args]
    if not words or not os.path.basename(words[0]).startswith("python"):
        return None
    at, isolated = 1, False
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-c", "-m", "-"):
        option = words[at]
        isolated |= not option.startswith(("-X", "-W", "--")) and bool(set(option) & set("SIE"))
        at += 2 if option in VALUED else 1
    if not isolated:
        return words
    if at == len(words) or words[at].startswith("-"):
        return None
    return [*words[:at], os.path.abspath(__file__), log, root, *words[at:]]


def run_script(path: str) -> None:
    """Run a file as the main program of this process."""
    path = os.path.abspath(path)
    main = type(sys)("__main__")
    main.__dict__.update(__file__=path, __package__=None, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    exec(code, main.__dict__)


if __name__ == "__main__":
    _, LOG, ROOT, SCRIPT, *REST = sys.argv
    sys.argv[:] = [SCRIPT, *REST]
    install(LOG, ROOT)
    run_script(SCRIPT)
elif VARIABLE in os.environ:
    install(*os.environ[VARIABLE].split(":", 1))
