"""What the strategies choose by: votes, sets of entries that differ, examples. Nothing asks here."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from ...records import Observation
from .reading import NEEDS_MODEL, UNREADABLE, Decision, Pattern, Reading

SEARCHED = 40  # entries among which the best set is searched


def top(reading: Reading) -> list[int]:
    """The positions of the `settings.top` most accurate entries, best first."""
    return list(reading.ranked[: reading.settings.top])


def vote(
    codes: Sequence[int],
    weights: Sequence[float],
    order: Sequence[int],
    labels: int,
    majority: int,
) -> int | None:
    """The label with the most weight; None where no code is a label.

    codes, weights: one an entry; order: their positions, the first in rank first. Weights of the
    voters that are all 0 count as 1 each. A label that nobody named has 0, so it wins where all
    others are below. Ties, to 1e-9: the label of the first voter among the tied ones; without one
    `majority` where it is tied, else the lowest.
    """
    voters = [i for i in order if codes[i] >= 0]
    if not voters:
        return None
    plain = all(abs(weights[i]) < 1e-12 for i in voters)
    totals = [
        math.fsum(1.0 if plain else weights[i] for i in voters if codes[i] == label)
        for label in range(labels)
    ]
    most = max(totals)
    tied = [label for label in range(labels) if math.isclose(totals[label], most, abs_tol=1e-9)]
    named = [codes[i] for i in voters if codes[i] in tied]
    return named[0] if named else majority if majority in tied else tied[0]


def voted(
    reading: Reading, codes: Sequence[int], weights: Sequence[float], order: Sequence[int]
) -> Decision | None:
    """What the entries of `order` come to on one row; None where none of them applies.

    codes, weights: one an entry of the bank. An answer without a label is no abstention: where
    nothing else was said the row is unreadable. Where nobody could judge it is that.
    """
    label = vote(codes, weights, order, len(reading.labels), reading.majority)
    if label is not None:
        return Decision(label, "vote", next((i for i in order if codes[i] == label), None))
    return undecided([codes[i] for i in order])


def undecided(codes: Sequence[int]) -> Decision | None:
    """The end of a row on which no code is a label; None where sentences merely do not apply."""
    if UNREADABLE in codes:
        return Decision(UNREADABLE, "unreadable")
    if codes and all(code == NEEDS_MODEL for code in codes):
        return Decision(NEEDS_MODEL, "needs_model")
    return None


def similarity(first: Sequence[int], second: Sequence[int]) -> float:
    """Cosine of two sets of rows as one-hot vectors: common / sqrt(sizes). 0.0 where either is
    empty: an entry that got no row right is like no other."""
    one, two = set(first), set(second)
    return len(one & two) / math.sqrt(len(one) * len(two)) if one and two else 0.0


def patterns(reading: Reading) -> list[int]:
    """The entries that adaptive inference shows, the most accurate first: of all sets in which no
    pair got rows right that are alike (`settings.similar`) the one with the most accuracy in sum,
    and of that the `settings.patterns` most accurate (HypoGeniC's selection, exact here without a
    solver). Searched among the 40 most accurate."""
    ranked = reading.ranked[:SEARCHED]
    right = [reading.entries[i].right for i in ranked]
    near = [
        sum(
            1 << k
            for k in range(len(ranked))
            if k != j and similarity(right[j], right[k]) >= reading.settings.similar
        )
        for j in range(len(ranked))
    ]
    weights = [reading.worth[i].accuracy(len(reading.labels)) for i in ranked]
    chosen = heaviest(weights, near)
    return [ranked[j] for j in chosen][: reading.settings.patterns]


def heaviest(weights: Sequence[Fraction], near: Sequence[int]) -> list[int]:
    """The set of vertices without an edge between them that weighs most, in ascending order.

    weights: at least 0, one a vertex; near: bit k of near[j] says that j and k are neighbours.
    Exact; of sets that weigh the same the one that takes the earlier vertices.
    """

    @cache
    def best(left: int) -> tuple[Fraction, int]:
        if not left:
            return Fraction(0), 0
        first = (left & -left).bit_length() - 1
        rest = left & ~(1 << first)
        weight, others = best(rest & ~near[first])
        taken = weight + weights[first], others | 1 << first
        if not rest & near[first]:
            return taken
        left_out = best(rest)
        return taken if taken[0] >= left_out[0] else left_out

    chosen = best((1 << len(weights)) - 1)[1]
    return [j for j in range(len(weights)) if chosen >> j & 1]


def examples(reading: Reading, entry: int) -> list[Observation]:
    """At most `settings.examples` shown rows that the entry got right, in shown order: a draw that
    depends on the seed and the sentence alone."""
    right = sorted({i for i in reading.entries[entry].right if 0 <= i < len(reading.shown)})
    draw = random.Random(f"{reading.settings.seed}|{reading.entries[entry].text}")
    some = draw.sample(right, min(reading.settings.examples, len(right)))
    return [reading.shown[i] for i in sorted(some)]


def with_examples(reading: Reading, chosen: Sequence[int]) -> list[Pattern]:
    """The entries as prompts show them: text and rows that it got right (none where it has none)."""
    return [(reading.entries[i].text, examples(reading, i)) for i in chosen]


def most_trusted(reading: Reading, codes: Sequence[int], chosen: Sequence[int]) -> Decision | None:
    """What the most trusted of the entries `chosen` that gives a label says; ties by rank. None
    where none of them applies. codes: one an entry of the bank."""
    trust = trusts(reading)
    for entry in sorted(chosen, key=lambda i: (-trust[i], reading.ranked.index(i))):
        if codes[entry] >= 0:
            return Decision(codes[entry], "hypothesis", entry)
    return undecided([codes[i] for i in chosen])


def trusts(reading: Reading) -> list[float]:
    return [worth.trust(len(reading.labels)) for worth in reading.worth]


def log_odds(reading: Reading) -> list[float]:
    return [worth.log_odds(len(reading.labels)) for worth in reading.worth]
