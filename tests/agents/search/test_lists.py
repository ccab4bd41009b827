"""What the search computes and what its written Python computes are the same, on random lists with
the edge cases among them: operations of the bank, integers that may not be there, element terms and
predicates, tests of conditionals. And no written program can fill the memory."""

from __future__ import annotations

import ast
import random

import pytest
from peirce.agents.search.budget import Budget
from peirce.agents.search.lists import conditionals as list_conditionals
from peirce.agents.search.lists import integers as list_integers
from peirce.agents.search.lists.bank import start
from peirce.agents.search.lists.elements import Elements
from peirce.agents.search.lists.engine import Candidate, Problem
from peirce.agents.search.lists.grammar import OPERATIONS, Node, X, constant, modest, node
from peirce.agents.search.lists.search import Search
from peirce.agents.search.lists.source import TooLong, sentence, source

FAILS = (ArithmeticError, LookupError, TypeError, ValueError, MemoryError)


def some_lists(seed: int, count: int = 7) -> tuple[tuple[int, ...], ...]:
    pick = random.Random(seed)
    lists = [[pick.randrange(12) for _ in range(pick.randint(1, 8))] for _ in range(count)]
    return tuple(map(tuple, [*lists, [], [5], [3, 3]]))


def function(program: Node, kind: str = "list"):
    names: dict = {}
    exec(compile(source(program, kind), "<test>", "exec"), names)
    return names["f"]


def sample(items, count: int, seed: int) -> list:
    items = list(items)
    return items if len(items) <= count else random.Random(seed).sample(items, count)


@pytest.fixture(scope="module", params=[1, 2])
def searched(request: pytest.FixtureRequest) -> Search:
    inputs = some_lists(request.param)
    goal = tuple(tuple(v + 1 for v in x if v > 4) for x in inputs)
    search = Search(inputs, goal, "list", 25_000)
    search.run()
    return search


def test_bank_values_are_what_the_written_programs_return(searched: Search) -> None:
    written = 0
    for values, program in sample(searched.bank.entries.items(), 600, 3):
        try:
            made = function(program)
        except TooLong:
            continue
        written += 1
        for given, out in zip(searched.inputs, values, strict=True):
            assert made(list(given)) == list(out), (source(program), given)
    assert written > 400


def test_every_list_operation_has_text_that_runs_as_the_engine_does() -> None:
    inputs = some_lists(4)
    bank = start(inputs, inputs)
    number = ((2,) * len(inputs), constant(2))
    lists = ([list(v) for v in inputs], X)
    for name, operation in OPERATIONS.items():
        if operation.kind != "list":
            continue
        operands = [lists if takes == "L" else number for takes in operation.takes]
        values = bank.evaluate(name, *operands)
        if values is None:
            continue
        made = function(node(name, *(program for _, program in operands)))
        assert [made(list(v)) for v in inputs] == [list(v) for v in values], name


def test_integers_are_there_exactly_where_the_engine_says(searched: Search) -> None:
    for values, program in sample(searched.bank.ints.items(), 600, 5):
        try:
            made = function(Node("single", (program,), 0.0))
        except TooLong:
            continue
        for given, out in zip(searched.inputs, values, strict=True):
            wanted = [] if out is None else [out]
            assert made(list(given)) == wanted, (source(Node("single", (program,), 0.0)), given)


@pytest.mark.parametrize("base", ["x", "tail", "sort", "unique"])
def test_terms_and_predicates_are_what_their_text_says(base: str) -> None:
    inputs = some_lists(6)
    bank = start(inputs, inputs)
    lists, program = (inputs, X)
    if base != "x":
        program = node(base, X)
        values = bank.evaluate(base, ([list(v) for v in inputs], X))
        assert values is not None
        lists = values
    elements = Elements(program, lists, inputs, Budget(10**9))
    terms, masks = elements.terms(elements.flat), elements.masks()
    for op, table in (("map", terms), ("filter", masks)):
        for k in sample(range(len(table)), 250, 8):
            for recipe in table.alike(k)[:2]:
                made = function(Node(op, (program, recipe), 0.0))
                for j, given in enumerate(inputs):
                    row = table.rows[k, elements.starts[j] : elements.starts[j + 1]]
                    values_here = lists[j]
                    wanted = (
                        row.tolist()
                        if op == "map"
                        else [v for v, keep in zip(values_here, row, strict=True) if keep]
                    )
                    assert made(list(given)) == wanted, (
                        source(Node(op, (program, recipe), 0.0)),
                        given,
                    )


def test_tests_of_conditionals_hold_where_the_engine_says() -> None:
    inputs = some_lists(9)
    bank = start(inputs, inputs)
    list_integers.counts(bank, Elements(X, inputs, inputs, Budget(10**9)))
    for mask, tests in list_conditionals.guards(bank).items():
        for test in tests[:2]:
            made = function(test, "bool")
            for k, given in enumerate(inputs):
                assert bool(made(list(given))) == bool(mask >> k & 1), (source(test, "bool"), given)


def test_written_programs_keep_the_contract(searched: Search) -> None:
    for _, program in sample(searched.bank.entries.items(), 300, 11):
        try:
            text = source(program)
        except TooLong:
            continue
        tree = ast.parse(text)
        assert len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef)
        assert all(len(line) < 80 for line in text.splitlines()), text
        assert not any(isinstance(n, ast.Import | ast.ImportFrom) for n in ast.walk(tree))
        assert sentence(program).count("\n") == 0


def test_found_programs_are_right_on_all_shown_pairs(searched: Search) -> None:
    shown = [[list(i), list(o)] for i, o in zip(searched.inputs, searched.goal, strict=True)]
    programs = searched.run()[:200]
    wrong = []
    for program in programs:
        try:
            if not Candidate(program, "list").right(shown):
                wrong.append(source(program))
        except TooLong:
            continue
    assert not wrong, wrong[:3]


def test_repetitions_of_products_are_no_candidates() -> None:
    assert modest(node("by_itself", X))
    assert not modest(node("by_itself", node("running_product", X)))
    assert not modest(node("by_itself", node("by_itself", node("by_itself", X))))


def test_large_values_in_the_shown_pairs_end_without_a_memory_bomb() -> None:
    shown = [[[10**8, 3], [3, 10**8]], [[5, 10**8 + 1, 2], [2, 10**8 + 1, 5]]]
    ranked = Problem(shown, [], 5000).rank(confident=False)
    assert ranked and ranked[0].function([1, 2, 3]) == [3, 2, 1]
