"""The descriptors 0, 1 and 2, which a caller may have closed."""

from __future__ import annotations

import os


def open_standard_descriptors() -> None:
    """Open the null device for each standard descriptor (0, 1, 2) that is closed.

    Otherwise the next opened file would get the number of a closed descriptor, and the output of
    children and libraries would be written to that file.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
