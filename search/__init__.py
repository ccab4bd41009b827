"""Search for hypotheses without a language model.

There is one engine for each kind of input (engines.py). Engines run in worker processes.
"""

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")
