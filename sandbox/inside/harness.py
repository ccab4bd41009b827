"""The script that is started as a zygote (zygotes.py): `python -s -S -P harness.py`.

The options are those of `-I`, except that the hash seed of the environment is kept. Descriptors 0
and 1 are a byte stream to the parent process. This file uses only the standard library. The same
files are used inside a container.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import jail
else:  # Find the files next to this one before the standard library.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import jail


def main() -> None:
    """Prepare the interpreter, enter the isolation layers and serve requests."""
    own_jail = jail.Jail()
    # It may restart this script, so what takes long to import is imported after it.
    own_jail.fix_addresses()
    if TYPE_CHECKING:
        from . import zygotes
    else:
        import zygotes
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent handles Ctrl-C.
    os.environ["TZ"] = "UTC"  # Otherwise the machine's time zone would apply.
    time.tzset()
    sys.set_int_max_str_digits(0)
    zygotes.serve_requests(requests, replies, own_jail)


if __name__ == "__main__":
    main()
