"""Where hypotheses part: against the definitions, computed one prediction at a time.

Internals: the parting of hypotheses is compared with its definition on random matrices.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from peirce.records import InputSet, Predictions
from peirce.reports.page.problem import (
    MAX_COMPARED,
    MAX_HYPOTHESES,
    MAX_INPUTS,
    KnownValues,
    find_disagreements,
)


def predictions(row):
    """None where undefined."""
    codes = np.array([0 if one is None else one for one in row], np.int64)
    reasons = np.array([one is None for one in row], np.uint8)
    return Predictions(codes, reasons, ("ValueError",))


def parted(rows, values=None):
    space = InputSet("s", tuple(f"input {n}" for n in range(len(rows[0]))))
    numbers = [10 * (n + 1) for n in range(len(rows))]
    return find_disagreements(
        numbers, [predictions(row) for row in rows], space, values or KnownValues({})
    )


# Few values, so that equal and undefined predictions are frequent; 0 is a value and fills undefined ones.
TABLES = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([None, 0, 1, 2]), min_size=n, max_size=n), min_size=2, max_size=7
    )
)


@given(TABLES)
def test_groups_of_an_input_hold_who_predicts_the_same_there(rows):
    for one in parted(rows)["inputs"]:
        place = one["place"]
        assert one["input"] == f"input {place}"
        groups = {}
        for number, row in enumerate(rows, 1):
            groups.setdefault(row[place], []).append(10 * number)
        undefined = groups.pop(None, [])
        assert one["undefined"] == undefined
        assert sorted(group["hypotheses"] for group in one["groups"]) == sorted(groups.values())
        sizes = [len(group["hypotheses"]) for group in one["groups"]]
        assert sizes == sorted(sizes, reverse=True)


@given(TABLES)
def test_each_input_parts_as_many_new_pairs_as_any_could(rows):
    pairs = list(combinations(range(len(rows)), 2))

    def parts(place, pair):
        return rows[pair[0]][place] != rows[pair[1]][place]

    left = set(pairs)
    told = parted(rows)["inputs"]
    for one in told[:MAX_INPUTS]:
        counts = [sum(parts(place, pair) for pair in left) for place in range(len(rows[0]))]
        assert counts[one["place"]] == max(counts) > 0
        assert one["place"] == counts.index(max(counts))
        left = {pair for pair in left if not parts(one["place"], pair)}
    assert len(told) >= MAX_INPUTS or not any(
        parts(place, pair) for place in range(len(rows[0])) for pair in left
    )


@given(TABLES)
def test_every_two_of_the_best_have_an_input_where_they_differ_if_there_is_one(rows):
    places = [one["place"] for one in parted(rows)["inputs"]]
    for first, second in combinations(rows[:MAX_COMPARED], 2):
        assert first == second or any(first[place] != second[place] for place in places)


def test_more_inputs_are_chosen_only_for_the_best():
    """On input n hypothesis n alone differs, so that each input sets apart one hypothesis."""
    rows = [[int(place == row) for place in range(12)] for row in range(12)]
    assert MAX_INPUTS == MAX_COMPARED == 6
    places = [one["place"] for one in parted(rows)["inputs"]]
    assert places == [0, 1, 2, 3, 4, 5]
    turned = rows[6:] + rows[:6]  # the first six differ on the last six inputs
    places = [one["place"] for one in parted(turned)["inputs"]]
    assert places == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]


@given(TABLES)
def test_alone_is_the_share_of_inputs_where_nobody_else_predicts_the_same(rows):
    alone = parted(rows)["alone"]
    for number, row in enumerate(rows):
        others = rows[:number] + rows[number + 1 :]
        here = [
            one is not None and all(other[place] != one for other in others)
            for place, one in enumerate(row)
        ]
        assert alone[str(10 * (number + 1))] == round(sum(here) / len(here), 4)


@given(TABLES)
def test_the_same_are_those_that_predict_alike_everywhere(rows):
    groups = {}
    for number, row in enumerate(rows, 1):
        groups.setdefault(tuple(row), []).append(10 * number)
    assert parted(rows)["same"] == [group for group in groups.values() if len(group) > 1]


def test_a_value_is_shown_where_it_was_seen_elsewhere():
    values = KnownValues.from_values([[1, 2], "on", object()])
    known = dict((repr(value), code) for code, value in values.by_code.items())
    assert len(known) == 2  # what is no value of the equality rule has no code
    (one,) = parted([[known["'on'"]], [5]], values)["inputs"]
    assert one["groups"] == [{"hypotheses": [10], "value": "on"}, {"hypotheses": [20]}]


def test_one_hypothesis_parts_from_none_and_too_many_are_left_out():
    assert parted([[1, 2]]) == {"left_out": 0, "inputs": [], "alone": {}, "same": []}
    many = parted([[n] for n in range(MAX_HYPOTHESES + 3)])
    assert many["left_out"] == 3 and len(many["alone"]) == MAX_HYPOTHESES
    nowhere = find_disagreements(
        [1, 2], [predictions([]), predictions([])], InputSet("s", ()), KnownValues({})
    )
    assert nowhere["inputs"] == []
