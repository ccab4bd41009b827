"""Generate data sets of labelled text whose rule is known (HypoBench, section 2 and appendix B).

Each generator is available as `labels:NAME` and makes data sets from a seed without a model:

    peirce tasks generate labels:election --level 3 --out made/
    peirce run labels:admission --problem admission/level_2/depth_2

The generators are admission, shoe, election, personality, marine and tree. `labels:citations` reads
a file of papers instead (citations.py). A data set depends only on the seed and its name. For
election, personality and a user's own `subject`, a model can write the phrases and templates of the
texts (topic_draft.py, commands/data/topics.py).
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
