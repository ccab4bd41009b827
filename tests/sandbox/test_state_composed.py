"""Sources put together at random: what their class promises, against what happens.

Internals: the class of a source is asked for directly, and a run shows only its outcome.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.sandbox.inside.state import Reach, analyse_reach
from peirce.tests.counts import drawn
from state_sources import fresh, judge, namespace, shared

STATELESS, OWN, BEYOND = Reach

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


def alternatives(text: str) -> list[str]:
    return [one.strip() for one in text.replace("\n", " | ").split(" | ") if one.strip()]


VALUES = alternatives("""
[1, 2] | {1, 2} | {"a": 1} | [[1], [2]] | {"a": [1]} | (1, [2]) | (1, 2) | "ab" | iter([1, 2])
lambda v, a=[]: a.append(v) or len(a) | dict.fromkeys("ab", []) | [i for i in range(3)]
"b a".split() | list(map(int, "12")) | Counter("ab") | [0] * 2 | [[0]] * 2 | dict(a=[])
[lambda v: v] | range(3) | sorted("ba") | dict(zip("ab", range(2))) | [[i] for i in range(2)]
{i: [] for i in range(2)} | deque([1]) | list(zip("ab", [[1], [2]]))
SimpleNamespace(get=[1].pop) | [1, 2][:] | {1: 2}.items() | max([1], [2]) | sum([[1]], [])
tuple([] for _ in range(2)) | None or [] | [[], 1][0] | [] if 0 else [1] | (lambda: [1])()
{**{"a": 1}} | [*range(2)] | P([1], 2) | bytearray(2)
""")
EXPRESSIONS = alternatives("""
T | T | T | T | E[0] | E["a"] | E.copy() | max(E, [9]) | min(E) | list(E) | E + [1] | (E or [])
(E and E) | [*E] | next(iter(E)) | sum([], E) | sum(E) | (E if x else x) | [E][0]
(lambda: E)() | (lambda t=E: t)() | dict(a=E)["a"] | {"a": E}["a"] | helper(E)
sorted(E, key=str) | E.get("a", E) | [v for v in E] | [v for v in [E]][0] | list(E.values())
(y := E) | tuple(E)[0] | {**E} | E[:] | E | E | copy.copy(E) | copy.deepcopy(E)
{}.setdefault(0, E) | [*[E]][0] | E.__iter__() | list(map(helper, E))
list(map(helper, [E]))[0] | E.items() | list(zip(E, E))[0][0] | E * 1 | E.pop | E.append
reduce(max, E) | E.get | P(E, 1)[0] | (E, 1)[0] | E["a":] | min([E]) | (not E)
list(filter(helper, E)) | list(chain(E)) | list(chain([E]))[0] | list(enumerate(E))[0][1]
max(E, default=E)
""")
STATEMENTS = alternatives("""
E.append(1) | E.add(7) | E.update(a=1) | E.pop() | A = E; A[0] = 5 | A = E; del A[0]
A = E; A += [1] | for v in E: v.append(1) | next(E) | E(1) | E.clear() | insort(E, 1) | E[0] = 3
E["a"] = len(x) | E[0] += 1 | E.setdefault("b", 1) | E.extend(x) | a, *A = E; A.append(1)
for A in E: A.pop() | A = E | T[0].append(1) | x.extend(E) | x += E | for T[0] in x: pass
heappush(E, 0) | setitem(E, 0, 9) | E.sort(reverse=True) | [E.append(v) for v in (1, 2)]
def g(t=E): t.append(1); g() | A = [E]; A[0].append(1) | x.append(E); x[-1].append(1) | match E:
try: E.remove(1); finally: pass | T.append(1) | T[0] = len(x) | E.insert(0, 0)
""")
RESULTS = alternatives("""
list(T) | len(T) | T[0] | sorted(T) | list(T.items()) | [*T] | T.get("a") | next(T) | T(1)
list(E) | [v for v in T] | E | sum(T) | T["a"] | T == [1, 2] | 3 in T
""")
PREAMBLE = """
import copy
from bisect import insort
from collections import Counter, deque, namedtuple
from functools import reduce
from heapq import heappush
from itertools import chain
from operator import setitem
from types import SimpleNamespace
P = namedtuple("P", "get pop")
def helper(t):
    return t
"""
GIVEN: list[Any] = [[1], [2, 3], [], [1.0], [True, 0], [1]]


def composed(chance: random.Random) -> str:
    """A source that does something to a top-level value, by parts put together at random."""

    def expression(depth: int) -> str:
        text = chance.choice(EXPRESSIONS).strip() if depth else "T"
        while "E" in text:
            text = text.replace("E", expression(depth - 1).replace("E", "T"), 1)
        return text

    def filled(text: str) -> str:
        while "E" in text:
            text = text.replace("E", expression(chance.choice([0, 1, 1, 2])), 1)
        return text.strip()

    lines = [PREAMBLE, f"T = {chance.choice(VALUES).strip()}", "def f(x):"]
    for _ in range(chance.choice([0, 1, 1, 2])):
        line = filled(chance.choice(STATEMENTS))
        if line.startswith("match"):
            line += "\n            case A: A.append(1)"
        elif line.startswith("def"):
            line = line.replace("; g()", "\n        g()")
        elif line.startswith("try"):
            line = line.replace("; finally", "\n        finally")
        lines += ["    try:", f"        {line}", "    except Exception: pass"]
    lines.append(f"    return {filled(chance.choice(RESULTS))}")
    return "\n".join(lines)


def disagreement(source: str) -> str:
    """What the class of a source promises and its runs do not keep; "" where all is kept."""
    try:
        judged = judge(source)
        namespace(source)
    except Exception:
        return ""
    if judged is BEYOND:
        return ""
    alone = fresh(source, "f", GIVEN)
    if fresh(source, "f", GIVEN[::-1]) != alone[::-1]:
        return "survives a new namespace"
    if judged is STATELESS and not (
        shared(source, "f", GIVEN) == alone == shared(source, "f", GIVEN[::-1])[::-1]
    ):
        return "depends on the order"
    return ""


@pytest.mark.counted
@settings(max_examples=drawn(100, soak=300))
@given(st.integers(0, 2**32))
def test_composed_sources_keep_what_their_class_promises(seed: int) -> None:
    source = composed(random.Random(seed))
    assert disagreement(source) == "", source


def test_composed_sources_are_of_both_kinds() -> None:
    judged: Counter[Reach] = Counter()
    held = 0
    for seed in range(400):
        source = composed(random.Random(seed))
        try:
            judged[analyse_reach(ast.parse(source), "f")] += 1
            held += shared(source, "f", GIVEN) != fresh(source, "f", GIVEN)
        except Exception:
            continue
    assert judged[STATELESS] > 20 and judged[OWN] > 100 and held > 15
