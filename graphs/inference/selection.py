"""Votes of sentences, selection of sentences that differ, and example rows for prompts.

No function in this module queries a model.
"""

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
    """Return the indices of the `settings.top` most accurate sentences, best first."""
    return list(reading.ranked[: reading.settings.top])


def count_votes(
    codes: Sequence[int],
    weights: Sequence[float],
    order: Sequence[int],
    labels: int,
    majority: int,
) -> int | None:
    """Return the label with the largest total weight, or None if no sentence gives a label.

    If all voters have weight 0, each voter counts as 1. A label without votes has the total 0, so
    it wins if the totals of all other labels are negative. Labels whose totals are within 1e-9 of
    the highest total are tied. Among tied labels, the label of the first voter in `order` wins. If
    no voter gives a tied label, `majority` wins if it is tied, otherwise the lowest tied label.

    Args:
        codes: The label code of each sentence; a negative code gives no vote.
        weights: The weight of each sentence.
        order: The indices of the voters, best first.
        labels: The number of labels.
        majority: The label that wins some ties.
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

    If no sentence gives a label, but the judge's answer on a sentence was unreadable, the decision
    is unreadable. If no sentence could be judged without a model, the decision is that the row
    needs a model.

    Args:
        reading: The bank.
        codes: The label code that each sentence gives to the row: the index of a label, or a
            negative code.
        weights: The weight of each sentence.
        order: The indices of the voters, best first.
    """
    label = count_votes(codes, weights, order, len(reading.labels), reading.majority)
    if label is not None:
        return Decision(label, "vote", next((i for i in order if codes[i] == label), None))
    return decide_without_label([codes[i] for i in order])


def decide_without_label(codes: Sequence[int]) -> Decision | None:
    """Return the decision on a row for which no sentence gives a label.

    The decision says that an answer of the judge was unreadable, or that the row needs a model. It
    is None if no sentence applies.

    Args:
        codes: The negative codes of the sentences.
    """
    if UNREADABLE in codes:
        return Decision(UNREADABLE, "unreadable")
    if codes and all(code == NEEDS_MODEL for code in codes):
        return Decision(NEEDS_MODEL, "needs_model")
    return None


def similarity(first: Sequence[int], second: Sequence[int]) -> float:
    """Return the cosine similarity of two sets of row indices.

    This is the number of common rows divided by the square root of the product of the set sizes, or
    0.0 if a set is empty.
    """
    one, two = set(first), set(second)
    return len(one & two) / math.sqrt(len(one) * len(two)) if one and two else 0.0


def select_patterns(reading: Reading) -> list[int]:
    """Return the indices of the sentences that adaptive inference shows, most accurate first.

    Two sentences exclude each other if they are right on similar rows (`settings.similar`). Among
    all sets without two such sentences, the set with the highest sum of accuracies is selected, and
    its `settings.patterns` most accurate sentences are returned. This is HypoGeniC's selection,
    limited to the 40 most accurate sentences and solved exactly without an integer program.
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

    The result is exact. Among sets of equal weight, the set with the earlier vertices is returned.

    Args:
        weights: The weight of each vertex, at least 0.
        neighbours: A bit mask for each vertex j. Bit k of `neighbours[j]` is set if j and k share
            an edge.
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
    """Return at most `settings.examples` shown rows that a sentence labels correctly.

    The rows are drawn at random, depending only on the seed and the sentence, and returned in the
    order of the shown rows.

    Args:
        reading: The bank.
        entry: The index of the sentence.
    """
    right = sorted({i for i in reading.entries[entry].right if 0 <= i < len(reading.shown)})
    draw = random.Random(f"{reading.settings.seed}|{reading.entries[entry].text}")
    some = draw.sample(right, min(reading.settings.examples, len(right)))
    return [reading.shown[i] for i in sorted(some)]


def add_examples(reading: Reading, chosen: Sequence[int]) -> list[Pattern]:
    """Return each chosen sentence with some shown rows that it labels correctly, for a prompt."""
    return [(reading.entries[i].text, draw_examples(reading, i)) for i in chosen]


def decide_by_trust(
    reading: Reading, codes: Sequence[int], chosen: Sequence[int]
) -> Decision | None:
    """Label one row by the most trusted sentence in `chosen` that gives a label.

    On a tie, the more accurate sentence decides. The result is None if no sentence applies.

    Args:
        reading: The bank.
        codes: The label code that each sentence gives to the row: the index of a label, or a
            negative code.
        chosen: The indices of the sentences that may decide.
    """
    trust = entry_trusts(reading)
    for entry in sorted(chosen, key=lambda i: (-trust[i], reading.ranked.index(i))):
        if codes[entry] >= 0:
            return Decision(codes[entry], "hypothesis", entry)
    return decide_without_label([codes[i] for i in chosen])


def entry_trusts(reading: Reading) -> list[float]:
    """Return, for each sentence of the bank, the estimated probability that it is right."""
    return [worth.trust(len(reading.labels)) for worth in reading.worth]


def entry_log_odds(reading: Reading) -> list[float]:
    """Return, for each sentence of the bank, the weight of its vote (see `Worth.log_odds`)."""
    return [worth.log_odds(len(reading.labels)) for worth in reading.worth]
