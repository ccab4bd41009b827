"""Whether rows show a fact about most of them beyond noise.

A rule that some shown rows contradict (labels that were changed, a phrase that other phrases outweigh) is a
fact about most rows. The rows identify it where its label leads the next one where it applies (sign test),
and has a greater share there than elsewhere (two shares compared), each at 5%, one-sided. So a phrase that
does nothing, or whose label leads by two rows of 40, is not identified.

Rows are counted as they are: a regression over all phrases may know more.
"""

from __future__ import annotations

import math

import numpy as np

from ..judge.rules import NOT_APPLICABLE, Codes

CHANCE = 0.05  # of a fact about most rows, that noise alone shows it
MANY = 1_000  # tosses, above which their sum is a normal deviate


def beyond_noise(codes: Codes, gold: Codes) -> bool:
    """Whether the one label that the codes give leads the next one where they give it, and has a greater
    share there than elsewhere, by more than chance; True where no row contradicts it."""
    there = codes != NOT_APPLICABLE
    given = np.unique(codes[there])
    if given.size != 1 or (gold[there] == given[0]).all():
        return True
    label = int(given[0])
    counts = np.bincount(gold[there], minlength=label + 1)
    own, other = int(counts[label]), int(np.delete(counts, label).max())
    if _tail(own, own + other) > CHANCE:
        return False
    if there.all():
        return True
    shares = own / there.sum(), float((gold[~there] == label).mean())
    both = float((gold == label).mean())
    spread = math.sqrt(both * (1 - both) * (1 / there.sum() + 1 / (~there).sum()))
    return math.erfc((shares[0] - shares[1]) / max(spread, 1e-12) / math.sqrt(2)) / 2 <= CHANCE


def _tail(heads: int, tosses: int) -> float:
    """The chance of so many heads or more."""
    if tosses > MANY:
        return math.erfc((2 * heads - tosses) / math.sqrt(2 * tosses)) / 2
    above = sum(math.comb(tosses, one) for one in range(heads, tosses + 1))
    return float(above / 2**tosses)
