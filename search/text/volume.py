"""Worth of an OR of conjunctions on labelled rows, in bits.

The shown rows are often drawn label by label, the same number for each of two labels. The frequency
of a label therefore says little about a rule. What says more is that rows with the target label lie
inside the rule, and rows with other labels outside. How surprising this is depends on the rule's
volume: the share of all possible records on which the rule holds. Suppose that 40 rows with the
target label share a value that every third record has. Then the condition on this value belongs to
the rule even if no shown row refutes the rule without the condition. This is the size principle; a
code for the labels alone would leave the condition out.

Let q1 be the share of rows with the target label on which a rule holds, q0 the share of the other
rows on which it holds, and v the volume. With n1 rows of the target label and n0 other rows, the
rule is worth n1 KL(q1|v) + n0 KL(q0|v) bits, minus the bits that describe the rule.

The volume of a conjunction is a product with one factor per condition. Each factor is the frequency
of a condition given one earlier condition of the conjunction, namely the one that makes it most
frequent. These frequencies are measured on the rows with other labels. The volume is never less
than q0, because records are a mixture of both kinds of rows. It is never more than the rule's share
of all shown rows. At this upper limit the worth is the information of the rule about the labels, so
correlated columns by themselves earn nothing. If columns are correlated in general, the upper limit
is always used, because a product cannot estimate the volume of records that nobody designed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atoms import Atoms

Floats = NDArray[np.float64]
# Strength of the shrinkage of a pair's frequency towards that of the single condition, in rows.
PSEUDO_ROWS = 10.0
CONJUNCTION = 1.0  # bits for one more conjunction
MIN_PAIR_Z = 3.5  # standard errors from which on two conditions are associated
MAX_DESIGNED_Z2 = (
    2.0  # mean of z squared over pairs of columns up to which volumes are trusted (1 by chance)
)
MIN_CORRELATED_Z2 = (
    # Mean of z squared over the conditions on two columns from which on the columns are correlated.
    8.0
)
TIE = 0.1  # bits for all records; of rules that the rows cannot distinguish the narrower one wins
LOG2 = float(np.log(2.0))


class Evidence:
    """How often conditions and conjunctions hold in n labelled rows, for one target label.

    Args:
        atoms: The m single conditions.
        wanted: Which rows have the target label, bool of shape (n,).
    """

    def __init__(self, atoms: Atoms, wanted: NDArray[np.bool_]) -> None:
        self.atoms, self.wanted = atoms, wanted
        self.ones, self.others = float(wanted.sum()), float((~wanted).sum())
        holds = atoms.holds.astype(np.float32)
        self.holds = holds
        self.share = (holds.sum(1) + 0.5) / (len(wanted) + 1.0)
        outside = holds[:, ~wanted]
        pairs = outside @ outside.T  # (m, m)
        given = (pairs + PSEUDO_ROWS * self.share[:, None]) / (np.diag(pairs) + PSEUDO_ROWS)
        given = np.maximum(given, self.share[:, None])
        together, hanging = _together(atoms, outside, pairs)
        self.conditional_share: Floats = np.where(together, 1.0, given)
        self.uses_volumes = hanging <= MAX_DESIGNED_Z2 and not atoms.phrases
        self.price: Floats = atoms.bits + np.log2(max(atoms.columns, 1))
        counts = holds @ holds.T
        same = atoms.column[:, None] == atoms.column[None, :]
        within = counts / np.maximum(np.diag(counts), 1.0)[None, :]
        # [b, a]: how much likelier b is where a holds, for conditions on one column; else 1
        self.ratio: Floats = np.where(same, within / self.share[:, None], 1.0).astype(np.float64)
        self.parameter = 0.5 * float(np.log2(len(wanted))) + 1.0

    def volume(self, conjunction: tuple[int, ...]) -> float:
        """Return the estimated share of all possible records on which `conjunction` holds.

        Args:
            conjunction: Indices of the conditions.
        """
        total = 1.0
        for at, one in enumerate(conjunction):
            before = list(conjunction[:at])
            total *= (
                float(self.conditional_share[one, before].max())
                if before
                else float(self.share[one])
            )
        return total

    def uncovered_share(
        self, standing: Sequence[tuple[int, ...]], conjunctions: Sequence[tuple[int, ...]]
    ) -> Floats:
        """Return how much of each conjunction the chosen conjunctions do not cover yet.

        The result is the share of the conjunction's records on which none of the chosen
        conjunctions holds.

        Args:
            standing: The conjunctions that are already chosen.
            conjunctions: The k conjunctions to evaluate, each with at least one condition.

        Returns:
            Estimated shares of shape (k,).
        """
        last = np.array([one[-1] for one in conjunctions], np.int64)[:, None]
        return self.uncovered_share_with_atoms(standing, [one[:-1] for one in conjunctions], last)[
            :, 0
        ]

    def uncovered_share_with_atoms(
        self,
        standing: Sequence[tuple[int, ...]],
        stems: Sequence[tuple[int, ...]],
        atoms: NDArray[np.int64] | None = None,
    ) -> Floats:
        """Return how much of each extended stem is not covered yet.

        A stem is a conjunction to which one more condition is added. The result is the share of the
        extended conjunction's records on which none of the chosen conjunctions holds. Conditions on
        different columns are assumed to be independent.

        Args:
            standing: The conjunctions that are already chosen.
            stems: Conjunctions to which one condition is added.
            atoms: Indices of the conditions to add to each stem, of shape (stems, k). None means
                all m conditions.

        Returns:
            Estimated shares of shape (stems, k), or (stems, m) if `atoms` is None.
        """
        asked = np.arange(len(self.share))[None, :] if atoms is None else atoms
        left = np.ones((len(stems), asked.shape[1]))
        if not self.uses_volumes:
            return left  # volumes are not used
        longest = max((len(stem) for stem in stems), default=0)
        none = len(self.share)
        padded = np.array([[*stem, *[none] * (longest - len(stem))] for stem in stems], np.int64)
        for one in standing:
            held = np.ones_like(left)
            for part in one:
                by_stem = np.append(self.ratio[part], 1.0)[padded].prod(1)[:, None]
                ratios = self.ratio[part][asked]
                joint = np.where(ratios == 1.0, by_stem, np.where(by_stem > 0, ratios, 0.0))
                held *= np.minimum(1.0, self.share[part] * joint)
            left *= 1.0 - held
        return left

    def bits(self, conjunction: tuple[int, ...]) -> float:
        """Return the description length of `conjunction` in bits.

        The order of the conditions is not described.
        """
        many = len(conjunction)
        orders = sum(np.log2(k) for k in range(2, many + 1))
        return CONJUNCTION + float(self.price[list(conjunction)].sum() - orders)

    def saved_bits(self, inside: Any, wrong: Any, volume: Any) -> Any:
        """Return how many bits rules save in describing the labels.

        The description length of the rules is not subtracted. The arguments are numbers or arrays
        of equal shape, one value per rule.

        Args:
            inside: Number of rows with the target label in which the rule holds.
            wrong: Number of other rows in which the rule holds.
            volume: Share of all possible records on which the rule holds.
        """
        q1, q0 = inside / self.ones, wrong / self.others
        low = (wrong + 0.5) / (self.others + 1.0)
        high = (inside + 0.5) / (self.ones + 1.0)
        share = (inside + wrong + 0.5) / (self.ones + self.others + 1.0)
        at = np.maximum(np.minimum(volume, share) if self.uses_volumes else share, low)
        gain = self.ones * divergence(q1, at) + self.others * divergence(q0, at)
        errors = self.parameter * ((wrong > 0) | (inside < self.ones))
        found = np.where(high > low, gain - errors, -errors - 1.0)
        return found - TIE * volume if self.uses_volumes else found


def _together(atoms: Atoms, outside: Any, pairs: Any) -> tuple[NDArray[np.bool_], float]:
    """Return which conditions go together, and how strongly columns are correlated.

    The first result, (m, m), marks pairs of conditions that are associated in rows of other labels,
    or whose columns are correlated there, unless they exclude each other. The second condition of
    such a pair is taken to add nothing. The second result is the mean correlation over pairs of
    columns.
    """
    n = max(outside.shape[1], 1)
    mean = outside.mean(1)
    apart = pairs / n - np.outer(mean, mean)
    spread = np.sqrt(mean * (1 - mean))
    z = np.sqrt(n) * apart / np.maximum(np.outer(spread, spread), 1e-9)
    z[(spread < 1e-6), :] = 0.0
    z[:, (spread < 1e-6)] = 0.0
    columns = (atoms.column[None, :] == np.arange(atoms.columns)[:, None]).astype(float)
    each = np.maximum(columns.sum(1), 1.0)
    hanging = (columns @ np.square(z) @ columns.T) / np.outer(each, each)
    column_pairs = (hanging > MIN_CORRELATED_Z2)[np.ix_(atoms.column, atoms.column)]
    together: NDArray[np.bool_] = (z > MIN_PAIR_Z) | (column_pairs & (z >= 0.0))
    different = ~np.eye(len(hanging), dtype=bool)
    return together, float(hanging[different].mean()) if different.any() else 0.0


def divergence(q: Any, p: Any) -> Any:
    """Return the Kullback-Leibler divergence between two Bernoulli distributions, in bits.

    Args:
        q: Probability under the first distribution, from 0 to 1.
        p: Probability under the second distribution, with 0 < p < 1.
    """
    tiny = 1e-12
    return (
        q * np.log(np.maximum(q, tiny) / p)
        + (1 - q) * np.log(np.maximum(1 - q, tiny) / np.maximum(1 - p, tiny))
    ) / LOG2
