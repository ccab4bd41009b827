"""The descriptors 0, 1 and 2, which a caller may have closed."""

from __future__ import annotations

import os


def open_standard_descriptors() -> None:
    """Open the null device in the place of each standard descriptor that is closed.

    The next file to be opened would get its number, and what children and libraries print would be
    written to that file.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
