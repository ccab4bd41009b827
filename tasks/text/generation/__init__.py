"""Data sets of labelled text whose rule is known, made from a seed without a model (HypoBench,
section 2 and appendix B): `labels:NAME` for each generator.

    peirce tasks generate labels:election --level 3 --out made/
    peirce run labels:admission --problem admission/level_2/depth_2

admission, shoe, election, personality, marine and tree are made; `labels:citations` takes a file of
works (citations.py). All are pure functions of the seed and the set's name. Of election, personality and
a `subject` of one's own a model may write the texts' parts (written.py, commands/data/topics.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from . import admission, election, marine, personality, shoe, tree
from .planted import Generator, named

GENERATORS: Mapping[str, Generator] = {
    one.name: one
    for one in (
        admission.GENERATOR,
        shoe.GENERATOR,
        election.GENERATOR,
        personality.GENERATOR,
        marine.GENERATOR,
        tree.GENERATOR,
    )
}

__all__ = ["GENERATORS", "Generator", "named"]
