"""Adapters that let other programs run Peirce. Each one needs its own extra, and calls only the public
functions of the package.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")
