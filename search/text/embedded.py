"""Vectors of terms that come from outside the search, such as a sentence encoder.

The search has no encoder. If the public description of a problem has the key `VECTORS`, the search
takes the vectors of its terms from there, and ends with `NeedsVectors` where some are missing. Whoever
asked the search then fetches them and asks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...tools.sentence_rules.terms import Term
from ..novelty import NeedsVectors
from .regression import Numbers
from .themes import normalise_vectors

VECTORS = "term_vectors"


def embedded_vectors(terms: Sequence[Term], known: Mapping[str, Sequence[float]]) -> Numbers:
    """Return the vector of each term, as `themes.term_vectors` does, of shape (t, d).

    Args:
        terms: The t terms.
        known: Vectors of length d by text. A stem is looked up without its star, and a kind of word
            by its name.

    Raises:
        NeedsVectors: Vectors are missing.
    """
    names = [one.kind or one.text.replace("*", "") for one in terms]
    if missing := [name for name in dict.fromkeys(names) if name not in known]:
        raise NeedsVectors(missing)
    if not names:
        return np.zeros((0, 0))
    return normalise_vectors(np.array([known[name] for name in names], np.float64))
