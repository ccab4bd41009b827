"""Sample spaces of a user's own task: generated, listed, weighed, and in files of their own."""

from __future__ import annotations

import json
import textwrap
import warnings

import pytest
from own_files import PYTHON, SHORT, load, space_of, write
from peirce import tasks
from peirce.records import (
    DataError,
)
from peirce.tasks import DataWarning

# --- sample spaces --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generator", "inputs"),
    [
        ({"range": [1, 3]}, [1, 2, 3]),
        ({"range": [0, 1], "step": 0.5}, [0.0, 0.5, 1.0]),
        ({"range": [0.1, 0.4], "step": 0.1}, [0.1, 0.2, 0.3, 0.4]),
        ({"range": [-2, 3], "step": 2}, [-2, 0, 2]),
        ({"choices": ["a", 1, None]}, ["a", 1, None]),
        ({"text": "ab", "length": [0, 2]}, ["", "a", "b", "aa", "ab", "ba", "bb"]),
        ({"list": {"range": [0, 1]}, "length": 2}, [[0, 0], [0, 1], [1, 0], [1, 1]]),
        ({"product": [{"range": [1, 2]}, {"choices": ["x"]}]}, [[1, "x"], [2, "x"]]),
        ({"fields": {"a": {"range": [1, 2]}}}, [{"a": 1}, {"a": 2}]),
        ({"any": [{"range": [1, 2]}, {"choices": [2, "b"]}]}, [1, 2, "b"]),
    ],
)
def test_a_small_space_holds_all_values_in_order(tmp_path, generator, inputs):
    found = list(space_of(tmp_path, {"generate": generator}).inputs)
    assert found == inputs and [type(one) for one in found] == [type(one) for one in inputs]


def test_one_seed_gives_one_space_on_any_machine(tmp_path):
    declared = {
        "generate": {
            "fields": {
                "row": {"list": {"range": [0, 99]}, "length": [0, 9]},
                "name": {"text": "xyz", "length": [1, 5]},
                "at": {"any": [{"range": [0, 50], "step": 0.25}, {"choices": [None]}]},
            }
        },
        "count": 300,
        "weights": "sqrt(len(x['row'])) / 3 + (1 if x['at'] == 2 or 'x' in x['name'] else 0.1)",
    }
    space = space_of(tmp_path, declared)
    assert len({json.dumps(one) for one in space.inputs}) == len(space) == 300
    assert space.digest == "c9cd68966765b8beafa7cbd12c7f4363fe38726c5e51fcb1ec099146d357b61c"
    assert space_of(tmp_path, {**declared, "seed": 1}).digest != space.digest


def test_weights_may_be_listed_or_stand_in_the_space_s_file(tmp_path):
    listed = space_of(tmp_path, {"inputs": [1, 2], "weights": [0, 1.5]})
    assert listed.weights == (0.0, 1.5)
    (tmp_path / "s.jsonl").write_text('{"input": 1, "weight": 0}\n{"input": 2, "weight": 1.5}\n')
    assert space_of(tmp_path, {"file": "s.jsonl"}).digest == listed.digest


def test_a_space_with_few_distinct_values_says_so(tmp_path):
    alike = {"any": [{"choices": [1]}] * 3}
    with pytest.warns(DataWarning, match="1 inputs, because 40 draws gave no other ones"):
        assert space_of(tmp_path, {"generate": alike, "count": 2}).inputs == (1,)


def test_an_input_that_stands_twice_counts_once(tmp_path):
    declared = {"inputs": [1, [True, 2], 1.0, 3, True, [1, 2.0]], "weights": [2, 1, 2, 1, 2, 1]}
    with pytest.warns(DataWarning, match=r"t\.yaml: 3 inputs of the sample space equal one before"):
        space = space_of(tmp_path, declared)
    assert (space.inputs, space.weights) == ((1, [True, 2], 3), (2.0, 1.0, 1.0))
    assert type(space.inputs[0]) is int
    (tmp_path / "s.jsonl").write_text("1\n2\n1.0\n")
    with pytest.warns(DataWarning, match="1 inputs .* equal one before them"):
        space = space_of(tmp_path, {"file": "s.jsonl", "weights": [3, 4, 3]})
    assert (space.inputs, space.weights) == ((1, 2), (3.0, 4.0))
    text = textwrap.dedent(PYTHON).replace("[2, 3]), (1, 2.5)", "[2, 3], (1.0,)), (1, 2.5, 1)")
    with pytest.warns(DataWarning, match="own.py, line 15, TASK.space: 1 inputs"):
        ((_, space),) = load(tmp_path, text, "own.py", problems=1)
    assert (space.inputs, space.weights) == (([1], [2, 3]), (1.0, 2.5))
    with pytest.warns(DataWarning, match="own.py, line 15, TASK.space: 1 inputs"):
        ((_, space),) = load(tmp_path, text.replace(", (1, 2.5, 1)", ""), "own.py", problems=1)
    assert (space.inputs, space.weights) == (([1], [2, 3]), None)


def test_what_a_generator_makes_and_what_pairs_hold_counts_once_too(tmp_path):
    numbers = {"any": [{"range": [0, 2]}, {"range": [0, 1], "step": 0.5}, {"choices": [True]}]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left out of what is generated
        assert space_of(tmp_path, {"generate": numbers}).inputs == (0, 1, 2, 0.5)
    many = {"any": [{"range": [0, 99]}, {"range": [0, 99], "step": 0.5}]}
    drawn = space_of(tmp_path, {"generate": many, "count": 120}).inputs
    assert len(set(drawn)) == len(drawn) == 120
    ((_, space),) = load(tmp_path, SHORT.replace("[3, 4]", "[1.0, 2], [true, 2], [a, 5]"))
    assert space.inputs[:2] == (1, "a") and len(set(space.inputs)) == len(space.inputs)


def test_the_end_of_its_name_may_be_written_large(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("T.YAML", SHORT), ("t.Yml", SHORT), ("OWN.PY", PYTHON)):
        write(tmp_path, text, name)
        assert tasks.load_problems(name, problems=1)


def test_a_bad_space_file_is_named_where_it_is_asked_for(tmp_path):
    (tmp_path / "s.jsonl").write_text("{\n1\n")
    with pytest.raises(DataError) as error:
        load(tmp_path, SHORT + "sample_space:\n  file: s.jsonl\n")
    said = str(error.value).replace(f"{tmp_path}/", "")
    assert said.startswith("t.yaml, line 5, sample_space.file: s.jsonl, line 1: not JSON")
