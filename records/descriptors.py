"""Protection against closed standard descriptors: 0 (input), 1 (output) and 2 (errors)."""

from __future__ import annotations

import os


def open_standard_descriptors() -> None:
    """Open the null device for each standard descriptor (0, 1, 2) that is closed.

    Otherwise the next file that is opened would get the number of the closed descriptor, and the
    output of child processes and libraries would be written to that file.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
