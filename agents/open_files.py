"""How many files this process may have open, of which each request under way takes one: a limit that
is too low looks like an endpoint that is not there.
"""

from __future__ import annotations

import errno
import os
import resource
from contextlib import suppress

OUT_OF_FILES = "nothing: too many open files here; lower --concurrency or raise ulimit -n"
KEPT = 64  # for stores, sandboxes, look-ups
FEWEST = 4


def raise_limit(concurrency: int) -> None:
    """Makes room for so many requests at once, as far as the system's hard limit allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _open_now() + KEPT + concurrency
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with suppress(OSError, ValueError):  # some systems allow fewer than their hard limit says
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def sockets_left() -> int:
    """How many connections there is room for now."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return 1_000_000
    return max(FEWEST, soft - _open_now() - KEPT // 2)


def is_out_of_files(error: BaseException | None) -> bool:
    """Whether that is what an error, or what caused it, says."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return True
        if isinstance(error, BaseExceptionGroup) and any(map(is_out_of_files, error.exceptions)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _open_now() -> int:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(os.listdir(folder))
        except OSError:
            continue
    return KEPT
