"""The simulation studies against loops over hypotheses, contexts, pairs and draws with Python sets
and exact fractions, and cases worked by hand.

Random cases hold undefined predictions, equal hypotheses, empty prediction sets, weights, no
hypothesis, no hidden pair, all and none passing. Not covered: where the numbers come from
(tests/reports/test_studies.py).

Internals: each figure of a study is compared with loops over the same draws.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from peirce.records import UsageError
from peirce.tests.counts import drawn
from peirce.tests.marginal_gains import marginal_gains
from peirce.tools.gear import studies

CASES = range(drawn(30, soak=150))


class Case:
    """h hypotheses over n inputs with q hidden pairs, small enough to be listed."""

    def __init__(self, seed):
        rng = random.Random(f"case {seed}")
        h, n, q = rng.randint(0, 7), rng.choice([0, 1, 3, 6, 70]), rng.randint(0, 6)
        outputs = rng.choice([1, 2, 4])
        right = rng.choice([0.0, 0.3, 0.8, 1.0])
        self.codes = [[rng.randrange(outputs) for _ in range(n)] for _ in range(h)]
        self.defined = [[rng.random() < 0.8 for _ in range(n)] for _ in range(h)]
        self.right = [[rng.random() < right for _ in range(q)] for _ in range(h)]
        if h > 1 and rng.random() < 0.5:
            self.codes[-1], self.defined[-1] = self.codes[0], self.defined[0]
            if rng.random() < 0.5:
                self.right[-1] = self.right[0]
        if h > 2 and rng.random() < 0.3:
            self.defined[1] = [False] * n
        self.weights = [rng.randint(0, 3) for _ in range(n)] if rng.random() < 0.3 else None
        self.h, self.n, self.q = h, n, q

    def population(self):
        return studies.build_population(
            np.array(self.codes, np.int64).reshape(self.h, self.n),
            np.array(self.defined, bool).reshape(self.h, self.n),
            np.array(self.right, bool).reshape(self.h, self.q),
            weights=self.weights,
        )

    def sets(self):
        """The prediction set of each hypothesis."""
        return [
            {(j, code) for j, (code, known) in enumerate(zip(*row, strict=True)) if known}
            for row in zip(self.codes, self.defined, strict=True)
        ]

    def size(self, predictions):
        return sum(1 if self.weights is None else self.weights[j] for j, _ in predictions)

    def space(self):
        return self.n if self.weights is None else sum(self.weights)


def naive_gamma(case, members):
    union = set().union(*(case.sets()[i] for i in members))
    return Fraction(case.size(union), case.space()) if case.space() else Fraction(0)


def naive_beta(case, members):
    distances = []
    for a, b in combinations([case.sets()[i] for i in members], 2):
        union = case.size(a | b)
        distances.append(1 - Fraction(case.size(a & b), union) if union else Fraction(0))
    return sum(distances, Fraction(0)) / len(distances) if distances else Fraction(0)


def naive_score(case, context, f):
    share = naive_gamma(case, [f])
    gain = naive_gamma(case, [*context, f]) - naive_gamma(case, context)
    return (share + gain + naive_beta(case, [*context, f]) - naive_beta(case, context)) / 3


def naive_passes(case, hypothesis, draw):
    return all(case.right[hypothesis][pair] for pair in draw)


def naive_comparison(case, contexts, draws, cap):
    """One dictionary of counts for each draw."""
    found = []
    for draw in draws:
        counts = dict.fromkeys(studies.Comparison._fields, 0)
        for context in contexts:
            if any(naive_passes(case, member, draw) for member in context):
                counts["passing"] += 1
                continue
            counts["contexts"] += 1
            chosen = rejected = pairs = 0
            for a, b in combinations([i for i in range(case.h) if i not in context], 2):
                scores = {f: naive_score(case, context, f) for f in (a, b)}
                if scores[a] == scores[b]:
                    counts["ties"] += 1
                    continue
                high, low = sorted((a, b), key=lambda f: -scores[f])
                pairs += 1
                chosen += naive_passes(case, high, draw)
                rejected += naive_passes(case, low, draw)
            scale = min(Fraction(1), Fraction(cap, pairs)) if pairs else 0
            counts["pairs"] += pairs
            counts["weight"] += pairs * scale
            counts["chosen"] += chosen * scale
            counts["rejected"] += rejected * scale
        found.append(counts)
    return found


@pytest.mark.counted
@pytest.mark.parametrize("seed", CASES)
def test_survivors_and_their_gamma_equal_those_of_loops(seed):
    case = Case(seed)
    some = case.population()
    for m in range(1, 5):
        draws = studies.draw_hidden_sets(case.q, m, 5, str(seed))
        assert len(draws) == min(5, math.comb(case.q, m))
        found = studies.measure_survival(some, draws)
        for d, draw in enumerate(draws.tolist()):
            survivors = [i for i in range(case.h) if naive_passes(case, i, draw)]
            assert found.survivors[d] == len(survivors)
            if survivors and case.space():
                assert found.gamma[d] == pytest.approx(float(naive_gamma(case, survivors)))
            else:
                assert math.isnan(found.gamma[d])


@pytest.mark.counted
@pytest.mark.parametrize("seed", CASES)
def test_comparisons_equal_those_of_loops_over_contexts_and_pairs(seed):
    case = Case(seed)
    some = case.population()
    cap = random.Random(seed).choice([1, 3, 1_000])
    draws = studies.draw_hidden_sets(case.q, 1 + seed % 3, 3, str(seed))
    contexts = [studies.draw_contexts(case.h, k, 6, str(seed)) for k in (0, 1, 2)]
    scores = studies.score_in_contexts(some, contexts)
    for places, scored in zip(contexts, scores, strict=True):
        for context, row in zip(places.tolist(), scored, strict=True):
            expected = [
                math.nan if f in context else float(naive_score(case, context, f))
                for f in range(case.h)
            ]
            assert row == pytest.approx(expected, nan_ok=True, abs=1e-11)
        found = studies.compare_candidates(places, scored, studies.find_passing(some, draws), cap)
        expected = naive_comparison(case, places.tolist(), draws.tolist(), cap)
        for name in studies.Comparison._fields:
            told = [float(counts[name]) for counts in expected]
            assert getattr(found, name).tolist() == pytest.approx(told)


def test_scores_are_those_of_the_marginal_gains():
    rng = np.random.Generator(np.random.PCG64(1))
    codes, defined = rng.integers(0, 3, (9, 200)), rng.random((9, 200)) < 0.9
    some = studies.build_population(codes, defined, np.zeros((9, 1), bool))
    contexts = [studies.draw_contexts(9, k, 10, "") for k in (0, 1, 2)]
    scored = studies.score_in_contexts(some, contexts)
    for places, scores in zip(contexts, scored, strict=True):
        for members, row in zip(places, scores, strict=True):
            gains = marginal_gains(codes, defined, codes[members], defined[members])
            others = np.setdiff1d(np.arange(9), members)
            assert row[others] == pytest.approx(gains.score[others], abs=1e-11)


def test_a_case_worked_by_hand():
    """S has four inputs. a = 0000, b = 0011, c = 01--; hidden pairs: a is right on the first, b on
    both, c on none."""
    codes = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]])
    defined = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]], bool)
    some = studies.build_population(codes, defined, np.array([[1, 0], [1, 1], [0, 0]], bool))

    both = studies.measure_survival(some, np.array([[0], [1]]))
    assert both.survivors.tolist() == [2, 1]
    assert both.gamma.tolist() == [6 / 4, 1.0]  # a and b: 1, 1, 2 and 2 predictions

    none, one = (np.zeros((1, 0), np.intp), np.array([[2]]))
    alone, after_c = studies.score_in_contexts(some, [none, one])
    assert alone[0] == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    # c shares one prediction with each: 3 of 4 are new, and 4 of 5 together are not shared.
    assert after_c[0, :2] == pytest.approx([(1 + 3 / 4 + 4 / 5) / 3] * 2)
    assert math.isnan(after_c[0, 2])

    passed = studies.find_passing(some, np.array([[0], [1]]))
    found = studies.compare_candidates(none, alone, passed)
    assert (found.pairs.tolist(), found.ties.tolist()) == ([2, 2], [1, 1])  # a and b tie
    assert (found.chosen.tolist(), found.rejected.tolist()) == ([2.0, 1.0], [0.0, 0.0])
    capped = studies.compare_candidates(none, alone, passed, pairs=1)
    assert (capped.weight.tolist(), capped.chosen.tolist()) == ([1.0, 1.0], [1.0, 0.5])
    assert studies.compare_candidates(one, after_c, passed).ties.tolist() == [1, 1]


def test_a_context_with_a_member_that_passes_is_left_out_and_counted():
    some = studies.build_population(np.arange(4)[:, None], np.ones((4, 1), bool), np.eye(4, 1) > 0)
    contexts = studies.draw_contexts(4, 1, 10, "")
    (scores,) = studies.score_in_contexts(some, [contexts])
    found = studies.compare_candidates(
        contexts, scores, studies.find_passing(some, np.array([[0]]))
    )
    assert (found.contexts.tolist(), found.passing.tolist()) == ([3], [1])


def test_contexts_of_three_are_refused():
    some = studies.build_population(np.zeros((4, 1)), np.ones((4, 1), bool), np.zeros((4, 1), bool))
    with pytest.raises(ValueError, match="contexts of 3 hypotheses: at most 2"):
        studies.score_in_contexts(some, [np.array([[0, 1, 2]])])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"2 rows of marks for behaviours of shape \(1,\)"):
        studies.build_population(np.zeros((1, 2)), np.ones((1, 2), bool), np.zeros((2, 1), bool))
    with pytest.raises(ValueError, match="a matrix"):
        studies.build_population(np.zeros((1, 2)), np.ones((1, 2), bool), np.zeros(1, bool))
    with pytest.raises(UsageError, match="weight -1"):
        studies.build_population(
            np.zeros((1, 1)), np.ones((1, 1), bool), np.zeros((1, 1), bool), weights=[-1]
        )


def test_equal_predictions_become_one_hypothesis_only_if_they_pass_alike():
    codes = np.array([[1, 2], [1, 9], [1, 2], [3, 3]])
    defined = np.array([[1, 1], [1, 0], [1, 1], [1, 1]], bool)
    right = np.array([[1], [1], [1], [1]], bool)
    some = studies.build_population(codes, defined, right)
    assert (len(some), len(some.codes)) == (4, 3)
    assert len(studies.merge_equal(some)) == 3
    right[2] = False
    assert len(studies.merge_equal(studies.build_population(codes, defined, right))) == 4


def test_codes_beneath_undefined_predictions_do_not_count():
    defined = np.array([[1, 0], [1, 0]], bool)
    some = studies.build_population(np.array([[1, 5], [1, 6]]), defined, np.ones((2, 1), bool))
    assert len(some.codes) == 1


@pytest.mark.parametrize(("items", "size"), [(6, 0), (6, 1), (9, 2), (7, 3), (8, 4), (3, 4)])
def test_subsets_are_all_of_them_or_so_many_different_ones(items, size):
    every = set(combinations(range(items), size))
    assert set(map(tuple, studies.draw_subsets(items, size, 10_000, "a").tolist())) == every
    for seed in "abc":
        drawn = [tuple(row) for row in studies.draw_subsets(items, size, 5, seed).tolist()]
        assert len(set(drawn)) == len(drawn) == min(5, len(every))
        assert set(drawn) <= every


def test_every_subset_is_drawn_as_often_as_any_other():
    counts = dict.fromkeys(combinations(range(6), 3), 0)
    for seed in range(2_000):
        for row in studies.draw_subsets(6, 3, 4, str(seed)).tolist():
            counts[tuple(row)] += 1
    assert all(abs(count - 400) < 5 * math.sqrt(400) for count in counts.values())


def test_one_seed_gives_the_same_draws_on_any_machine():
    assert studies.draw_hidden_sets(12, 3, 4, "0 key").tolist() == [
        [0, 3, 4],
        [0, 1, 5],
        [0, 3, 6],
        [0, 4, 8],
    ]


def test_many_hypotheses_have_contexts_at_once():
    drawn = studies.draw_contexts(20_000, 2, 200, "")
    assert drawn.shape == (200, 2) and drawn.max() < 20_000
    assert (drawn[:, 0] < drawn[:, 1]).all()


def test_a_context_counts_as_at_most_a_hundred_comparisons():
    """20 hypotheses with scores that all differ are 190 pairs; the best passes."""
    scores = np.arange(20.0)[None]
    passed = np.arange(20)[:, None] == 19
    found = studies.compare_candidates(np.zeros((1, 0), np.intp), scores, passed)
    assert (found.pairs.tolist(), found.weight.tolist()) == ([190], [pytest.approx(100)])
    assert found.chosen.tolist() == [pytest.approx(19 * 100 / 190)]


def test_contexts_of_one_size_say_nothing_of_those_of_another():
    assert studies.draw_contexts(12, 1, 3, "0 key").tolist() == [[5], [8], [9]]
    assert studies.draw_contexts(12, 2, 3, "0 key").tolist() == [[0, 4], [3, 8], [7, 8]]
    # As many of one of 66 hypotheses as of two of 12: by one seed they would have one rank.
    every = [tuple(row) for row in studies.draw_subsets(12, 2, 66, "").tolist()]
    by_rank = sorted(every, key=lambda row: row[::-1])
    of_two = [by_rank.index(tuple(row)) for row in studies.draw_contexts(12, 2, 9, "s").tolist()]
    assert sorted(of_two) != studies.draw_contexts(66, 1, 9, "s")[:, 0].tolist()
