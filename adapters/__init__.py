"""Ways to use Peirce from other programs. Each adapter only calls the public functions.

Each adapter needs an extra of its own, and nothing else in the package imports an adapter, except the
command that starts it.
"""

from __future__ import annotations

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")
