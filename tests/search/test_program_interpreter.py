"""The interpreter of programs that a model wrote: it agrees with Python on what it interprets, and
bounds or refuses everything else.

Internals: the interpreter is reached otherwise only through a repair, which hides what it returns.
"""

from __future__ import annotations

import ast

import pytest
from peirce.search.programs.expressions import NotInterpreted
from peirce.search.programs.interpreter import RAISED, Program, check_size
from peirce.search.programs.metering import Halt

INPUTS = [[], [3], [4, 2, 7], [1, 1, 2, 0, 5, 5], [9, -1, 30, 4, 4, 8, 2], list(range(12))]

PROGRAMS = [
    "return x[::-1] + sorted(x)[1:3]",
    "return [v * 2 + i for i, v in enumerate(x) if v % 2 == 0 or v > 4]",
    "out = []\n    for v in x:\n        if v in out:\n            continue\n        out.append(v)\n"
    "        if len(out) == 3:\n            break\n    else:\n        out.insert(0, -1)\n    return out",
    "i, n = 0, 0\n    while i < len(x):\n        n += x[i]\n        i += 2\n    return [n, i]",
    "return [max(x), min(x), sum(x) // len(x)]",
    "return sorted(set(x), key=lambda v: (-x.count(v), v))",
    "from collections import Counter\n    return [v for v, n in Counter(x).most_common() if n > 1]",
    "a, *rest = x\n    return rest + [a]",
    "try:\n        return x.index(4)\n    except ValueError:\n        return -1\n    finally:\n        x.append(1)",
    "def inner(n, step=1):\n        return n if n > 9 else inner(n + step, step=step + 1)\n"
    "    return [inner(v) for v in x]",
    "return {str(v): x.count(v) for v in x}",
    "x[1:2] = [7, 7]\n    del x[0]\n    x.sort(reverse=True)\n    return x",
    "return ','.join(map(str, x)).replace('1', '').split(',')",
    "return [a - b for a, b in zip(x, x[1:])] if len(x) > 1 else x",
    "return next((v for v in x if v > 3), None)",
    "return [list(t) for t in zip(*[x, x[::-1]])]",
    "import math\n    return [math.gcd(v, 12) for v in x] + [math.inf > 3]",
    "from itertools import groupby, accumulate\n"
    "    return [len(list(g)) for _, g in groupby(x)] + list(accumulate(x))",
    "return any(v > 8 for v in x) and not all(v for v in x)",
    "total = 0\n    for row in [x, x]:\n        for v in row:\n            total = total * 2 + v\n    return total",
    "return f'{x[0]} of {len(x)}'",
    "return -x[0] ** 2 << 1 if x else ~3 & 6 | 1 ^ 2",
    "y = x\n    y += [1]\n    return x",
    "return (y := len(x)) + y",
    "return list(dict.fromkeys(x)) == x",
    "return 1 < len(x) < 5 != 3",
    "return [v for row in [x, x[:2]] for v in row if v is not None]",
    "return round(sum(x) / len(x), 2)",
]  # fmt: skip


def run(source: str, value, steps: int = 20_000):
    tree = ast.parse(source)
    check_size(tree)
    try:
        return Program(tree, "f").run(list(value), steps)
    except RAISED as error:
        return type(error)


@pytest.mark.parametrize("body", PROGRAMS)
def test_the_interpreter_agrees_with_python(body):
    source = f"def f(x):\n    {body}"
    names: dict = {}
    exec(source, names)
    for value in INPUTS:
        try:
            wanted = names["f"](list(value))
        except Exception as error:
            wanted = type(error)
        assert run(source, value) == wanted, value


ENDLESS = [
    "return [0.5 in range(10**15)]",
    "return [[] not in range(10**15)]",
    "while True:\n        pass",
    "while True:\n        x.append(1)",
    "for v in x:\n        x.append(v)",
    "return f(x)",
    "return sum(range(10 ** 12))",
    "return [0] * 10 ** 10",
    "return 'a' * 10 ** 10",
    "return 9 ** 9 ** 9",
    "return 1 << 10 ** 9",
    "n = 3\n    for _ in range(99999):\n        n = n * n\n    return n",
    "return pow(7 ** 300, 7 ** 300, 7 ** 301)",
    "return round(5, -10 ** 9)",
    "return 'a'.zfill(10 ** 9)",
    "return ('a' * 900).replace('a', 'b' * 900)",
    "return list(enumerate(range(10 ** 12)))",
    "return len(list(zip(range(10 ** 12), range(10 ** 12))))",
    "a = x\n    for _ in range(200):\n        a = [a, a]\n    b = x\n    for _ in range(200):\n        b = [b, b]\n    return a == b",
    "x.append(x)\n    return x",
    "x.append(x)\n    return str(x)",
    "import itertools\n    return list(itertools.permutations(range(20)))",
    "import math\n    return math.factorial(10 ** 8)",
    "s = 'a'\n    for _ in range(99):\n        s += s\n    return s",
    "g = x\n    for _ in range(99999):\n        g = map(abs, g)\n    return 1",
    "g = x\n    for _ in range(99999):\n        g = (v for v in g)\n    return list(g)",
    "return 'a' in ('b' for _ in range(10 ** 12))",
    "return list(map(lambda v: [v] * 9999, range(9999)))",
]  # fmt: skip


@pytest.mark.parametrize("body", ENDLESS)
def test_a_program_that_would_take_long_or_grow_is_stopped(body):
    with pytest.raises((Halt, *RAISED)):
        Program(ast.parse(f"def f(x):\n    {body}"), "f").run([1, 2, 3], 20_000)


def test_a_deep_chain_of_iterators_ends_without_a_crash():
    body = "g = x\n    for _ in range(2000):\n        g = map(abs, g)\n    return next(g)"
    with pytest.raises((Halt, *RAISED)):
        Program(ast.parse(f"def f(x):\n    {body}"), "f").run([1], 20_000)


REFUSED = [
    "import os\n    return os.getpid()",
    "from os import system\n    return system('true')",
    "return __import__('os')",
    "return open('/etc/passwd').read()",
    "return eval('1')",
    "return exec('1')",
    "return x.__class__.__mro__",
    "return x.__class__.__base__.__subclasses__()",
    "return (lambda: 0).__globals__",
    "return getattr(x, 'append')",
    "return type(x)",
    "return globals()",
    "return '{0.__class__}'.format(x)",
    "return '%999999999d' % 3",
    "return f'{x!r:>999999999}'",
    "return print.__self__",
    "return len.meter",
    "global y\n    return 1",
    "yield 1",
    "class A:\n        pass\n    return A",
    "with open('/tmp/x', 'w') as h:\n        return 1",
    "import math\n    return math.__loader__",
    "x.append.meter = 1\n    return x",
]


@pytest.mark.parametrize("body", REFUSED)
def test_what_reaches_beyond_the_subset_is_refused(body):
    source = ast.parse(f"def f(x):\n    {body}")
    with pytest.raises((NotInterpreted, Halt, *RAISED)):
        Program(source, "f").run([1, 2], 20_000)


def test_a_tree_that_is_nested_deeply_is_refused():
    with pytest.raises(NotInterpreted):
        check_size(ast.parse("def f(x):\n    return " + "-" * 70 + "1"))


def test_the_order_of_a_set_of_texts_is_never_used():
    for body in ("return list({'a', 'b'})", "return [v for v in {'a', 'b'}]", "return str({'a'})"):
        with pytest.raises(Halt):
            Program(ast.parse(f"def f(x):\n    {body}"), "f").run([], 100)
    assert run("def f(x):\n    return sorted({'b', 'a'})", []) == ["a", "b"]
