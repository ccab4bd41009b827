"""Learnt prices of the search on pairs: which operations and constants have one, how they are counted in a program,
and what bench/learn_prices.py makes of programs that are right or wrong.

Internals: the script's functions are called on a few problems, because a full run takes minutes.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from peirce.search.examples import bank, grammar, prices
from peirce.search.examples.search import Search

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {"join", "choice", "constant", "letter", "digit", "mark", "format"}
CONSTANTS = {"sep", "index", "end", "pattern", "number"}
FREE = np.full(4, -3.0)  # no price is near its least
NAMES = [("Ada Lovelace", "A. Lovelace"), ("Alan Turing", "A. Turing"), ("Grace Hopper", "G. Hopper")]  # fmt: skip


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])


def test_each_operation_has_its_price_by_hand_and_what_was_learnt() -> None:
    for row, priced in zip(grammar.OPERATIONS, bank.OPERATIONS, strict=True):
        assert priced.name == row.name
        assert priced.price == max(
            min(0.5, row.price), row.price + prices.LEARNT.get(row.name, 0.0)
        )


def test_the_operations_and_constants_of_a_program_are_counted() -> None:
    found = {one.source(): one for one in Search(NAMES, 20_000).run()}
    program = found["x[0] + '. ' + x.split()[-1]"]
    assert prices.count_prices(program) == Counter(
        {
            "join": 2,
            "character": 1,
            "index 0": 1,
            "constant": 1,
            "mark": 2,
            "pieces_by_space": 1,
            "piece": 1,
            "index -1": 1,
        }
    )


def test_a_learnt_price_changes_the_price_of_programs_by_its_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("index 0", "index -1")
    monkeypatch.setattr(prices, "LEARNT", {**prices.LEARNT, **dict.fromkeys(names, 0.0)})
    before = {one.source(): one for one in Search(NAMES, 20_000, margin=8).run()}
    monkeypatch.setattr(prices, "LEARNT", {**prices.LEARNT, **dict.fromkeys(names, 1.0)})
    after = {one.source(): one for one in Search(NAMES, 20_000, margin=8).run()}
    shared = before.keys() & after.keys()
    assert shared
    for text in shared:
        counted = prices.count_prices(after[text])
        more = 2 * (counted["index 0"] + counted["index -1"])
        assert after[text].price == before[text].price + more, text


def test_classes_of_constants_say_what_a_constant_looks_like() -> None:
    shapes = {
        "' '": "space",
        "''": "empty",
        "'-'": "mark",
        "', '": "marks",
        "'a'": "letter",
        "'Dr.'": "word",
    }
    for text, shape in shapes.items():
        assert prices.class_of_constant("sep", text) == f"sep {shape}"
    assert prices.class_of_constant("end", "-2") == "end -2"
    assert prices.class_of_constant("end", "9") == "end far"
    assert prices.class_of_constant("number", "7") == "number small"
    assert prices.class_of_constant("number", "2.5") == "number other"


def _problem(kind: str, wrong: str, right: str):
    from learn_prices import Found

    counts = [Counter({wrong: 1, "shared": 1}), Counter({right: 1, "shared": 2})]
    return Found(kind, 3, np.array([5.0, 6.0]), counts, np.array([False, True]))


def test_the_script_ranks_right_programs_above_wrong_ones() -> None:
    from learn_prices import Table, as_half_bits, count_first, learn

    problems = [_problem(f"kind {n}", "chance", "rule") for n in range(6)]
    names = ["chance", "rule", "shared"]
    changes = learn(Table(problems, names), 1.0, FREE[:3])
    assert changes[0] > 0 > changes[1]
    assert count_first(problems, {}).total() == 0
    assert count_first(problems, as_half_bits(names, changes)).total() == 6


def test_no_small_change_is_better_than_what_was_learnt() -> None:
    from learn_prices import Table, learn

    names = ["chance", "rule", "other", "shared"]
    problems = [_problem("a", "chance", "rule"), _problem("b", "rule", "other")]
    table = Table(problems, names)
    changes = learn(table, 2.0, FREE)

    def gain(at):
        return table.log_probabilities(at).sum() - at @ at

    for place in range(len(names)):
        for step in (-0.01, 0.01):
            other = changes.copy()
            other[place] += step
            assert gain(other) < gain(changes)


def test_what_a_single_kind_teaches_changes_no_price() -> None:
    from learn_prices import learn_what_kinds_share

    names = ["chance", "only here", "rule", "shared"]
    problems = [_problem(f"kind {n}", "chance", "rule") for n in range(5)]
    changes = learn_what_kinds_share([*problems, _problem("odd", "only here", "rule")], names, 1.0)
    assert changes[0] > 0 > changes[2]
    assert changes[1] == 0


def test_no_operation_gets_less_than_the_least_price() -> None:
    from learn_prices import lowest_changes

    assert lowest_changes(["index 0", "words", "replace_text"]).tolist() == [0.0, -1.0, -3.0]


def test_a_strong_penalty_keeps_the_prices_by_hand() -> None:
    from learn_prices import Table, as_half_bits, learn

    table = Table([_problem("a", "chance", "rule")], ["chance", "rule", "shared"])
    assert as_half_bits(["chance", "rule", "shared"], learn(table, 1_000.0, FREE[:3])) == {}


def test_generated_problems_teach_the_same_prices_each_time() -> None:
    from learn_prices import PAIRS, Table, collect, learn, lowest_changes

    kinds = ("counts", "names", "tests of texts")
    first, second = (collect(kinds, range(1), 1_500) for _ in range(2))
    assert len(first) == len(kinds) * len(PAIRS)
    assert any(one.right.any() and not one.right.all() for one in first)
    names = sorted({name for one in first for counted in one.counts for name in counted})
    adjustable = {one.name for one in grammar.OPERATIONS} | OTHERS
    for name in {*names, *prices.LEARNT}:
        assert name in adjustable or name.partition(" ")[0] in CONSTANTS, name
    table = Table(first, names)
    lowest = lowest_changes(names)
    changes = learn(table, 3.0, lowest)
    assert (changes >= lowest).all()
    assert changes.tolist() == learn(Table(second, names), 3.0, lowest).tolist()
    assert table.log_probabilities(changes).mean() > table.log_probabilities(0 * changes).mean()
