"""Generated problems: the rule in the secret part explains every pair, one seed gives the same
problems, and what is trivial, degenerate or double does not get through.

Internals: the generator is called with counts and seeds that `load_problems` does not take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from peirce.records import Problem, UsageError
from peirce.tasks.programs.list_functions import generate

MADE = generate(150, 3)


def _rule(problem: Problem) -> Callable[[list[int]], list[int]]:
    names: dict[str, Callable[[list[int]], list[int]]] = {}
    exec(problem.secret["rule"], names)
    return names["f"]


def test_the_true_rule_gives_every_output() -> None:
    for problem in MADE:
        rule = _rule(problem)
        for pair in problem.shown + problem.hidden:
            assert rule(list(pair.input)) == pair.output, problem.secret["rule"]


def test_problem_k_of_a_seed_is_the_same_however_many_are_made() -> None:
    assert generate(10, 3) == MADE[:10]
    assert [p.shown for p in generate(10, 4)] != [p.shown for p in MADE[:10]]


def test_each_problem_has_8_shown_and_8_hidden_pairs_all_different() -> None:
    for problem in MADE:
        assert (len(problem.shown), len(problem.hidden)) == (8, 8)
        assert len({tuple(p.input) for p in problem.shown + problem.hidden}) == 16


def test_no_rule_is_trivial_or_degenerate() -> None:
    for problem in MADE:
        pairs = problem.shown + problem.hidden
        assert sum(pair.input == pair.output for pair in pairs) <= 6
        assert len({tuple(pair.output) for pair in problem.shown}) >= 4
        assert all(len(p.output) <= 25 and all(0 <= v <= 999 for v in p.output) for p in pairs)


def test_no_two_rules_of_a_seed_behave_alike() -> None:
    inputs = [pair.input for problem in MADE[:40] for pair in problem.shown]

    def outputs(problem: Problem) -> str:
        rule, got = _rule(problem), []
        for row in inputs:
            try:
                got.append(rule(list(row)))
            except (IndexError, ValueError, ZeroDivisionError):
                got.append(None)
        return repr(got)

    assert len({outputs(problem) for problem in MADE}) == len(MADE)


def test_problems_vary_in_size_inputs_and_kind() -> None:
    steps = Counter(problem.secret["steps"] for problem in MADE)
    assert min(steps[1], steps[2], steps[3]) > len(MADE) // 10
    lengths = {len(pair.input) for problem in MADE for pair in problem.shown}
    assert set(range(11)) <= lengths
    small = sum(max(max(p.input, default=0) for p in q.shown) <= 10 for q in MADE)
    assert len(MADE) // 5 < small < 4 * len(MADE) // 5
    singles = sum(all(len(p.output) == 1 for p in q.shown) for q in MADE)
    assert 0.05 < singles / len(MADE) < 0.5


def test_no_problems_are_refused() -> None:
    with pytest.raises(UsageError, match="0 problems"):
        generate(0, 0)
