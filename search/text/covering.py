"""Beam search for the OR of conjunctions that best explains a label, measured in bits (volume.py).

Each beam search adds one conjunction to the conjunctions that are already chosen. One part of the
beam holds the candidates with the highest worth. The other parts hold candidates whose new rows
have the label unusually often, because the first conditions of a long conjunction are not yet worth
anything by themselves.

Afterwards the OR is polished: conditions are dropped, replaced and added, and conjunctions are
dropped, exchanged for conjunctions that an earlier beam search found, or searched for again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...tools.sentence_rules.conditions import Comparison, Condition
from ..budget import Budget
from .atoms import Atoms
from .volume import CONJUNCTION, Evidence

BEAM = 60
DEEPEST = 5
MAX_CONJUNCTIONS = 20  # maximum number of conjunctions
WIDTH, CHILDREN = 4, 4  # number of sets kept, and of sets made from each
# Two conjunctions that share at least this part of their rows are alike, and one of them is tried.
MAX_OVERLAP = 0.8
MAX_REMEMBERED = 20  # number of the best conjunctions of a beam that are remembered
MAX_LOSS_BITS = 6.0  # bits that a conjunction may save less than it costs (`Covering.complete`)
MIN_GAIN_BITS = 1e-6  # smallest improvement in bits
ROWS = 200  # on this many rows, 64 candidates cost one expansion

Conjunction = tuple[int, ...]
Cover = tuple[list[Conjunction], float]
Marks = NDArray[np.bool_]


class ChosenCover(NamedTuple):
    """The conjunctions that the search has already chosen for a label, with the rows they cover.

    Args:
        conjunctions: The conjunctions, each a tuple of condition indices.
        covered: Whether at least one of the conjunctions holds, for each row.
        volume: Estimated share of all possible records for which at least one of the conjunctions
            holds.
        bits: Description length of the conjunctions in bits.
    """

    conjunctions: tuple[Conjunction, ...]
    covered: Marks
    volume: float
    bits: float


class CandidatePool(NamedTuple):
    """Conjunctions that beam searches have found.

    Attributes:
        conjunctions: The m conjunctions, each a tuple of condition indices.
        covers: In which rows each conjunction holds, of shape (m, rows).
        volumes: Estimated share of all possible records for which each conjunction holds, of shape
            (m,).
        bits: Description length of each conjunction in bits, of shape (m,).
    """

    conjunctions: list[Conjunction]
    covers: NDArray[np.bool_]
    volumes: NDArray[np.float64]
    bits: NDArray[np.float64]


class Covering:
    """The search for conjunctions that together cover the rows with one label.

    Args:
        atoms: The single conditions of which conjunctions are made.
        wanted: Which rows have the label, bool of shape (rows,).
        budget: Budget of the search.
    """

    def __init__(self, atoms: Atoms, wanted: Marks, budget: Budget) -> None:
        self.atoms, self.wanted, self.budget = atoms, wanted, budget
        self.evidence = Evidence(atoms, wanted)
        self.tried = 0
        self.met: dict[Conjunction, None] = {}
        side = np.array([_side(one) for one in atoms.conditions])
        bounds = np.outer(side, side) < 0
        self.same = (atoms.column[:, None] == atoms.column[None, :]) & ~bounds

    def grow(self) -> Cover:
        """Search for conjunctions that cover the wanted rows.

        Returns:
            The conjunctions, and the bits that they save: how much shorter the labels can be
            described, minus the description length of the conjunctions.
        """
        return self._grown([], WIDTH)

    def rows_of(self, conjunction: Conjunction) -> Marks:
        """Return in which rows all conditions of `conjunction` hold, as bools of shape (rows,)."""
        return np.asarray(self.atoms.holds[list(conjunction)].all(axis=0), np.bool_)

    def saved_bits(self, conjunctions: Sequence[Conjunction]) -> float:
        """Return how many bits the OR of `conjunctions` saves in describing the labels.

        The description length of the conjunctions is already subtracted.
        """
        if not conjunctions:
            return 0.0
        beside = self._others(conjunctions)
        inside = (beside.covered & self.wanted).sum()
        wrong = (beside.covered & ~self.wanted).sum()
        found = self.evidence.saved_bits(np.array(inside), np.array(wrong), beside.volume)
        return float(found) - beside.bits

    def _others(self, some: Sequence[Conjunction]) -> ChosenCover:
        covered = np.zeros(len(self.wanted), np.bool_)
        volume = 0.0
        for at, one in enumerate(some):
            covered |= self.rows_of(one)
            apart = self.evidence.uncovered_share(some[:at], [one])[0]
            volume += self.evidence.volume(one) * float(apart)
        bits = sum(self.evidence.bits(one) for one in some) - sum(
            float(np.log2(k)) for k in range(2, len(some) + 1)
        )
        return ChosenCover(tuple(some), covered, min(volume, 1.0), bits)

    def _charge(self, candidates: int) -> bool:
        self.tried += candidates
        return self.budget.charge(candidates * len(self.wanted) / (Budget.VECTOR * ROWS))

    def _scored(
        self, stems: Sequence[Conjunction], beside: ChosenCover
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score each stem extended by each atom.

        Returns:
            The worth of the whole cover, (stems, atoms), and the concentration of the new rows of
            the target among those left and among all, (2, stems, atoms). Both are -inf for an
            atom on a column that the stem already uses, unless the two are opposite bounds.
        """
        evidence = self.evidence
        covers = np.array([self.rows_of(stem) for stem in stems], np.bool_)
        volumes = np.array([evidence.volume(stem) for stem in stems])
        bits = np.array([evidence.bits(stem) if stem else CONJUNCTION for stem in stems])
        new_ones = (covers & self.wanted & ~beside.covered).astype(np.float32) @ evidence.holds.T
        new_wrong = (covers & ~self.wanted & ~beside.covered).astype(np.float32) @ evidence.holds.T
        factor = np.array(
            [
                evidence.conditional_share[:, list(stem)].max(1) if stem else evidence.share
                for stem in stems
            ]
        )  # fmt: skip
        volume = volumes[:, None] * factor
        inside = new_ones + (beside.covered & self.wanted).sum()
        wrong = new_wrong + (beside.covered & ~self.wanted).sum()
        apart = evidence.uncovered_share_with_atoms(beside.conjunctions, stems)
        whole = beside.volume + volume * apart
        depth = np.array([len(stem) + 1 for stem in stems], float)
        more = -np.log2(depth) - np.log2(len(beside.conjunctions) + 1.0)
        named = bits[:, None] + evidence.price[None, :] + more[:, None]
        worth = evidence.saved_bits(inside, wrong, whole) - named - beside.bits
        left = max(1.0, float((self.wanted & ~beside.covered).sum()))
        gathered = np.stack(
            [
                new_ones * np.log2(np.maximum(new_ones, 1) / many / volume) - named
                for many in (left, evidence.ones)
            ]
        )
        self._charge(worth.size)
        for row, stem in enumerate(stems):
            for one in stem:
                worth[row, self.same[one]] = -np.inf
                gathered[:, row, self.same[one]] = -np.inf
        few = new_ones < 2
        gathered[:, few] = -np.inf
        worth[few] = -np.inf
        return worth, gathered

    def _grow(self, beside: ChosenCover, unlike: Marks | None = None) -> list[Conjunction]:
        """Return the best conjunctions to add, at most `CHILDREN`, with different rows.

        Args:
            beside: The conjunctions already chosen.
            unlike: Rows that a new conjunction must not nearly equal.
        """
        found: list[tuple[float, Conjunction]] = []
        stems: list[Conjunction] = [()]
        for _ in range(DEEPEST):
            if not self.budget.left:
                break
            worth, gathered = self._scored(stems, beside)
            for at in top_indices(worth, 4 * CHILDREN):
                row, atom = divmod(int(at), worth.shape[1])
                if np.isfinite(worth[row, atom]):
                    found.append((-float(worth[row, atom]), tuple(sorted((*stems[row], atom)))))
            stems = list(self._kept(stems, worth, gathered))
            if not stems:
                break
        found.sort()
        self.met.update(dict.fromkeys(one for _, one in found[:MAX_REMEMBERED]))
        return self._unlike(found, *([] if unlike is None else [unlike]))

    def _unlike(
        self, found: Sequence[tuple[float, Conjunction]], *others: Marks
    ) -> list[Conjunction]:
        """Return the first `CHILDREN` conjunctions with clearly different rows."""
        taken: list[Conjunction] = []
        rows = list(others)
        for _, one in found:
            marks = self.rows_of(one)
            if all((marks & other).sum() < MAX_OVERLAP * (marks | other).sum() for other in rows):
                taken.append(one)
                rows.append(marks)
                if len(taken) == CHILDREN:
                    break
        return taken

    def _kept(
        self,
        stems: Sequence[Conjunction],
        worth: NDArray[np.float64],
        gathered: NDArray[np.float64],
    ) -> Iterator[Conjunction]:
        seen: set[Conjunction] = set()
        covers: set[bytes] = set()
        for scores in (worth, *gathered):
            taken = 0
            for at in top_indices(scores, 4 * BEAM):
                row, atom = divmod(int(at), scores.shape[1])
                if taken >= BEAM // 2 or not np.isfinite(scores[row, atom]):
                    break
                found = tuple(sorted((*stems[row], atom)))
                if found in seen:
                    continue
                seen.add(found)
                key = self.rows_of(found).tobytes()
                if key in covers and scores is worth:
                    continue
                covers.add(key)
                taken += 1
                yield found

    def _grown(self, start: list[Conjunction], width: int, unlike: Marks | None = None) -> Cover:
        """Grow a cover by a beam of sets.

        Args:
            start: Conjunctions to start with.
            width: Number of sets kept.
            unlike: Rows that the first new conjunction must not nearly equal.
        """
        best = list(start), self.saved_bits(start)
        sets = [best]
        while sets and len(sets[0][0]) < MAX_CONJUNCTIONS and self.budget.left:
            grown: dict[frozenset[Conjunction], Cover] = {}
            for found, worth in sets:
                for more in self._grow(self._others(found), unlike):
                    then = [*found, more]
                    now = self.saved_bits(then)
                    if now > worth + MIN_GAIN_BITS:
                        grown.setdefault(frozenset(then), (then, now))
            unlike = None
            sets = sorted(grown.values(), key=lambda pair: (-pair[1], pair[0]))[:width]
            if sets and sets[0][1] > best[1] + MIN_GAIN_BITS:
                best = sets[0]
        return best

    def polish(self, found: list[Conjunction], worth: float) -> Cover:
        """Improve a set of conjunctions by small changes until no change helps or the budget ends.

        A change drops a conjunction, changes one condition in a conjunction, exchanges conjunctions
        for others that were found earlier, narrows a conjunction and adds another, or replaces a
        conjunction by a new one.

        Args:
            found: The conjunctions.
            worth: Bits that the conjunctions save.

        Returns:
            The improved conjunctions, and the bits that they save.
        """
        better = True
        while better and self.budget.left:
            better = False
            for step in (self._dropped, self._changed, self._exchanged, self._split, self._regrown):
                then = step(found, worth)
                if then is not None:
                    found, worth = then
                    better = True
                    break
        return found, worth

    def complete(self, found: list[Conjunction], worth: float) -> Cover:
        """Add conjunctions for the wanted rows that are not covered yet.

        Conjunctions are added only while no row with another label is covered. Each new conjunction
        must cover no such row either. The new conjunction may save up to `MAX_LOSS_BITS` bits less
        than its description costs.

        Args:
            found: The conjunctions so far.
            worth: Bits that these conjunctions save.

        Returns:
            The conjunctions, and the bits that they save.
        """
        while self.budget.left and len(found) < MAX_CONJUNCTIONS:
            covered = self._others(found).covered
            if (covered & ~self.wanted).any() or not (self.wanted & ~covered).any():
                break
            grown = [[*found, one] for one in self._grow(self._others(found))]
            pure = [some for some in grown if not (self.rows_of(some[-1]) & ~self.wanted).any()]
            then = max(((self.saved_bits(some), some) for some in pure), default=(-np.inf, found))
            if then[0] < worth - MAX_LOSS_BITS:
                break
            worth, found = then
        return found, worth

    def _dropped(self, found: list[Conjunction], worth: float) -> Cover | None:
        tries = [found[:at] + found[at + 1 :] for at in range(len(found))]
        scored = [(self.saved_bits(one), one) for one in tries]
        best = max(scored, key=lambda pair: pair[0], default=None)
        return (best[1], best[0]) if best and best[0] > worth + MIN_GAIN_BITS else None

    def _changed(self, found: list[Conjunction], worth: float) -> Cover | None:
        """Drop, replace or add one condition in one conjunction."""
        for at, one in enumerate(found):
            rest = found[:at] + found[at + 1 :]
            beside = self._others(rest)
            shorter = [one[:k] + one[k + 1 :] for k in range(len(one))]
            scored = [(self.saved_bits([*rest, stem]), stem) for stem in shorter if stem]
            wider, _ = self._scored([*shorter, one], beside)
            row, atom = divmod(int(np.argmax(wider)), wider.shape[1])
            scored.append((float(wider[row, atom]), (*[*shorter, one][row], atom)))
            best = max(scored, key=lambda pair: pair[0])
            if best[0] > worth + MIN_GAIN_BITS:
                changed = [*rest, best[1]]
                then = self.saved_bits(changed)
                if then > worth + MIN_GAIN_BITS:
                    return changed, then
        return None

    def _exchanged(self, found: list[Conjunction], worth: float) -> Cover | None:
        """Replace one or two conjunctions by others that some beam found."""
        pool = list(self.met)
        if not pool:
            return None
        met = CandidatePool(
            pool,
            np.array([self.rows_of(one) for one in pool], np.bool_),
            np.array([self.evidence.volume(one) for one in pool]),
            np.array([self.evidence.bits(one) for one in pool]),
        )
        for many in (1, 2):
            for out in combinations(found, many):
                rest = [one for one in found if one not in out]
                then, now = rest, -np.inf
                while self.budget.left and len(then) < MAX_CONJUNCTIONS:
                    worths = self._with_one(met, then)
                    if then is rest:
                        worths[[at for at, one in enumerate(pool) if one in out]] = -np.inf
                    at = int(np.argmax(worths))
                    if worths[at] <= now + MIN_GAIN_BITS:
                        break
                    then, now = [*then, pool[at]], float(worths[at])
                if now > worth + MIN_GAIN_BITS:
                    exactly = self.saved_bits(then)
                    if exactly > worth + MIN_GAIN_BITS:
                        return then, exactly
        return None

    def _with_one(self, met: CandidatePool, then: Sequence[Conjunction]) -> NDArray[np.float64]:
        """Return the worth of the cover with each conjunction of `met` added, (met,)."""
        beside, wanted = self._others(then), self.wanted
        new = met.covers & ~beside.covered
        inside = new[:, wanted].sum(axis=1) + (beside.covered & wanted).sum()
        wrong = new[:, ~wanted].sum(axis=1) + (beside.covered & ~wanted).sum()
        volume = beside.volume + met.volumes * self.evidence.uncovered_share(then, met.conjunctions)
        named = met.bits + beside.bits - np.log2(len(then) + 1.0)
        self._charge(len(met.conjunctions))
        return np.asarray(self.evidence.saved_bits(inside, wrong, np.minimum(volume, 1.0)) - named)

    def _regrown(self, found: list[Conjunction], worth: float) -> Cover | None:
        """Drop one conjunction and grow something else in its place."""
        for at in range(len(found)):
            rest = found[:at] + found[at + 1 :]
            then = self._grown(rest, 1, self.rows_of(found[at]))
            if then[1] > worth + MIN_GAIN_BITS:
                return then
        return None

    def _split(self, found: list[Conjunction], worth: float) -> Cover | None:
        """Narrow one conjunction and grow another for the rows it gives up."""
        for at, one in enumerate(found):
            rest = found[:at] + found[at + 1 :]
            for narrow in self._narrower(one, self._others(rest)):
                then = self._grown([*rest, narrow], 1)
                while fewer := self._dropped(*then):
                    then = fewer
                if then[1] > worth + MIN_GAIN_BITS:
                    return then
        return None

    def _narrower(self, one: Conjunction, beside: ChosenCover) -> list[Conjunction]:
        """Return conjunctions on fewer rows: one more condition, or another on the same column."""
        marks = self.rows_of(one)
        stems = [one, *(one[:k] + one[k + 1 :] for k in range(len(one)))]
        _, gathered = self._scored(stems, beside)
        found: list[tuple[float, Conjunction]] = []
        for row, stem in enumerate(stems):
            for atom in np.flatnonzero(np.isfinite(gathered[1, row])).tolist():
                then = tuple(sorted((*stem, atom)))
                if not (self.rows_of(then) & ~marks).any():
                    found.append((-float(gathered[1, row, atom]), then))
        return self._unlike(sorted(found), marks)


def _side(condition: Condition) -> int:
    """Return 1 for a lower bound, -1 for an upper bound, else 0."""
    relation = condition.relation if isinstance(condition, Comparison) else ""
    return {"more than": 1, "at least": 1, "at most": -1, "less than": -1}.get(relation, 0)


def top_indices(scores: NDArray[np.float64], many: int) -> list[int]:
    """Return the indices of the `many` largest scores in the flattened array, largest first.

    Equal scores keep their order, so that the result is the same on all machines.
    """
    flat = scores.ravel()
    if many < flat.size:
        least = np.partition(flat, flat.size - many)[flat.size - many]
        places = np.flatnonzero(flat >= least)
    else:
        places = np.arange(flat.size)
    order = np.argsort(-flat[places], kind="stable")[:many]
    found: list[int] = places[order].tolist()
    return found
