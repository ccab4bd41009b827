"""Which pairs are shown: N drawn from the pool by a seed, or GEAR's own observations from a file;
the pool less the shown ones is hidden.

Internals: pairs are drawn from pools that the test makes itself.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from peirce.records import DataError, Observation, Problem, UsageError
from peirce.tasks import DataWarning, load_problems
from peirce.tasks.io.observations import choose_observations
from peirce.tasks.programs.list_functions import TASK


def _problem(name: str, shown: int = 3, hidden: int = 3) -> Problem:
    pairs = [Observation([i], [i, len(name)]) for i in range(shown + hidden)]
    return Problem(name, "t", "programs", tuple(pairs[:shown]), tuple(pairs[shown:]))


def _pool(problem: Problem) -> Counter[str]:
    return Counter(repr(pair) for pair in problem.shown + problem.hidden)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_n_pairs_are_shown_and_all_the_rest_is_hidden(n: int) -> None:
    before = [_problem("a"), _problem("bc")]
    for old, new in zip(before, choose_observations(before, str(n), 5), strict=True):
        assert len(new.shown) == n
        assert _pool(new) == _pool(old)
        assert (new.id, new.group) == (old.id, old.id)


def test_the_draw_depends_on_seed_and_id_and_not_on_the_other_problems() -> None:
    many = [_problem(name, 8, 8) for name in "abcdefgh"]
    drawn = choose_observations(many, "4", 1)
    assert choose_observations(list(reversed(many)), "4", 1) == list(reversed(drawn))
    assert choose_observations(many[3:4], "4", 1) == drawn[3:4]
    assert choose_observations(many, "4", 2) != drawn
    choices = {tuple(pair.input[0] for pair in p.shown) for p in drawn}
    assert len(choices) > 4  # not one choice for all
    assert any(len({p.input[0] for p in q.shown} & {8, 9, 10, 11, 12, 13, 14, 15}) for q in drawn)


def test_too_few_pairs_leave_a_problem_out_with_a_warning() -> None:
    with pytest.warns(DataWarning, match="1 of 2 problems have fewer than 4 pairs"):
        (kept,) = choose_observations([_problem("a", 1, 1), _problem("b")], "4", 0)
    assert kept.id == "b"
    with pytest.raises(UsageError, match="--observations 9"):
        choose_observations([_problem("a")], "9", 0)


@pytest.mark.parametrize("given", ["0", "-2", "no/such/file.json"])
def test_what_is_neither_a_number_nor_a_file_is_named(given: str) -> None:
    with pytest.raises(UsageError, match=given):
        choose_observations([_problem("a")], given, 0)


def _given(folder: Path, table: object) -> str:
    path = folder / "given.json"
    path.write_text(json.dumps(table))
    return str(path)


def test_a_file_shows_its_pairs_in_its_order_and_drops_other_problems(tmp_path: Path) -> None:
    path = _given(tmp_path, {"b": [[[4], [4, 1]], [[0], [0, 1]]]})
    (only,) = choose_observations([_problem("a"), _problem("b")], path, 0)
    assert only.id == "b"
    assert [pair.input for pair in only.shown] == [[4], [0]]
    assert [pair.input for pair in only.hidden] == [[1], [2], [3], [5]]


def test_a_pair_that_the_data_hold_twice_may_be_shown_once_and_hidden_once(tmp_path: Path) -> None:
    pair = Observation([1], [2])
    problem = Problem("a", "t", "programs", (pair, pair), (Observation([3], [3]),))
    (new,) = choose_observations([problem], _given(tmp_path, {"a": [[[1], [2]]]}), 0)
    assert new.shown == (pair,)
    assert new.hidden == (pair, Observation([3], [3]))


def test_unknown_ids_and_foreign_pairs_are_told(tmp_path: Path) -> None:
    path = _given(tmp_path, {"a": [[[99], [99]]], "zz": [[[0], [0]]]})
    with pytest.warns(DataWarning) as told:
        (new,) = choose_observations([_problem("a")], path, 0)
    said = " ".join(str(one.message) for one in told)
    assert "1 ids are not in the data: zz" in said and "not in their data: a" in said
    assert len(new.hidden) == 6
    with pytest.raises(DataError, match="none of its 1 ids is in the data, for example 'zz'"):
        choose_observations([_problem("a")], _given(tmp_path, {"zz": [[[0], [0]]]}), 0)


@pytest.mark.parametrize(
    "table", [[], {}, {"a": []}, {"a": [[1]]}, {"a": [[1, 2, 3]]}, {"a": "x"}, {"a": ["12"]}]
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, table: object) -> None:
    path = _given(tmp_path, table)
    with pytest.raises(DataError, match=r"given\.json"):
        choose_observations([_problem("a")], path, 0)


@cache
def whole_data(folder: str) -> dict[str, Problem]:
    """The problems without drawn observations, by their ids; loaded once."""
    return {p.id: p for p in TASK.load(folder, None, 0)}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_gears_own_observations_run_as_they_are(shared_data: Path, n: int) -> None:
    path = shared_data / "gear" / "io_pairs" / f"list_function_{n}.json"
    published = json.loads(path.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        problems = TASK.load(str(shared_data / "gear"), str(path), 0)
    whole = whole_data(str(shared_data / "gear"))
    assert {p.id for p in problems} == set(published)
    for p in problems:
        assert [[str(o.input), str(o.output)] for o in p.shown] == published[p.id]
        assert len(p.hidden) == 16 - n
        assert _pool(p) == _pool(whole[p.id])


def test_generated_problems_take_observations_too() -> None:
    for problem, _ in load_problems("list_functions", problems=3, observations="4", seed=2):
        assert (len(problem.shown), len(problem.hidden)) == (4, 12)
