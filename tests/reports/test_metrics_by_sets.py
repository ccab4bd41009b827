"""Every GEAR metric of a problem against the definitions written with Python sets over raw
outputs, on random cases: undefined, exceptions, duplicates, unhashable outputs, floats (nan, inf,
-0.0), booleans beside integers, nested lists, huge outputs.

Here outputs become codes by the coder of the sandbox and go the way of stored sessions; the
reference sees the raw outputs alone and shares no code with it. Not covered: the sandbox itself
(tests/sandbox).

Internals: scores of one problem are computed from predictions that no sandbox returned.
"""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import (
    Agreement,
    Hypothesis,
    JudgedAnswer,
    JudgedHypothesis,
    Observation,
    Predictions,
    Problem,
    StepRecord,
    Verdict,
)
from peirce.reports.papers.gear import metrics
from peirce.sandbox import Unrepresentable, code_of, equal
from peirce.tests.counts import drawn
from peirce.tools import Coverage, beta_bounds, scatter_point


class Raised:
    """In the place of an output: the call raised."""


# --- what hypotheses return ----------------------------------------------------

NUMBERS = st.sampled_from(
    [
        0,
        1,
        2,
        -1,
        True,
        False,
        0.0,
        -0.0,
        1.0,
        0.5,
        2.5,
        math.nan,
        math.inf,
        -math.inf,
        2**70,
        1e300,
    ]
)
PLAIN = NUMBERS | st.sampled_from(["", "1", "on", "off", None])
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["a", "b", 1, True, 1.5]), inner, max_size=2)
    ),
    max_leaves=5,
)


def circular():
    loop = [1]
    loop.append(loop)
    return loop


def deep():
    value = 1
    for _ in range(150):
        value = [value]
    return value


ODD = st.sampled_from(
    [Raised, {1, 2}, frozenset([1]), b"1", 1j, object(), [{1}], circular(), deep(), len]
)
HUGE = st.sampled_from([[7] * 30_000, "x" * 200_000, [[1] * 200] * 200, 1 << 900_000])
OUTPUTS = st.one_of(PLAIN, NESTED, ODD, st.sampled_from([1, True, 1.0]), HUGE)


@st.composite
def hypotheses(draw):
    """How many inputs are shown, hidden, in S; rows of outputs on all of these, None in the place
    of a malformed answer; what is expected on the first two. Rows are often alike in part."""
    shown, hidden, n = draw(st.integers(1, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 5))
    width = shown + hidden + n
    values = draw(st.lists(OUTPUTS, min_size=3, max_size=3))
    pool = [*values, *draw(st.lists(PLAIN, min_size=2, max_size=2))]
    expected = draw(st.lists(st.sampled_from(pool[2:]), min_size=width - n, max_size=width - n))
    rows = []
    for kind in draw(
        st.lists(st.sampled_from(["malformed", "new", "new", "near", "near", "again"]), max_size=6)
    ):
        earlier = [row for row in rows if row is not None]
        row = draw(st.lists(st.sampled_from(pool), min_size=width, max_size=width))
        if kind == "malformed":
            row = None
        elif kind == "again" and earlier:
            row = list(earlier[0])
        elif kind == "near":  # what is expected, and now and then what an earlier one says
            row[: len(expected)] = expected
            for i in range(len(expected), width):
                if earlier and draw(st.booleans()):
                    row[i] = earlier[-1][i]
        rows.append(row)
    return shown, hidden, n, rows, expected


# --- the reference -------------------------------------------------------------


def form(value, depth=0):
    """A hashable image of what counts as one prediction; raises ValueError where there is none."""
    if value is Raised or depth > 100:
        raise ValueError
    if value is None:
        return "none"
    if type(value) in (bool, int, float):
        if type(value) is float and math.isnan(value):
            return "nan"
        if type(value) is float and math.isinf(value):
            return ("infinite", value > 0)
        if type(value) is int and value.bit_length() > 800_000:
            raise ValueError
        return ("number", Fraction(value))
    if type(value) is str:
        if len(value) > 100_000:
            raise ValueError
        return ("text", value)
    if type(value) in (list, tuple):
        if len(value) > 20_000 or sum(len(v) for v in value if type(v) is list) > 20_000:
            raise ValueError
        return ("list", *(form(v, depth + 1) for v in value))
    if type(value) is dict:
        return ("dict", frozenset((form(k), form(v, depth + 1)) for k, v in value.items()))
    raise ValueError


def prediction_set(outputs):
    found = set()
    for i, value in enumerate(outputs):
        with contextlib.suppress(ValueError):
            found.add((i, form(value)))
    return found


def same(value, expected):
    try:
        return form(value) == form(expected)
    except ValueError:
        return False


def reference(shown, hidden, n, rows, expected):
    parsed = [row for row in rows if row is not None]
    right = [[same(v, e) for v, e in zip(row, expected, strict=False)] for row in parsed]
    consistent = [row for row, marks in zip(parsed, right, strict=True) if all(marks[:shown])]
    sets = [prediction_set(row[shown + hidden :]) for row in consistent]
    pairs = list(combinations(sets, 2))
    far = [1 - Fraction(len(a & b), len(a | b)) if a | b else Fraction(0) for a, b in pairs]
    beta = sum(far) / len(far) if far else Fraction(0)
    known = bool(sets) and n > 0
    gamma = Fraction(len(set().union(*sets)), n) if known else None
    in_order = iter(right)
    all_right = [None if row is None else next(in_order) for row in rows]

    def rate(part, count):
        if not count:
            return None
        shares = [Fraction(sum(m[part]), count) if m else Fraction(0) for m in all_right]
        return sum(shares) / len(shares) if shares else Fraction(0)

    def top(k):
        return any(m is not None and all(m[shown:]) for m in all_right[:k]) if hidden else None

    return {
        "consistency": Fraction(len(consistent), len(rows)) if rows else 0,
        "consistency_of_parsed": Fraction(len(consistent), len(parsed)) if parsed else 0,
        "instruction_following": Fraction(len(parsed), len(rows)) if rows else None,
        "generalizability": Fraction(sum(map(len, sets)), len(sets) * n) if known else None,
        "beta": beta,
        "gamma": gamma,
        "beta_of_two": beta if len(sets) > 1 else None,
        "gamma_of_two": gamma if len(sets) > 1 else None,
        "hypotheses": len(rows),
        "consistent_hypotheses": len(consistent),
        "malformed": len(rows) - len(parsed),
        "inconsistent": len(parsed) - len(consistent),
        "train_pass": rate(slice(0, shown), shown),
        "test_pass": rate(slice(shown, None), hidden),
        **{f"top{k}": top(k) for k in (1, 2, 3)},
        "without_hidden": not hidden,
    }


# --- the way of a stored session -----------------------------------------------


def predictions(outputs):
    codes = np.zeros(len(outputs), np.int64)
    reasons = np.zeros(len(outputs), np.uint8)
    for i, value in enumerate(outputs):
        try:
            if value is Raised:
                reasons[i] = 1
            else:
                codes[i] = code_of(value)
        except Unrepresentable:
            reasons[i] = 2
    return Predictions(codes, reasons, ("ValueError", "unrepresentable"))


def agreement(outputs, expected):
    marks = tuple(v is not Raised and equal(v, e) for v, e in zip(outputs, expected, strict=True))
    return Agreement(marks, ({},) * len(marks))


def session(shown, hidden, n, rows, expected):
    pairs = [Observation([i], None) for i in range(shown + hidden)]
    problem = Problem("p", "examples", "programs", tuple(pairs[:shown]), tuple(pairs[shown:]))
    steps = []
    for i, row in enumerate(rows, 1):
        if row is None:
            one = JudgedHypothesis(Verdict.MALFORMED, "no_code", bad=True)
        else:
            on_shown = agreement(row[:shown], expected[:shown])
            verdict = Verdict.ACCEPTED if all(on_shown.marks) else Verdict.INCONSISTENT
            on_hidden = agreement(row[shown : shown + hidden], expected[shown:])
            over = predictions(row[shown + hidden :])
            one = JudgedHypothesis(verdict, "", Hypothesis("f"), 0.0, on_shown, on_hidden, over)
        steps.append(StepRecord("p", i, (JudgedAnswer(f"step/{i}", "", (one,)),)))
    return problem, steps


@pytest.mark.counted
@settings(max_examples=drawn(100, soak=400))
@given(hypotheses())
def test_every_metric_equals_the_definition_in_sets(case):
    found = metrics.problem_metrics(*session(*case))
    for name, expected in reference(*case).items():
        if expected is None:
            assert found[name] is None, name
        else:
            assert found[name] is not None, name
            assert abs(found[name] - float(expected)) <= 1e-12, name


@pytest.mark.counted
@settings(max_examples=drawn(60, soak=200))
@given(hypotheses())
def test_coverage_equals_the_definition_in_sets(case):
    shown, hidden, n, rows, _ = case
    over = [row[shown + hidden :] for row in rows if row is not None]
    covered = Coverage(n)
    union = set()
    for outputs in over:
        own = prediction_set(outputs)
        expected = len(own & union) / n if n else 0.0
        assert covered.share(predictions(outputs)) == expected
        covered.add(predictions(outputs))
        union |= own


@pytest.mark.counted
@settings(max_examples=drawn(60, soak=200))
@given(hypotheses())
def test_points_of_the_scatter_equal_the_sets_and_lie_within_the_bounds(case):
    shown, hidden, n, rows, _ = case
    over = [row[shown + hidden :] for row in rows if row is not None]
    made = [predictions(outputs) for outputs in over]
    point = scatter_point(
        np.array([p.codes for p in made]).reshape(len(made), n),
        np.array([p.defined for p in made]).reshape(len(made), n),
    )
    if len(over) < 2 or not n:
        assert point is None
        return
    sets = []
    for outputs in over:
        own = prediction_set(outputs)
        sets.append(own | {(i, "undefined") for i in set(range(n)) - {i for i, _ in own}})
    far = [1 - len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    gamma, beta, k = point
    assert k == len(over)
    assert abs(gamma - len(set().union(*sets)) / n) <= 1e-12
    assert abs(beta - sum(far) / len(far)) <= 1e-12
    low, high = beta_bounds(gamma, k)
    assert low - 1e-9 <= beta <= high + 1e-9
