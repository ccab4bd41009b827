"""The inputs that rules are compared on: all that there may be, few by their classes.

Internals: classes of inputs and slots of texts are counted before any rule is compared.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from peirce.records import Observation, Problem
from peirce.tools.discovery import InputSpace
from peirce.tools.discovery import input_space as spaces
from peirce.tools.discovery.input_space import find_slots
from peirce.tools.discovery.overlap import claim_overlap, overlap
from peirce.tools.sentence_rules import PreparedRows

sys.path.insert(0, str(Path(__file__).parent))
from made import rule, students, texts

COLOURS = ("red", "blue", "green")
PEOPLE = [
    f"a {size} {who} with {hat} hat and a {bag} bag"
    for size, who, hat, bag in product(("tall", "short"), ("man", "woman"), COLOURS, COLOURS)
]


def test_classes_give_the_overlap_of_the_whole_product() -> None:
    problem = students()
    one = rule("If math is one of A, B and papers is at least 3, the label is admitted.", problem)
    other = rule("If papers is more than 1 and english is not F, the label is admitted.", problem)
    space = InputSpace(problem)
    cells = space.inputs_for((one, other))
    assert len(cells) == 2 * 3 * 2  # grades told apart, papers below 2, of 2, from 3, …
    assert cells.weights.sum() == pytest.approx(1)
    rows = PreparedRows([row.input for row in problem.hidden], problem.public)
    even = np.full(len(rows), 1 / len(rows))
    plain = claim_overlap(one.codes(rows), other.codes(rows), even, 2)
    found = claim_overlap(cells.codes(one), cells.codes(other), cells.weights, 2)
    assert found == pytest.approx(plain)


def test_a_product_that_is_too_large_is_drawn_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "MAX_INPUTS", 8)
    problem = students()
    one = rule(
        "If math is A and english is A and papers is 3 and donated is true, admitted.", problem
    )
    space = InputSpace(problem)
    assert len(space.inputs_for((one,))) == 8 and space.drawn


def test_rules_that_no_drawn_input_tells_apart_are_not_called_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = students()
    narrow = "If math is {} and english is {} and papers is {} and donated is true, admitted."
    one, other = (rule(narrow.format(*some), problem) for some in (("A", "B", 3), ("C", "D", 1)))
    near = rule("If math is A and english is B and papers is at least 3, admitted.", problem)
    assert overlap(one, other, InputSpace(problem)) == 0
    monkeypatch.setattr(spaces, "MAX_INPUTS", 8)
    space = InputSpace(problem)
    assert overlap(one, other, space) == 0 and space.drawn
    assert overlap(one, near, space) < 1 and overlap(one, one, space) == 1
    wide = rule("If math is one of A, B, C, admitted.", problem)
    rare = rule(f"If math is one of A, B, C, admitted; {narrow.format('D', 'B', 3)[0].lower()}"
                f"{narrow.format('D', 'B', 3)[1:]}", problem)  # fmt: skip
    assert 0.99 < overlap(wide, rare, space) < 1


def test_columns_that_are_compared_with_each_other_are_taken_together() -> None:
    columns = {"a": {"kind": "number"}, "b": {"kind": "number"}, "c": {"kind": "truth"}}
    public = {"labels": ["x", "y"], "columns": columns, "shape": "fields"}
    rows = tuple(Observation({"a": a, "b": 3 - a, "c": True}, "x") for a in range(4))
    problem = Problem("n#0", "labels", "text", rows, (), public, {"splits": {}}, "n")
    space = InputSpace(problem)
    more, fewer = (rule(f"If a is {w} than b, the label is x.", problem) for w in ("more", "less"))
    both = rule("If a is more than b and c is true, the label is x.", problem)
    assert len(space.inputs_for((more,))) == 16
    assert overlap(more, fewer, space) == 0 < overlap(more, both, space) < 1
    assert space.variables(both) == {"a", "b", "c"}


def test_whole_numbers_between_those_of_the_rows_count_too() -> None:
    public = {"labels": ["a", "b"], "columns": {"n": {"kind": "number"}}, "shape": "fields"}
    rows = tuple(Observation({"n": n}, "a") for n in (1, 5, 9))
    problem = Problem("n#0", "labels", "text", rows, (), public, {"splits": {}}, "n")
    assert InputSpace(problem).domain("n") == tuple(range(1, 10))
    halves = tuple(Observation({"n": n}, "a") for n in (1, 2.5, 9))
    problem = Problem("n#0", "labels", "text", halves, (), public, {"splits": {}}, "n")
    assert InputSpace(problem).domain("n") == (1.0, 2.5, 9.0)
    far = (
        Observation({"n": 1}, "a"),
        Observation({"n": 10**12}, "a"),
        Observation({"n": None}, "a"),
    )
    problem = Problem("n#0", "labels", "text", far, (), public, {"splits": {}}, "n")
    assert InputSpace(problem).domain("n") == (1.0, 1e12, None)


def test_choices_that_are_told_and_those_of_the_rows_are_all_there_may_be() -> None:
    columns = {"math": {"kind": "choice", "values": ["A", "B", "C"]}}
    public = {"labels": ["a", "b"], "columns": columns, "shape": "fields"}
    rows = tuple(Observation({"math": one}, "a") for one in ("B", "E"))
    problem = Problem("n#0", "labels", "text", rows[:1], rows[1:], public, {"splits": {}}, "n")
    assert InputSpace(problem).domain("math") == ("A", "B", "C", "E")


def test_texts_that_were_made_by_filling_places_are_all_fillings() -> None:
    some = PEOPLE[::2] + PEOPLE[1:9:2]
    space = InputSpace(texts(some, ["red", "blue"]))
    assert sorted(space.domain("appearance")) == sorted(PEOPLE)
    lines = [f"colour: {c}\nshape of it: {s}" for c in COLOURS for s in ("round", "long and flat")]
    found = find_slots(lines[1:])
    assert found is not None and sorted(found.texts) == sorted(lines)


@pytest.mark.parametrize(
    "some",
    [["one word", "and three words"], ["his hat", "her bag", "its shoe"], ["the same", "the same"]],
)
def test_other_texts_have_no_places(some: list[str]) -> None:
    assert find_slots(some) is None


def test_a_text_s_variable_is_the_place_that_a_condition_depends_on() -> None:
    problem = texts(PEOPLE, ["red", "blue"])
    space = InputSpace(problem)
    hat, other_hat, bag, any_red, man = (
        space.variables(rule(f'If the text mentions "{what}", the label is red.', problem))
        for what in ("red hat", "blue hat", "red bag", "red", "man")
    )
    assert hat == other_hat and len(hat) == 1 and not hat & bag and not hat & man
    assert any_red == hat | bag


def test_hat_and_bag_of_one_colour_do_not_overlap() -> None:
    problem = texts(PEOPLE, ["red", "blue", "green"])
    space = InputSpace(problem)
    hat, bag, there = (
        rule(f'If the text mentions "{what}", the label is red.', problem)
        for what in ("red hat", "red bag", "hat")
    )
    assert overlap(hat, bag, space) == 0
    assert overlap(hat, there, space) == 0  # of every text: chance alone
