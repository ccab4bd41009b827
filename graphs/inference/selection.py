"""Votes, selection of entries that differ, and examples for prompts. Nothing here makes a query."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from ...records import Observation
from .reading import NEEDS_MODEL, UNREADABLE, Decision, Pattern, Reading

MAX_SEARCHED = 40  # number of entries among which the best set is searched


def top_entries(reading: Reading) -> list[int]:
    """Return the indices of the `settings.top` most accurate entries, best first."""
    return list(reading.ranked[: reading.settings.top])


def count_votes(
    codes: Sequence[int],
    weights: Sequence[float],
    order: Sequence[int],
    labels: int,
    majority: int,
) -> int | None:
    """Return the label with the most weight, or None if no code is a label.

    If all voters have weight 0, each voter counts as 1. A label without votes has weight 0, so it
    wins if all other labels have negative weights. Labels within 1e-9 of the highest weight are
    tied. The label of the first voter with a tied label then wins. If no voter has a tied label,
    `majority` wins if it is tied, otherwise the lowest tied label.

    Args:
        codes: the code of each entry.
        weights: the weight of each entry.
        order: indices of the voters, best in rank first.
        labels: number of labels.
        majority: the label that wins some ties.
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


def decide_by_vote(
    reading: Reading, codes: Sequence[int], weights: Sequence[float], order: Sequence[int]
) -> Decision | None:
    """Label one row by a vote of sentences, or return None if no sentence applies.

    An answer without a label is not an abstention. If there are such answers and no label, the row
    is unreadable. If no sentence could judge the row, the row needs a model.

    Args:
        reading: the bank.
        codes: the code of each entry for the row: the index of its label, or a negative number.
        weights: the weight of each entry of the bank.
        order: indices of the voters, best in rank first.
    """
    label = count_votes(codes, weights, order, len(reading.labels), reading.majority)
    if label is not None:
        return Decision(label, "vote", next((i for i in order if codes[i] == label), None))
    return decide_without_label([codes[i] for i in order])


def decide_without_label(codes: Sequence[int]) -> Decision | None:
    """Return the decision on a row without a label, or None if no sentence applies."""
    if UNREADABLE in codes:
        return Decision(UNREADABLE, "unreadable")
    if codes and all(code == NEEDS_MODEL for code in codes):
        return Decision(NEEDS_MODEL, "needs_model")
    return None


def similarity(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the cosine similarity of two sets of rows, seen as one-hot vectors.

    This is the number of common rows / sqrt(product of the set sizes), or 0.0 if a set is empty.
    """
    one, two = set(first), set(second)
    return len(one & two) / math.sqrt(len(one) * len(two)) if one and two else 0.0


def select_patterns(reading: Reading) -> list[int]:
    """Return the entries that adaptive inference shows, the most accurate first.

    Two entries exclude each other if they are right on similar rows (`settings.similar`). Among the
    sets without such a pair, the set with the highest sum of accuracies is selected. Its
    `settings.patterns` most accurate entries are returned. This is HypoGeniC's selection, solved
    exactly without an integer program, among the 40 most accurate entries.
    """
    ranked = reading.ranked[:MAX_SEARCHED]
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
    chosen = heaviest_independent_set(weights, near)
    return [ranked[j] for j in chosen][: reading.settings.patterns]


def heaviest_independent_set(weights: Sequence[Fraction], neighbours: Sequence[int]) -> list[int]:
    """Return the heaviest set of vertices without an edge between them, in ascending order.

    The result is exact. Among sets of equal weight, the one with the earlier vertices is taken.

    Args:
        weights: the weight of each vertex, at least 0.
        neighbours: bit k of near[j] is set if j and k are neighbours.
    """

    @cache
    def best(left: int) -> tuple[Fraction, int]:
        if not left:
            return Fraction(0), 0
        first = (left & -left).bit_length() - 1
        rest = left & ~(1 << first)
        weight, others = best(rest & ~neighbours[first])
        taken = weight + weights[first], others | 1 << first
        if not rest & neighbours[first]:
            return taken
        left_out = best(rest)
        return taken if taken[0] >= left_out[0] else left_out

    chosen = best((1 << len(weights)) - 1)[1]
    return [j for j in range(len(weights)) if chosen >> j & 1]


def draw_examples(reading: Reading, entry: int) -> list[Observation]:
    """Return at most `settings.examples` shown rows that the entry labels correctly, in shown
    order.

    The random draw depends only on the seed and the sentence.
    """
    right = sorted({i for i in reading.entries[entry].right if 0 <= i < len(reading.shown)})
    draw = random.Random(f"{reading.settings.seed}|{reading.entries[entry].text}")
    some = draw.sample(right, min(reading.settings.examples, len(right)))
    return [reading.shown[i] for i in sorted(some)]


def add_examples(reading: Reading, chosen: Sequence[int]) -> list[Pattern]:
    """Return the chosen sentences as prompts show them: each with some rows that it labels
    correctly.
    """
    return [(reading.entries[i].text, draw_examples(reading, i)) for i in chosen]


def decide_by_trust(
    reading: Reading, codes: Sequence[int], chosen: Sequence[int]
) -> Decision | None:
    """Label a row by the sentence in `chosen` that is most likely right and gives a label.

    On a tie, the higher-ranked sentence decides. The result is None if no sentence applies.

    Args:
        reading: the bank.
        codes: the code of each entry for the row: the index of its label, or a negative number.
        chosen: indices of the entries.
    """
    trust = entry_trusts(reading)
    for entry in sorted(chosen, key=lambda i: (-trust[i], reading.ranked.index(i))):
        if codes[entry] >= 0:
            return Decision(codes[entry], "hypothesis", entry)
    return decide_without_label([codes[i] for i in chosen])


def entry_trusts(reading: Reading) -> list[float]:
    """Return for each sentence of the bank the estimated probability that it is right."""
    return [worth.trust(len(reading.labels)) for worth in reading.worth]


def entry_log_odds(reading: Reading) -> list[float]:
    """Return for each sentence of the bank the log-odds that it is right."""
    return [worth.log_odds(len(reading.labels)) for worth in reading.worth]
