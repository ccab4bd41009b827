"""Preference pairs against the definition written naively over `tests/marginal_gains.py`, against
fractions of Python's sets where equality matters, and worked by hand.

Random cases hold undefined predictions with codes beneath them, copies, empty prediction sets,
malformed and inconsistent answers, weights, costs. Not covered: texts, prompts, splits.

Internals: the size of the blocks that are compared at once is a constant, which is made small here.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import UsageError
from peirce.tests.marginal_gains import marginal_gains
from peirce.training import STAGES, Stage
from peirce.training.pairs import Caps, Pool, preference_pairs

ALL = Caps((None, None, None), (None, None, None))
LEAST, GREATEST = -(2**63), 2**63 - 1
CODES = st.sampled_from([0, 1, 2, LEAST, LEAST + 1, GREATEST])
WEIGHTS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1 / 3, 2 / 3, 1.0, 3.0])


@st.composite
def pools(draw):
    """Up to 7 answers over up to 5 inputs, mostly well-formed and consistent; copies are common."""
    h, n = draw(st.integers(0, 7)), draw(st.integers(0, 5))
    rows, known = [], []
    for i in range(h):
        if i and draw(st.integers(0, 3)) == 0:
            rows.append(rows[-1])
            known.append(known[-1])
        else:
            rows.append(draw(st.lists(CODES, min_size=n, max_size=n)))
            known.append(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    kinds = draw(st.lists(st.sampled_from([0, 1, 2, 2, 2]), min_size=h, max_size=h))
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=n, max_size=n))
    elements = draw(st.integers(0, 4)) if draw(st.booleans()) else None
    cost = None
    if elements is not None:
        cost = np.array(draw(st.lists(st.integers(0, elements), min_size=h, max_size=h)), np.int64)
    return Pool(
        np.array([kind > 0 for kind in kinds], bool),
        np.array([kind == 2 for kind in kinds], bool),
        np.array(rows, np.int64).reshape(h, n),
        np.array(known, bool).reshape(h, n),
        weights,
        cost,
        elements or 0,
    )


def as_fraction(weight):
    return Fraction(weight).limit_denominator(10**6)


def exact_score(pool, context, f):
    """The definition with sets of (input, prediction) and fractions; a fourth term for costs."""
    n = pool.codes.shape[1]
    sizes = [Fraction(1)] * n if pool.weights is None else [as_fraction(w) for w in pool.weights]
    space = sum(sizes, Fraction(0))

    def size(pairs):
        return sum((sizes[j] for j, _ in pairs), Fraction(0))

    def predictions(i):
        return {(j, int(pool.codes[i, j])) for j in range(n) if pool.defined[i, j]}

    def gamma(sets):
        return size(set().union(*sets)) / space if space else Fraction(0)

    def beta(sets):
        apart = [
            1 - size(a & b) / size(a | b) if size(a | b) else Fraction(0)
            for a, b in combinations(sets, 2)
        ]
        return sum(apart) / len(apart) if apart else Fraction(0)

    before = [predictions(i) for i in context]
    after = [*before, predictions(f)]
    share = size(predictions(f)) / space if space else Fraction(0)
    terms = [share, gamma(after) - gamma(before), beta(after) - beta(before)]
    if pool.cost is not None:
        terms.append(1 - Fraction(int(pool.cost[f]), max(1, pool.elements)))
    return sum(terms) / len(terms)


def by_measures(pool, context, f):
    """The same through the functions that score sessions."""
    context = list(context)
    gains = marginal_gains(
        pool.codes[[f]], pool.defined[[f]],
        pool.codes[context], pool.defined[context], pool.weights,
    )  # fmt: skip
    score = float(gains.score[0])
    if pool.cost is not None:
        score = (3 * score + 1 - int(pool.cost[f]) / max(1, pool.elements)) / 4
    return score


def naive(pool):
    """Every (context, stage, chosen, rejected), and the number of ties."""
    found, ties = set(), 0
    answers = range(len(pool.parsed))
    for size in (0, 1, 2):
        for context in combinations(np.flatnonzero(pool.consistent).tolist(), size):
            for a, b in combinations([i for i in answers if i not in context], 2):
                if pool.parsed[a] != pool.parsed[b]:
                    stage, first = Stage.PARSING, bool(pool.parsed[a])
                elif not pool.parsed[a]:
                    continue
                elif pool.consistent[a] != pool.consistent[b]:
                    stage, first = Stage.CONSISTENCY, bool(pool.consistent[a])
                elif not pool.consistent[a]:
                    continue
                else:
                    score, other = (exact_score(pool, context, f) for f in (a, b))
                    if score == other:
                        ties += 1
                        continue
                    stage, first = Stage.GEAR, score > other
                found.add((context, stage, *((a, b) if first else (b, a))))
    return found, ties


def listed(pairs):
    return [
        (tuple(i for i in pairs.contexts[row].tolist() if i >= 0), Stage(stage), chosen, rejected)
        for row, stage, chosen, rejected in zip(
            pairs.context.tolist(), pairs.stage.tolist(),
            pairs.chosen.tolist(), pairs.rejected.tolist(), strict=True,
        )
    ]  # fmt: skip


def pool_of(rows, kinds=None, **more):
    """A pool of rows where None is undefined; kinds: "-" malformed, "w" wrong, "c" consistent."""
    kinds = kinds or "c" * len(rows)
    return Pool(
        np.array([kind != "-" for kind in kinds]),
        np.array([kind == "c" for kind in kinds]),
        np.array([[7 if code is None else code for code in row] for row in rows], np.int64),
        np.array([[code is not None for code in row] for row in rows], bool),
        **more,
    )


# --- the definition -----------------------------------------------------------------------


@pytest.mark.parametrize("examples", [50, pytest.param(300, marks=pytest.mark.soak)])
def test_without_caps_the_pairs_are_those_of_the_definition(examples):
    """Of 50 drawn pools with every change, of 300 in `make soak`."""
    settings(max_examples=examples)(given(pools())(check_definition))()


def check_definition(pool):
    pairs = preference_pairs(pool, ALL)
    expected, ties = naive(pool)
    got = listed(pairs)
    assert len(got) == len(set(got))
    assert set(got) == expected
    assert int(pairs.ties.sum()) == ties
    assert int(pairs.counts_before_cap.sum()) == len(expected)
    for (context, stage, chosen, rejected), high, low in zip(
        got, pairs.chosen_score, pairs.rejected_score, strict=True
    ):
        if stage is not Stage.GEAR:
            assert np.isnan(high) and np.isnan(low)
            continue
        assert abs(high - by_measures(pool, context, chosen)) <= 1e-12
        assert abs(low - by_measures(pool, context, rejected)) <= 1e-12


def test_a_hand_worked_problem():
    # 0: total; 1: as 0 but for two inputs; 2: half defined; 3: malformed; 4: inconsistent.
    pool = pool_of([[1, 1, 1, 1], [1, 1, 2, 2], [3, 3, None, None], [0] * 4, [1] * 4], "ccc-w")
    pairs = preference_pairs(pool, ALL)
    assert pairs.contexts.tolist() == [
        [-1, -1], [0, -1], [1, -1], [2, -1], [0, 1], [0, 2], [1, 2],
    ]  # fmt: skip
    gear_pairs = {
        (context, a, b): (high, low)
        for (context, stage, a, b), high, low in zip(
            listed(pairs), pairs.chosen_score, pairs.rejected_score, strict=True
        )
        if stage is Stage.GEAR
    }
    # No context: g twice over 3; 0 and 1 tie at 2/3, 2 has 1/3.
    # Over {0}: 1 has (1 + 1/2 + 4/6) / 3 = 13/18; 2 has (1/2 + 1/2 + 1) / 3 = 12/18.
    # Over {1} the same of 0 and 2. Over {2}: 0 and 1 are total, new and at distance 1: a tie.
    expected = {
        ((), 0, 2): (2 / 3, 1 / 3),
        ((), 1, 2): (2 / 3, 1 / 3),
        ((0,), 1, 2): (13 / 18, 12 / 18),
        ((1,), 0, 2): (13 / 18, 12 / 18),
    }
    assert gear_pairs.keys() == expected.keys()
    for pair, scores in expected.items():
        assert gear_pairs[pair] == pytest.approx(scores, abs=1e-15)
    assert pairs.counts_before_cap.tolist() == [[4, 3, 2], [9, 6, 2], [6, 3, 0]]
    assert pairs.ties.tolist() == [1, 1, 0]
    assert pairs.context_counts.tolist() == [1, 3, 3]


def test_a_context_of_two_is_worked_by_hand():
    # Over {0, 1}, d = 1: 2 agrees with both nowhere, 3 is 0 on half and 1 on the other.
    pool = pool_of([[1, 1, 1, 1], [2, 2, 2, 2], [3, 3, None, None], [1, 1, 2, 2]])
    pairs = preference_pairs(pool, Caps((0, 0, None), (0, 0, None)))
    both = zip(pairs.chosen_score, pairs.rejected_score, strict=True)
    found = dict(zip(listed(pairs), both, strict=True))
    # 2: (1/2 + 1/2 + 0) / 3. 3: (1 + 0 + (1 + 2/3 + 2/3)/3 - 1) / 3 = (1 - 2/9) / 3 = 7/27.
    assert found[(0, 1), Stage.GEAR, 2, 3] == pytest.approx((9 / 27, 7 / 27), abs=1e-15)


def test_the_cost_stands_in_the_score():
    pool = pool_of([[1, 1], [1, 2], [1, None]], cost=np.array([3, 1, 0]), elements=4)
    pairs = preference_pairs(pool, Caps((1, 0, 0), (None, 0, 0)))
    # (g + g + 0 + p) / 4: 2.25/4, 2.75/4, 2/4.
    assert [(a, b) for _, _, a, b in listed(pairs)] == [(0, 2), (1, 0), (1, 2)]
    assert pairs.chosen_score.tolist() == [2.25 / 4, 2.75 / 4, 2.75 / 4]


def test_two_malformed_or_two_inconsistent_answers_make_no_pair():
    rows = [[1], [2], [3], [4]]
    assert len(preference_pairs(pool_of(rows, "----"), ALL)) == 0
    assert len(preference_pairs(pool_of(rows, "wwww"), ALL)) == 0


def test_no_answer_and_no_input_make_no_pair():
    nothing = Pool(*(np.zeros(0, bool),) * 2, np.zeros((0, 3), np.int64), np.zeros((0, 3), bool))
    assert len(preference_pairs(nothing, ALL)) == 0
    no_space = Pool(*(np.ones(4, bool),) * 2, np.zeros((4, 0), np.int64), np.zeros((4, 0), bool))
    pairs = preference_pairs(no_space, ALL)
    assert len(pairs) == 0
    assert pairs.ties.tolist() == [6, 12, 6]


# --- ties ---------------------------------------------------------------------------------


def test_scores_that_are_equal_as_fractions_tie_though_their_floats_differ():
    # Over the context {0}: 1/10 + 2/10 of one and 3/10 of another are one size.
    assert 0.1 + 0.2 != 0.3
    weights = [0.1, 0.2, 0.3, 0.4]
    pool = pool_of([[1, 1, None, None], [None, None, 1, None]], weights=weights)
    pairs = preference_pairs(pool, ALL)
    assert len(pairs) == 0 and pairs.ties[0] == 1


def test_sizes_past_62_bits_are_exact_too():
    # Weights that are no short decimals: |S| is 2**40 units, products of sizes pass 64 bits.
    weights = np.random.default_rng(3).random(40).tolist()
    codes = np.random.default_rng(4).integers(0, 3, (5, 40))
    codes[3] = codes[2]
    pool = pool_of(codes.tolist(), weights=weights)
    pairs = preference_pairs(pool, ALL)
    got = {(context, frozenset((a, b))) for context, _, a, b in listed(pairs)}
    tied = frozenset((2, 3))
    contexts = [c for size in (1, 2) for c in combinations((0, 1, 4), size)]
    assert all((context, tied) not in got for context in contexts)
    for (context, _, a, b), high, low in zip(
        listed(pairs), pairs.chosen_score, pairs.rejected_score, strict=True
    ):
        assert high > low
        assert high == pytest.approx(by_measures(pool, context, a), abs=1e-9)
        assert low == pytest.approx(by_measures(pool, context, b), abs=1e-9)


# --- caps and seeds -----------------------------------------------------------------------


def large(seed=0, h=40, n=100):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list("-wccc"), h)
    rows = np.where(rng.random((h, n)) < 0.2, -1, rng.integers(0, 4, (h, n)))
    return pool_of([[None if c < 0 else c for c in row] for row in rows.tolist()], "".join(kinds))


def test_caps_hold_for_each_context_and_stage_and_draw_among_the_pairs_that_there_are():
    pool = large()
    every = set(listed(preference_pairs(pool, ALL)))
    caps = Caps((1, 7, 11), (50, 4, 3))
    pairs = preference_pairs(pool, caps, seed=5)
    got = listed(pairs)
    assert set(got) <= every and len(set(got)) == len(got)
    sizes = (pairs.contexts >= 0).sum(axis=1)
    assert np.bincount(sizes).tolist() == [1, 7, 11]
    counts = {}
    for context, stage, _, _ in got:
        counts[context, stage] = counts.get((context, stage), 0) + 1
    assert all(count == caps.pairs[len(context)] for (context, _), count in counts.items())
    assert len(counts) == 3 * (1 + 7 + 11)


def test_a_seed_gives_the_same_pairs_again_and_another_seed_others():
    pool, caps = large(), Caps((1, 5, 5), (9, 9, 9))
    once, again, other = (listed(preference_pairs(pool, caps, seed)) for seed in (1, 1, 2))
    assert once == again
    assert set(once) != set(other)


def test_what_is_drawn_for_a_context_does_not_depend_on_the_other_contexts(monkeypatch):
    pool = large()
    few = preference_pairs(pool, Caps((1, 3, 4), (9, 9, 9)), seed=1)
    many = preference_pairs(pool, Caps((1, None, None), (9, 9, 9)), seed=1)
    assert set(listed(few)) < set(listed(many))
    monkeypatch.setattr("peirce.training.pairs.preferences._BLOCK", 64)
    assert listed(preference_pairs(pool, Caps((1, None, None), (9, 9, 9)), seed=1)) == listed(many)


def test_every_pair_is_as_likely_as_another_whatever_the_number_of_ties():
    # Six answers, of them four copies that tie without a context: 9 of 15 pairs are pairs.
    pool = pool_of([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, None], [1, None, None]])
    caps = Caps((1, 0, 0), (3, 0, 0))
    counts: dict = {}
    for seed in range(1500):
        for pair in listed(preference_pairs(pool, caps, seed)):
            counts[pair] = counts.get(pair, 0) + 1
    assert len(counts) == 9
    assert all(abs(count - 500) < 100 for count in counts.values())  # 5 standard deviations: 91


def test_drawing_from_very_many_pairs_makes_none_of_the_others():
    h = 30_000  # 10**8 pairs of each stage and more
    kinds = np.arange(h) % 3
    codes = np.arange(h, dtype=np.int64)[:, None] % 7 + np.zeros((h, 2), np.int64)
    pool = Pool(kinds > 0, kinds == 2, codes, np.arange(h)[:, None] % 11 > np.array([3, 5]))
    pairs = preference_pairs(pool, Caps((1, 1, 0), (1000, 100, 0)), seed=1)
    assert np.bincount(pairs.stage).tolist() == [1100, 1100, 1100]
    assert pairs.counts_before_cap[0, Stage.PARSING] == 10_000 * 20_000
    assert pairs.chosen.nbytes < 20_000


@pytest.mark.parametrize("caps", [{"contexts": (1, 2)}, {"pairs": (-1, 1, 1)}])
def test_a_cap_that_is_none_is_refused(caps):
    with pytest.raises(UsageError, match="three numbers of at least 0"):
        Caps(**caps)


@pytest.mark.parametrize(
    "caps",
    [{"contexts": (0, 0, 0)}, {"pairs": (0, 0, 0)}, {"contexts": (1, 0, 0), "pairs": (0, 9, 9)}],
)
def test_caps_that_leave_no_pair_are_refused(caps):
    with pytest.raises(UsageError, match="they leave no pair"):
        Caps(**caps)


def test_a_pool_that_contradicts_itself_is_refused():
    one, none = np.ones(2, bool), np.zeros(2, bool)
    codes = np.zeros((2, 3), np.int64)
    with pytest.raises(ValueError, match="consistent that is not parsed"):
        Pool(none, one, codes, codes == 0)
    with pytest.raises(ValueError, match="of 2 answers"):
        Pool(one, one, codes[:1], codes[:1] == 0)
    with pytest.raises(ValueError, match=r"within \[0, 4\]"):
        Pool(one, one, codes, codes == 0, cost=np.array([1, 5]), elements=4)
    with pytest.raises(ValueError, match="integers"):
        Pool(one, one, codes, codes == 0, cost=np.array([0.5, 1.0]), elements=4)


def test_stages_are_named_as_the_curriculum_names_them():
    assert STAGES == ("parsing", "consistency", "gear")
