"""Generators of labelled text with a known rule (HypoBench, section 2 and appendix B).

Each is a task `labels:NAME` that makes data sets from a seed without a model:

    peirce tasks generate labels:election --level 3 --out made/
    peirce run labels:admission --problem admission/level_2/depth_2

The generators are admission, shoe, election, personality, marine and tree; `labels:citations` reads
a file of works instead (citations.py). Every data set is a pure function of the seed and its name.
For election, personality and a user's own `subject`, a model may write the parts of the texts
(topic_draft.py, commands/data/topics.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from . import admission, election, marine, personality, shoe, tree
from .planted import Generator, select_set_names

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

__all__ = ["GENERATORS", "Generator", "select_set_names"]
