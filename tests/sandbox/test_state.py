"""The classification of sources by the state that they could keep: what holds state is never called
stateless, what reaches out of its namespace is never called its own, and what language models
usually write is stateless, which is what keeps the sandbox fast. Sources put together at random:
test_state_composed.py; the modules that a source may use: test_allowlist.py.

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
from peirce.sandbox.inside.state import Reach, analyse_reach
from peirce.sandbox.inside.trial import Trial
from peirce.tasks import load_family
from state_sources import fresh, judge, shared, sources

STATELESS, OWN, BEYOND = Reach
OWN_STATE, REACHING, ORDINARY = map(sources, ("own_state", "reaching", "ordinary"))

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


@pytest.mark.parametrize("source", OWN_STATE, ids=range(len(OWN_STATE)))
def test_what_keeps_state_in_its_namespace_is_not_stateless(source: str) -> None:
    assert judge(source) >= OWN


CALLING_ITSELF = {
    "by its name": "def g(k):\n    return USE if k == 0 else g(k - 1)\ndef f(x):\n    return g(x)",
    "the entry": "def f(x):\n    return USE if x == 0 else f(x - 1)",
    "through another": "def g(k):\n    return h(k)\ndef h(k):\n    return USE if k == 0 else g(k - 1)\ndef f(x):\n    return g(x)",
    "inside another": "def f(x):\n    def g(k):\n        return USE if k == 0 else g(k - 1)\n    return g(x)",
    "a lambda": "g = lambda k: USE if k == 0 else g(k - 1)\ndef f(x):\n    return g(x)",
    "a lambda inside": "def f(x):\n    g = lambda k: USE if k == 0 else g(k - 1)\n    return g(x)",
    "given to itself": "def g(h, k):\n    return USE if k == 0 else h(h, k - 1)\ndef f(x):\n    return g(g, x)",
    "out of a dict": "def g(k):\n    return USE if k == 0 else {1: f}[1](k - 1)\ndef f(x):\n    return g(x)",
    "by a builtin": "def f(x):\n    return USE if x == 0 else max(map(f, [x - 1]))",
    "as a method": "class A:\n    def go(self, k):\n        return USE if k == 0 else self.go(k - 1)\ndef f(x):\n    return A().go(x)",
}  # fmt: skip
FILLING_CACHES = {
    "re.match('(a(b(c|d)+)?)*', 'abc').end()": "import re",
    "isinstance(3.5, Mapping)": "from collections.abc import Mapping",
    "isinstance(3.5, typing.Mapping)": "import typing",
    "len(Counter('abc'))": "from collections import Counter",
    "'a'.encode('utf-16')": "import math",
    "len(json.dumps(3))": "import json",
}


@pytest.mark.parametrize("use", FILLING_CACHES)
@pytest.mark.parametrize("how", CALLING_ITSELF)
def test_what_fills_a_cache_of_the_library_and_calls_itself_is_beyond(how: str, use: str) -> None:
    """Whether the limit on recursion is reached depends on what an earlier input left in a cache."""
    source = f"{FILLING_CACHES[use]}\n{CALLING_ITSELF[how].replace('USE', use)}"
    assert judge(source) is BEYOND
    straight = f"{FILLING_CACHES[use]}\ndef g(k):\n    return {use}\ndef f(x):\n    return [g(v) for v in sorted([x], key=lambda v: v)]"
    assert judge(straight) is STATELESS
    alone = CALLING_ITSELF[how].replace("USE", "k" if "def g(k" in CALLING_ITSELF[how] else "0")
    assert judge(alone) < BEYOND


KEYS = ["str", "int", "tuple", "enum.StrEnum"]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_its_own_class_may_stay_in_a_cache_of_the_library(key: str) -> None:
    source = f"import MODULE, enum\ndef f(x):\n    class S({key}):\n        def __getitem__(self, i):\n            return x[i]\n    return 1"
    assert judge(source.replace("MODULE", "re")) is BEYOND
    assert judge(source.replace("MODULE", "math")) is OWN


SHOWN = ["[iter(x)]", "(1, [map(len, x)])", "{1: iter(x)}", "[iter(v) for v in x]", "[f]"]


@pytest.mark.parametrize("shown", SHOWN)
def test_the_text_of_a_container_may_have_an_address(shown: str) -> None:
    assert judge(f"def f(x):\n    return int(repr({shown}).split('0x')[1][:6], 16)") is BEYOND
    assert judge(f"def f(x):\n    return len(f'{{ {shown} }}')") is BEYOND
    assert (
        judge("def f(x):\n    return repr([len(x), [v for v in x], {1: max(map(len, x))}])") < OWN
    )


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
    "def g():\n    import math\ndef f(x):\n    return math.floor(len(x))",
    "class A:\n    import math\n    def m(self):\n        return math.pi\ndef f(x):\n    return A().m()",
)


@pytest.mark.parametrize("source", FORGETFUL)
def test_a_source_without_its_import_is_judged_as_the_one_with_it(source: str) -> None:
    name = next(iter(missing_imports(source, ast.walk(ast.parse(source)))))
    statement = "from collections import Counter" if name == "Counter" else f"import {name}"
    without, having = (
        Trial(one, "f", "codes", asdict(Limits())) for one in (source, f"{statement}\n{source}")
    )
    assert without.parse() is None and having.parse() is None
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
    read = load_family("programs").parse
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
    assert analyse_reach(deep(10_000, wrap), "f") is STATELESS
    hidden = deep(10_000, wrap)
    at: Any = hidden.body[0].body[0]
    at.value = ast.BinOp(at.value, ast.Add(), ast.Name("globals", ast.Load()))
    assert analyse_reach(hidden, "f") is BEYOND


@pytest.mark.parametrize("wrap", [WRAPS[name] for name in ("unary", "binary", "attribute", "list")])
def test_a_deep_value_of_the_top_level_is_not_taken_for_constant(wrap: Any) -> None:
    tree = ast.parse("T = 1\ndef f(x):\n    return T")
    value: Any = ast.List([], ast.Load())
    for _ in range(10_000):
        value = wrap(value)
    tree.body[0].value = value
    assert analyse_reach(tree, "f") is OWN


def test_an_unknown_kind_of_node_is_beyond() -> None:
    class Strange(ast.expr):
        _fields = ()

    assert analyse_reach(deep(1, lambda _: Strange()), "f") is BEYOND
    assert analyse_reach(ast.parse("1", mode="eval"), "f") is BEYOND


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
            analyse_reach(tree, "f")
        spent.append((time.process_time() - started) / len(trees))
    assert min(spent) < 0.3e-3
