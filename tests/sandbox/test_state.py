"""The classification of sources by the state that they could keep: what holds state is never called
stateless, what reaches out of its namespace is never called its own, and what language models
usually write is stateless, which is what keeps the sandbox fast. Sources put together at random:
test_state_composed.py; the modules that a source may use: test_harmless.py.

Internals: the class of a source is asked for directly, and a run shows only its outcome.
"""

from __future__ import annotations

import ast
import json
import random
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from peirce.records import InputSet, Limits, View
from peirce.sandbox import missing_imports
from peirce.sandbox.inside.state import Reach, reach
from peirce.sandbox.inside.trial import Trial
from peirce.tasks import family
from state_sources import fresh, judge, shared, sources

STATELESS, OWN, BEYOND = Reach
OWN_STATE, REACHING, ORDINARY = map(sources, ("own_state", "reaching", "ordinary"))

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


@pytest.mark.parametrize("source", OWN_STATE, ids=range(len(OWN_STATE)))
def test_what_keeps_state_in_its_namespace_is_not_stateless(source: str) -> None:
    assert judge(source) >= OWN


@pytest.mark.parametrize("source", REACHING, ids=range(len(REACHING)))
def test_what_could_reach_further_is_beyond(source: str) -> None:
    assert judge(source) is BEYOND


def test_the_adversarial_sets_are_large() -> None:
    assert len(OWN_STATE) >= 60 and len(REACHING) >= 60


@pytest.mark.parametrize("source", OWN_STATE, ids=range(len(OWN_STATE)))
def test_what_keeps_state_is_reset_when_its_module_is_executed_again(source: str) -> None:
    """Most of these are `OWN`; for each the outcome after another input is the outcome alone."""
    if judge(source) is OWN:
        inputs = [[1], [1.0, 2], [3, True], [True], [1]]
        assert fresh(source, "f", inputs) == fresh(source, "f", inputs[::-1])[::-1]


FORGETFUL = (
    "def f(x):\n    return math.sqrt(len(x))",
    "def f(x):\n    return sorted(Counter(x).items())",
    "count = itertools.count()\ndef f(x):\n    return next(count)",
    "def f(x):\n    return string.Formatter",
    "def f(x):\n    math.kept = x\n    return 0",
    "@functools.cache\ndef g(x):\n    return x\ndef f(x):\n    return g(len(x))",
    "def f(x):\n    return collections",
)


@pytest.mark.parametrize("source", FORGETFUL)
def test_a_source_without_its_import_is_judged_as_the_one_with_it(source: str) -> None:
    name = next(iter(missing_imports(ast.walk(ast.parse(source)))))
    statement = "from collections import Counter" if name == "Counter" else f"import {name}"
    without, having = (
        Trial(one, "f", "codes", asdict(Limits())) for one in (source, f"{statement}\n{source}")
    )
    assert without.read() is None and having.read() is None
    assert without.reach is having.reach


# --- what a language model usually writes ---

STAR_IMPORT = next(one for one in ORDINARY if one.startswith("from math import *"))
LISTS = [[3, 1, 2], [], [1], [5, 5, 0, 7], [9, 8, 7, 6, 5, 4, 3, 2, 1], [2, 2], [12, 40, 3]]
INPUTS = [[3, 1, 2], [], [1], [1.0], [True], [5, 5, 0, -7], ["a", "b"], "a1b22", [[1, 2], [3, 4]],
          [0.0], [-0.0], [None], {"a": 1}, [9, 8, 7, 6, 5, 4, 3, 2, 1]]  # fmt: skip


def test_most_ordinary_functions_are_stateless_and_none_is_beyond_without_reason() -> None:
    judged = [judge(source) for source in ORDINARY]
    assert len(judged) >= 60
    assert judged.count(STATELESS) >= 0.9 * len(judged)
    assert [s for s, r in zip(ORDINARY, judged, strict=True) if r is BEYOND] == [STAR_IMPORT]


@pytest.mark.parametrize("source", ORDINARY, ids=range(len(ORDINARY)))
def test_an_ordinary_function_gives_the_same_in_any_order(source: str) -> None:
    alone = fresh(source, "f", INPUTS)
    if judge(source) is STATELESS:
        for seed in range(3):
            order = random.Random(seed).sample(range(len(INPUTS)), len(INPUTS))
            found = shared(source, "f", [INPUTS[i] for i in order])
            assert found == [alone[i] for i in order]
    assert fresh(source, "f", INPUTS[::-1]) == alone[::-1]


def test_the_thirty_hypotheses_are_stateless(shared_data: Path) -> None:
    thirty = json.loads((shared_data / "gear" / "thirty_hypotheses.json").read_text())
    assert [judge(one["source"]) for one in thirty] == [STATELESS] * 30
    for one in thirty:
        alone = fresh(one["source"], "f", LISTS)
        assert shared(one["source"], "f", LISTS[::-1]) == alone[::-1]


def test_the_recorded_answers_of_gpt4_are_stateless_but_for_a_foreign_import(
    shared_data: Path,
) -> None:
    recorded = json.loads((shared_data / "recorded" / "gpt4_list_function_python.json").read_text())
    answers = [a for p in recorded["problems"] for t in p["turns"] for a in t["responses"]]
    view = View("recorded", "list_functions", "programs", (), {}, InputSet("none", ()))
    read = family("programs").parse
    texts = [read(view, answer, "fenced_function")[0].text for answer in answers]
    judged = [judge(text, "fn") for text in texts]
    assert Counter(judged) == {STATELESS: 1_104, BEYOND: 1}
    assert "numpy" in texts[judged.index(BEYOND)]
    for text in sorted(set(texts)):
        if judge(text, "fn") is STATELESS:
            alone = fresh(text, "fn", LISTS)
            assert shared(text, "fn", LISTS[::-1]) == alone[::-1], text


# --- depth, size, strange trees ---


def deep(depth: int, wrap: Any) -> ast.Module:
    tree = ast.parse("def f(x):\n    return x")
    inner = tree.body[0].body[0].value
    for _ in range(depth):
        inner = wrap(inner)
    tree.body[0].body[0].value = inner
    return tree


WRAPS = {
    "unary": lambda one: ast.UnaryOp(ast.Not(), one),
    "binary": lambda one: ast.BinOp(one, ast.Add(), ast.Constant(1)),
    "attribute": lambda one: ast.Attribute(one, "real", ast.Load()),
    "list": lambda one: ast.List([one], ast.Load()),
    "call": lambda one: ast.Call(ast.Name("len", ast.Load()), [one], []),
    "lambda": lambda one: ast.Lambda(ast.parse("lambda: 0", mode="eval").body.args, one),
    "subscript": lambda one: ast.Subscript(one, ast.Constant(0), ast.Load()),
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_a_deep_tree_is_walked_without_recursion(wrap: Any) -> None:
    assert reach(deep(10_000, wrap), "f") is STATELESS
    hidden = deep(10_000, wrap)
    at: Any = hidden.body[0].body[0]
    at.value = ast.BinOp(at.value, ast.Add(), ast.Name("globals", ast.Load()))
    assert reach(hidden, "f") is BEYOND


@pytest.mark.parametrize("wrap", [WRAPS[name] for name in ("unary", "binary", "attribute", "list")])
def test_a_deep_value_of_the_top_level_is_not_taken_for_constant(wrap: Any) -> None:
    tree = ast.parse("T = 1\ndef f(x):\n    return T")
    value: Any = ast.List([], ast.Load())
    for _ in range(10_000):
        value = wrap(value)
    tree.body[0].value = value
    assert reach(tree, "f") is OWN


def test_an_unknown_kind_of_node_is_beyond() -> None:
    class Strange(ast.expr):
        _fields = ()

    assert reach(deep(1, lambda _: Strange()), "f") is BEYOND
    assert reach(ast.parse("1", mode="eval"), "f") is BEYOND


def test_a_missing_entry_is_not_stateless() -> None:
    assert judge("def g(x): return x") is OWN
    assert judge("f = 3") is OWN
    assert judge("") is OWN


def test_a_typical_source_takes_far_less_than_a_third_of_a_millisecond() -> None:
    trees = [ast.parse(source) for source in ORDINARY]
    spent = []
    for _ in range(5):
        started = time.process_time()
        for tree in trees:
            reach(tree, "f")
        spent.append((time.process_time() - started) / len(trees))
    assert min(spent) < 0.3e-3
