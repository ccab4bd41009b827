"""The loop over inputs: the tick in `while` loops changes no legal computation and ends endless
ones after the same count everywhere; each input is a fresh copy. Runs in this process.

Internals: the loop over inputs runs in this process, where its ticks can be counted.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from peirce.records import Limits
from peirce.sandbox import code_of
from peirce.sandbox.inside.trial import Inputs, Trial


def tried(source: str, inputs: list[Any], keep: str = "values", **limits: Any) -> list[Any]:
    """Values, or ("undefined", reason), of entry f."""
    trial = Trial(source, "f", keep, asdict(Limits(**limits)))
    function = trial.compile()
    assert callable(function), function
    trial.run(function, Inputs(json.dumps(inputs).encode()))
    header, body = trial.encode_result()
    reasons, names = body[: len(inputs)], header["reason_names"]
    lengths = np.frombuffer(body, "<u4", len(inputs), len(inputs)).tolist()
    at, values = 5 * len(inputs), []
    for length in lengths:
        values.append(json.loads(body[at : at + length]) if length else None)
        at += length
    return [("undefined", names[r - 1]) if r else v for r, v in zip(reasons, values, strict=True)]


PROGRAMS = {
    "else of a loop that ends": """
def f(n):
    while n > 0:
        n -= 3
    else:
        return ['else', n]
    return 'no'
""",
    "break skips else": """
def f(n):
    while True:
        n -= 1
        if n < 3:
            break
    else:
        return 'else'
    return n
""",
    "continue and nested loops": """
def f(n):
    out, i = [], 0
    while i < n:
        i += 1
        if i % 2: continue
        j = 0
        while j < i:
            j += 1
            if j == 3: break
        else:
            out.append(-1)
        out.append((i, j))
    return out
""",
    "a generator with a loop": """
def f(n):
    def count(k):
        while k:
            got = yield k
            k -= 1
        return 'end'
    def outer():
        last = yield from count(n)
        yield last
    return list(outer())
""",
    "a lambda and a walrus": """
def f(n):
    step = lambda v: v // 2
    out = []
    while (n := step(n)): out.append(n)
    return out
""",
    "a method, where names are mangled": """
class Box:
    __hidden = 2
    def drain(self, n):
        while n > 0: n -= self.__hidden
        return n
def f(n):
    return Box().drain(n)
""",
    "a class body and the top level": """
k = 5
while k: k -= 1
class Box:
    n = 3
    while n: n -= 1
def f(n):
    return [Box.n, k, n]
""",
    "try, finally and return inside": """
def f(n):
    out = []
    try:
        while n:
            try:
                n -= 1
                if n == 2: return out
            finally:
                out.append(n)
    finally:
        out.append('end')
    return out
""",
    "nonlocal, global and del": """
total = 0
def f(n):
    global total
    total = 0
    seen = 0
    def inner():
        nonlocal seen
        while seen < n: seen += 1
        return seen
    while n: total += n; n -= 1
    return [total, inner()]
""",
    "a string that says while": """
def f(n):
    'while'
    return ['while', n]
""",
    "docstrings and future imports stay first": '''"""doc"""
from __future__ import annotations
def f(n: Unknown) -> Missing:
    """doc"""
    while n > 2: n -= 1
    return [n, f.__doc__, __doc__]
''',
    "an async loop driven by hand": """
def f(n):
    async def work(k):
        while k > 1: k -= 1
        return k
    try:
        work(n).send(None)
    except StopIteration as end:
        return end.value
""",
    "the condition raises": """
def f(n):
    xs = [3, 2, 1]
    while xs[n] > 0:
        n += 1
    return n
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_tick_changes_no_value(name: str) -> None:
    inputs = list(range(8))
    namespace: dict[str, Any] = {}
    exec(compile(PROGRAMS[name], "plain", "exec", dont_inherit=True), namespace)
    expected = []
    for n in inputs:
        try:
            expected.append(json.loads(json.dumps(namespace["f"](n))))
        except Exception as error:
            expected.append(("undefined", type(error).__name__))
    assert tried(PROGRAMS[name], inputs) == expected


COUNTING = """
def f(n):
    k = 0
    while k < n:
        k += 1
    return k
"""


def test_the_budget_is_exact_and_each_input_has_its_own() -> None:
    inputs = [100, 101, 99, 101, 100]
    assert tried(COUNTING, inputs, loop_steps=100) == [
        100, ("undefined", "steps"), 99, ("undefined", "steps"), 100,
    ]  # fmt: skip


def test_a_loop_that_swallows_everything_still_ends_and_is_undefined() -> None:
    source = """
def f(n):
    while n:
        try:
            while True:
                pass
        except BaseException:
            return 'cheated'
    return 'fine'
"""
    assert tried(source, [1, 0], loop_steps=100) == [("undefined", "steps"), "fine"]


def test_for_loops_and_comprehensions_have_no_budget() -> None:
    source = "def f(n):\n    while n: n = 0\n    return sum(1 for _ in range(3000))"
    assert tried(source, [1], loop_steps=10) == [3000]


@pytest.mark.parametrize(
    "source",
    [
        "def a():\n    import math\ndef f(x):\n    return math.floor(x)",
        "def f(x):\n    def a(math):\n        return math\n    return a(math).floor(x)",
        "class A:\n    import math\n    def m(self, x):\n        return math.floor(x)\ndef f(x):\n    return A().m(x)",
        "def f(x):\n    global math\n    return math.floor(x)",
        "def f(x):\n    import math\n    return (lambda: math.floor(x))()",
        "def a():\n    global math\n    import math\ndef f(x):\n    a()\n    return math.floor(x)",
    ],
)
def test_a_module_is_provided_where_no_import_can_be_seen(source: str) -> None:
    assert tried(source, [1.5, 2.5]) == [1, 2]


MUTATING = "def f(x):\n    x.append(1)\n    x[0].append(9) if type(x[0]) is list else x.sort()\n    return x"


@pytest.mark.parametrize("inputs", [[[3, 2], [5]], [[[1], 2], [[], 0]]], ids=["flat", "nested"])
def test_a_mutated_argument_reaches_no_other_call(inputs: list[Any]) -> None:
    parsed = Inputs(json.dumps(inputs).encode())
    seen = []
    for _ in range(2):
        trial = Trial(MUTATING, "f", "codes", asdict(Limits()))
        function = trial.compile()
        assert callable(function)
        trial.run(function, parsed)
        seen.append(trial.encode_result()[1])
    assert seen[0] == seen[1]
    assert tried("def f(x):\n    return x", inputs) == inputs


def test_codes_of_the_loop_are_code_of_the_values() -> None:
    inputs: list[Any] = [[3, 1], [], "a", None, 2.5, {"k": [1]}, [[1], [2]]]
    trial = Trial("def f(x):\n    return (x, True)", "f", "codes", asdict(Limits()))
    function = trial.compile()
    assert callable(function)
    trial.run(function, Inputs(json.dumps(inputs).encode()))
    header, body = trial.encode_result()
    assert header["reason_names"] == [] and body[: len(inputs)] == bytes(len(inputs))
    codes = np.frombuffer(body, "<i8", len(inputs), len(inputs))
    assert codes.tolist() == [code_of([x, 1]) for x in inputs]


REASONS = {
    "x[0]": "IndexError",
    "1 // 0": "ZeroDivisionError",
    "{}['a']": "KeyError",
    "undefined_name": "NameError",
    "int('x')": "ValueError",
    "next(iter([]))": "StopIteration",
    "(_ for _ in ()).throw(SystemExit)": "exit",
    "(_ for _ in ()).throw(KeyboardInterrupt)": "exit",
    "(_ for _ in ()).throw(type('IndexError', (Exception,), {})())": "Exception",
    "(_ for _ in ()).throw(type('Odd', (BaseException,), {})())": "Exception",
    "(_ for _ in ()).throw(type('Mine', (KeyError,), {})())": "Exception",
    "{1, 2}": "unrepresentable",
    "b'x'": "unrepresentable",
    "lambda: 1": "unrepresentable",
    "type('I', (int,), {'__eq__': lambda *_: True})(1)": "unrepresentable",
    "'x' * 200_000": "too_large",
    "1 << 10**7": "too_large",
}


@pytest.mark.parametrize("expression", REASONS)
def test_the_reason_says_why_there_is_no_value(expression: str) -> None:
    source = f"def f(x):\n    return {expression}"
    assert tried(source, [[], []]) == [("undefined", REASONS[expression])] * 2


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("def f(", "syntax"),
        ("def f(x):\n\x00 return 1", "syntax"),
        ("-" * 100_000 + "1", "syntax"),
        ("def g(x):\n    return x", "no_function"),
        ("f = 3", "no_function"),
        ("1 / 0\ndef f(x): return x", "no_function"),
        ("raise SystemExit\ndef f(x): return x", "no_function"),
        ("while True: pass\ndef f(x): return x", "too_slow"),
        ("try:\n    while True: pass\nexcept BaseException: pass\ndef f(x): return x", "too_slow"),
    ],
)
def test_a_module_without_the_function_is_one_verdict(source: str, verdict: str) -> None:
    refused = Trial(source, "f", "codes", asdict(Limits())).compile()
    assert isinstance(refused, tuple) and refused[0] == verdict
    assert refused[1] and len(refused[1]) <= 500
