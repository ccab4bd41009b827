"""What an OR of conjunctions says of labelled rows, in bits.

Rows of two labels are often drawn label by label, half of each, so the share of a label says little
about a rule. What is left: rows of the target lie inside the rule, the others outside, and how
surprising that is hangs on the rule's volume, the share of records that it holds on. A condition that
no row refutes is then still found: if 40 rows of the target share a value that every third record
has, the rule says so (a size principle; the discriminative code alone would leave it out).

With q1 and q0 the shares of rows of the target and of the others that a rule holds on and v its volume,
a rule is worth n1 KL(q1|v) + n0 KL(q0|v) bits, less the bits that name it. The volume of a conjunction is
a product over its conditions, each of which is taken to be as frequent as beside the other condition
that goes with it most often, among the rows of other labels. Since records are a mixture of both
kinds of rows, v is never below q0, and never taken to be above the share of all shown rows: there the
worth is what the rule tells of the labels, the plain code, so columns that hang together earn
nothing by that alone. Where columns hang together in general the volume is that share
always: records that nobody designed have no volumes that a product could tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atoms import Atoms

Floats = NDArray[np.float64]
PSEUDO_ROWS = 10.0  # that a pair's frequency is drawn to the single one's with
CONJUNCTION = 1.0  # bits that one more costs
CLEARLY = 3.5  # standard errors, from which on two conditions go together
DESIGNED = (
    2.0  # mean of z squared over pairs of columns, up to which volumes are believed (1 by chance)
)
HANGING = (
    8.0  # mean of z squared over the conditions on two columns, from which on those hang together
)
TIE = 0.1  # bits for all records: of rules that the rows cannot tell apart the narrower one
LOG2 = float(np.log(2.0))


class Evidence:
    """n rows, wanted (n,): whether each has the target label."""

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
        self.given: Floats = np.where(together, 1.0, given)
        self.sized = hanging <= DESIGNED and not atoms.phrases
        self.price: Floats = atoms.bits + np.log2(max(atoms.columns, 1))
        counts = holds @ holds.T
        same = atoms.column[:, None] == atoms.column[None, :]
        within = counts / np.maximum(np.diag(counts), 1.0)[None, :]
        # [b, a]: how much likelier b is where a holds, of one column; else 1
        self.ratio: Floats = np.where(same, within / self.share[:, None], 1.0).astype(np.float64)
        self.parameter = 0.5 * float(np.log2(len(wanted))) + 1.0

    def volume(self, conjunction: tuple[int, ...]) -> float:
        total = 1.0
        for at, one in enumerate(conjunction):
            before = list(conjunction[:at])
            total *= float(self.given[one, before].max()) if before else float(self.share[one])
        return total

    def apart(self, standing: Sequence[tuple[int, ...]], some: Sequence[tuple[int, ...]]) -> Floats:
        """(some,): of the records that each conjunction holds on the share that none of the standing
        ones holds on."""
        last = np.array([one[-1] for one in some], np.int64)[:, None]
        return self.beside(standing, [one[:-1] for one in some], last)[:, 0]

    def beside(
        self,
        standing: Sequence[tuple[int, ...]],
        stems: Sequence[tuple[int, ...]],
        atoms: NDArray[np.int64] | None = None,
    ) -> Floats:
        """(stems, m): of the records that a stem and one more atom hold on, the share that none of the
        standing conjunctions holds on; conditions on different columns taken to be independent.
        atoms: (stems, k), those that are asked for; all where not given."""
        asked = np.arange(len(self.share))[None, :] if atoms is None else atoms
        left = np.ones((len(stems), asked.shape[1]))
        if not self.sized:
            return left  # volumes are not asked for
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
        """To name it; the order of its conditions says nothing."""
        many = len(conjunction)
        orders = sum(np.log2(k) for k in range(2, many + 1))
        return CONJUNCTION + float(self.price[list(conjunction)].sum() - orders)

    def worth(self, inside: Any, wrong: Any, volume: Any) -> Any:
        """Bits, of arrays of one form. inside: rows of the target that the rule holds on; wrong: others."""
        q1, q0 = inside / self.ones, wrong / self.others
        low = (wrong + 0.5) / (self.others + 1.0)
        high = (inside + 0.5) / (self.ones + 1.0)
        share = (inside + wrong + 0.5) / (self.ones + self.others + 1.0)
        at = np.maximum(np.minimum(volume, share) if self.sized else share, low)
        gain = self.ones * divergence(q1, at) + self.others * divergence(q0, at)
        errors = self.parameter * ((wrong > 0) | (inside < self.ones))
        found = np.where(high > low, gain - errors, -errors - 1.0)
        return found - TIE * volume if self.sized else found


def _together(atoms: Atoms, outside: Any, pairs: Any) -> tuple[NDArray[np.bool_], float]:
    """(m, m): conditions that go together in rows of other labels, or that speak of columns which hang
    together there, and do not exclude each other. Of them the second is taken to say nothing new.
    And how much columns hang together, the mean over their pairs."""
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
    column_pairs = (hanging > HANGING)[np.ix_(atoms.column, atoms.column)]
    together: NDArray[np.bool_] = (z > CLEARLY) | (column_pairs & (z >= 0.0))
    different = ~np.eye(len(hanging), dtype=bool)
    return together, float(hanging[different].mean()) if different.any() else 0.0


def divergence(q: Any, p: Any) -> Any:
    """Of Bernoulli variables, in bits; 0 < p < 1."""
    tiny = 1e-12
    return (
        q * np.log(np.maximum(q, tiny) / p)
        + (1 - q) * np.log(np.maximum(1 - q, tiny) / np.maximum(1 - p, tiny))
    ) / LOG2
