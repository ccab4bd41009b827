"""Search for hypotheses without a language model.

Each kind of input, such as lists or grids, has its own search engine. engines.py chooses the
engine. Engines run in worker processes.
"""

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")
