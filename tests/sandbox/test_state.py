"""The classification of sources by the state that they could keep: what holds state is never called
stateless, what reaches out of its namespace is never called its own, and what language models
usually write is stateless, which is what keeps the sandbox fast."""

from __future__ import annotations

import ast
import dis
import importlib
import json
import random
import subprocess
import sys
import time
import types
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.sandbox.inside import harmless, state
from peirce.sandbox.inside.canonical import code_bytes
from peirce.sandbox.inside.state import Reach, reach
from peirce.sandbox.inside.trial import TICK, compiled
from peirce.tasks.program_answers import read_answer

STATELESS, OWN, BEYOND = Reach

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


def judge(source: str, entry: str = "f") -> Reach:
    return reach(ast.parse(source), entry)


def sources(text: str) -> list[str]:
    """Sources separated by lines of dashes."""
    return [one.strip("\n") for one in text.split("\n---\n") if one.strip()]


# Each keeps something between calls, in its own namespace.
OWN_STATE = sources("""
n = 0
def f(x):
    global n
    n += 1
    return n
---
def f(x, seen=[]):
    seen.append(1)
    return len(seen)
---
def f(x, *, memo={}):
    return memo.setdefault("a", x)
---
def f(x, memo=dict()):
    return memo.setdefault("a", x)
---
def f(x, s=set("ab")):
    s.add(x[0])
    return sorted(s)
---
def f(x, it=iter([1, 2, 3])):
    return next(it)
---
def f(x, t=([], 1)):
    t[0].append(1)
    return len(t[0])
---
def make():
    n = 0
    def g(x):
        nonlocal n
        n += 1
        return n
    return g
f = make()
---
def make(seen):
    return lambda x: seen.append(x) or len(seen)
f = make([])
---
def f(x):
    f.calls += 1
    return f.calls
f.calls = 0
---
def f(x):
    if not hasattr(f, "n"):
        f.n = 0
    f.n += 1
    return f.n
---
class C:
    n = 0
def f(x):
    C.n += 1
    return C.n
---
class C:
    seen = []
def f(x):
    C.seen.append(1)
    return len(C.seen)
---
class C:
    def __init__(self):
        self.n = 0
    def __call__(self, x):
        self.n += 1
        return self.n
f = C()
---
class f:
    seen = []
    def __init__(self, x):
        f.seen.append(x)
---
class C:
    seen = []
    @classmethod
    def add(cls, x):
        cls.last = x
        cls.seen.append(x)
        return len(cls.seen)
def f(x):
    return C.add(x)
---
class A:
    pass
a = A()
def f(x):
    a.n = len(x)
    return a.n
---
g = (i for i in range(100))
def f(x):
    return next(g)
---
import itertools
c = itertools.count()
def f(x):
    return next(c)
---
from itertools import cycle
colours = cycle("rgb")
def f(x):
    return next(colours)
---
it = iter([1, 2, 3])
def f(x):
    return next(it)
---
pairs = zip("abc", range(3))
def f(x):
    return list(pairs)
---
m = map(abs, [1, 2])
def f(x):
    return sum(m)
---
from functools import lru_cache
@lru_cache(maxsize=None)
def g(n):
    return str(n)
def f(x):
    return g(x[0])
---
import functools
@functools.cache
def f(x):
    return [x]
---
from functools import cache
@cache
def depth(n):
    return n and 1 + depth(n - 1)
def f(x):
    return depth(sum(x))
---
from functools import cache
def g(n):
    return str(n)
g = cache(g)
def f(x):
    return g(x[0])
---
TABLE = [1, 2]
def f(x):
    TABLE.append(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    t = TABLE
    t.append(1)
    return len(t)
---
TABLE = [1, 2]
def grow(t):
    t.append(1)
def f(x):
    grow(TABLE)
    return len(TABLE)
---
TABLE = [1, 2]
def table():
    return TABLE
def f(x):
    table().append(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    [TABLE.append(v) for v in x]
    return len(TABLE)
---
TABLE = [3, 2]
def f(x):
    TABLE.sort()
    return TABLE[0]
---
TABLE = [3, 2]
def f(x):
    return sorted(x, key=lambda v: TABLE.append(v) or len(TABLE))
---
TABLE = [3, 2]
def f(x):
    return TABLE.pop()
---
TABLE = [3, 2]
def f(x):
    TABLE[0] += 1
    return TABLE[0]
---
TABLE = [3, 2]
def f(x):
    del TABLE[0]
    return len(TABLE)
---
TABLE = [3, 2]
def f(x):
    TABLE[:] = x
    return len(TABLE)
---
TABLE = [0, 0]
def f(x):
    for TABLE[0] in x:
        pass
    return TABLE[0]
---
TABLE = [0, 0]
def f(x):
    TABLE[0], y = 1, TABLE[0]
    return y
---
TABLE = [[1], [2]]
def f(x):
    for row in TABLE:
        row.append(1)
    return len(TABLE[0])
---
TABLE = [[1], [2]]
def f(x):
    TABLE[0].append(1)
    return len(TABLE[0])
---
TABLE = {"a": []}
def f(x):
    TABLE["a"].append(1)
    return len(TABLE["a"])
---
TABLE = {"a": []}
def f(x):
    TABLE.get("a").append(1)
    return len(TABLE["a"])
---
TABLE = [[] for _ in range(3)]
def f(x):
    TABLE[0].append(1)
    return len(TABLE[0])
---
TABLE = [[0] * 3] * 3
def f(x):
    TABLE[0][0] += 1
    return TABLE[1][0]
---
TABLE = ([], 1)
def f(x):
    TABLE[0].append(1)
    return len(TABLE[0])
---
TABLE = {}
def f(x):
    return TABLE.setdefault("a", x)
---
TABLE = {}
def f(x):
    TABLE.update(a=1)
    return len(TABLE)
---
from collections import defaultdict
TABLE = defaultdict(int)
def f(x):
    return TABLE[x[0]] or len(TABLE)
---
from collections import Counter
C = Counter()
def f(x):
    C.update(x)
    return C.most_common(1)
---
from collections import deque
Q = deque([1, 2, 3])
def f(x):
    Q.rotate(1)
    return list(Q)
---
import operator
TABLE = [1, 2]
def f(x):
    operator.setitem(TABLE, 0, x[0])
    return len(TABLE)
---
from operator import iadd
TABLE = [1, 2]
def f(x):
    return len(iadd(TABLE, x))
---
import heapq
TABLE = [1, 2]
def f(x):
    heapq.heappush(TABLE, 1)
    return len(TABLE)
---
from bisect import insort
TABLE = [1, 2]
def f(x):
    insort(TABLE, x[0])
    return len(TABLE)
---
B = bytearray(b"ab")
def f(x):
    B[0] += 1
    return B[0]
---
TABLE = [1, 2]
VIEW = memoryview(bytearray(2))
def f(x):
    VIEW[0] += 1
    return VIEW[0]
---
TABLE = [1, 2]
def f(x):
    return max(TABLE, [9]).append(1) or len(TABLE)
---
TABLE = [1, 2]
def f(x):
    t = sum([], TABLE)
    t.append(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    t = TABLE or x
    t.append(1)
    return len(t)
---
TABLE = [1, 2]
def f(x):
    t = TABLE if x else x
    t.append(1)
    return len(t)
---
TABLE = [1, 2]
def f(x):
    (t := TABLE).append(1)
    return len(t)
---
TABLE = [1, 2]
def f(x):
    match TABLE:
        case t:
            t.append(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    for t in [TABLE]:
        t.append(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    def g(t=TABLE):
        t.append(1)
        return len(t)
    return g()
---
TABLE = [1, 2]
def f(x):
    g = lambda: TABLE
    g().append(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    add = TABLE.append
    add(1)
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    list(map(TABLE.append, x))
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    TABLE.__init__([3])
    return len(TABLE)
---
TABLE = [1, 2]
def f(x):
    return next(iter([]), TABLE).append(1) or len(TABLE)
---
TABLE = [1, 2]
def f(x):
    return {}.get(0, TABLE).append(1) or len(TABLE)
---
TABLE = [1, 2]
def f(x):
    raise ValueError(TABLE)
---
TABLE = [1, 2]
def sorted(t):
    t.append(1)
    return len(t)
def f(x):
    return sorted(TABLE)
---
TABLE = [1, 2]
def f(x, len=lambda t: t.append(1) or t[-1]):
    return len(TABLE)
---
def list(v):
    return [[]]
TABLE = list([1])
def f(x):
    TABLE[0].append(1)
    return TABLE[0]
---
from types import SimpleNamespace
TABLE = [1, 2]
def f(x):
    s = SimpleNamespace(extend=lambda t: t.append(1))
    s.extend(TABLE)
    return len(TABLE)
---
from collections import namedtuple
P = namedtuple("P", "update")
TABLE = [1, 2]
def f(x):
    P(lambda t: t.append(1)).update(TABLE)
    return len(TABLE)
---
from functools import partial
def g(seen, x):
    seen.append(x)
    return len(seen)
f = partial(g, [])
---
from dataclasses import dataclass, field
@dataclass
class D:
    items: list = field(default_factory=list)
d = D()
def f(x):
    d.items.append(1)
    return len(d.items)
---
from enum import Enum
class Colour(Enum):
    RED = 1
    seen = []
def f(x):
    Colour.seen.value.append(1)
    return len(Colour.seen.value)
---
T = [1, 2]
U = T
def f(x):
    U.append(1)
    return len(T)
---
a = b = []
def f(x):
    a.append(1)
    return len(b)
---
a, b = [], 1
def f(x):
    a.append(1)
    return len(a)
---
[a] = [[]],
def f(x):
    a.append(1)
    return len(a)
---
for a in [[]]:
    pass
def f(x):
    a.append(1)
    return len(a)
---
print(a := [])
def f(x):
    a.append(1)
    return len(a)
---
if True:
    a = []
def f(x):
    a.append(1)
    return len(a)
---
try:
    a = []
finally:
    pass
def f(x):
    a.append(1)
    return len(a)
---
x0 = []
f = lambda x, t=x0: t.append(1) or len(t)
---
f = lambda x, t=[]: t.append(1) or len(t)
---
FNS = {"a": lambda x, t=[]: t.append(1) or len(t)}
def f(x):
    return FNS["a"](x)
---
FNS = [(lambda x, t=t: t.append(1) or len(t)) for t in [[], []]]
def f(x):
    return FNS[0](x)
---
import random
def f(x):
    return random.choice(x)
---
from random import shuffle
def f(x):
    shuffle(x)
    return x
---
import random
def f(x):
    random.seed(3)
    return random.random()
---
import random
r = random.Random(5)
def f(x):
    return r.random()
---
from collections import defaultdict
from typing import List
it = iter(range(3))
D = defaultdict(it.__next__)
def f(n):
    def g(a: D[n]):
        pass
    return 1
---
def g():
    while True:
        yield len(seen)
        seen.append(1)
seen = []
gen = g()
def f(x):
    return next(gen)
---
def outer(fn):
    seen = []
    def inner(x):
        seen.append(x)
        return len(seen)
    return inner
@outer
def f(x):
    return x
---
import re
S = re.compile("a").scanner("aaa")
def f(x):
    return S.match() is None
---
from functools import wraps
from types import SimpleNamespace
def g(x):
    return 1
def swap(h):
    return g
def f(x):
    before = hasattr(g, "n")
    @wraps(SimpleNamespace(n=1))
    @swap
    def h():
        pass
    return before
---
T = sum((), [])
def f(x):
    T.append(1)
    return len(T)
---
import math
T = math.prod((), start=[])
def f(x):
    T.append(1)
    return len(T)
---
import math
T = math.prod([[1]])
def f(x):
    T.append(1)
    return len(T)
---
import struct
I = struct.iter_unpack("b", b"abc")
def f(x):
    return next(I)
""")

# Each could leave something outside of its namespace, or depend on what is no input at all.
REACHING = sources("""
import os
def f(x): return 1
---
import sys
def f(x): return len(sys.modules)
---
import time
def f(x): return time.time()
---
import math
math.pi = 3
def f(x): return math.pi
---
import math as m
def f(x):
    m.pi += 1
    return m.pi
---
import math
def f(x):
    del math.pi
---
import math
def f(x):
    m = math
    m.pi = 3
    return m.pi
---
import collections
def f(x): return collections._sys.path
---
import re
def f(x): return re.enum.sys
---
import statistics
def f(x): return statistics.random.random()
---
import copy
def f(x): copy.dispatch_table[int] = 1
---
from json import encoder
def f(x): return 1
---
from math import *
def f(x): return pi
---
from . import harness
def f(x): return 1
---
import builtins
def f(x):
    builtins.len = sum
---
def f(x):
    __builtins__["len"] = sum
---
__builtins__ = {}
def f(x): return 1
---
def f(x): return eval("1")
---
def f(x):
    e = exec
    e("1")
---
def f(x): return globals()
---
def f(x): return locals()
---
def f(x): return vars()
---
def f(x): return getattr(x, "append")
---
def f(x): setattr(f, "n", 1)
---
def f(x): return id(x)
---
def f(x): return hash("a")
---
def f(x): return open("a")
---
def f(x): return input()
---
def f(x): return __import__("os")
---
def f(x): return [input for input in input()]
---
def f(input):
    def g():
        global input
        return input
    return g()
---
class C:
    input = 1
    def m(self):
        return input()
def f(x): return C().m()
---
def f(x):
    if x:
        del x
    return breakpoint
---
def f(x): return x.__class__.__bases__
---
def f(x): return f.__globals__
---
def f(x): return f.__dict__.setdefault("n", x)
---
def f(x): return f.__defaults__
---
def f(x): return (i for i in x).gi_frame.f_globals
---
def f(x):
    try:
        1 / 0
    except ZeroDivisionError as e:
        return e.__traceback__.tb_frame
---
class C:
    def __enter__(self): return self
    def __exit__(self, kind, value, tb): C.n = tb.tb_frame
def f(x):
    with C(): pass
---
def f(x):
    try:
        [].foo
    except AttributeError as e:
        return e.obj
---
def f(x): return "{0.__class__}".format(x)
---
def f(x): return "{[a]}".format(x)
---
def f(x): return "{:{0.__class__}}".format(x)
---
def f(x):
    t = "{0.a}"
    return t.format(x)
---
def f(x): return str.format("{0.a}", x)
---
def f(x): return "{a.b}".format_map(x)
---
import string
def f(x): return string.Formatter().format("{0.a}", x)
---
from operator import attrgetter
def f(x): return attrgetter("a.b")(x)
---
from operator import methodcaller
def f(x): return methodcaller("pop")(x)
---
import random
def f(x):
    random.seed()
    return random.random()
---
import random
def f(x):
    random.seed(None)
    return random.random()
---
import random
def f(x):
    random.seed(*x)
    return random.random()
---
import random
def f(x):
    s = random.seed
    s()
---
import random
def len(x): return None
def f(x):
    random.seed(len(x))
    return random.random()
---
import random
def f(x): return random.Random().random()
---
import random
def f(x):
    r = random.Random(3)
    r.seed()
    return r.random()
---
import random
def f(x):
    r = random.Random(3)
    return type(r)().random()
---
import random
class R(random.Random):
    pass
def f(x): return R().random()
---
from random import Random
def f(x): return [Random][0]().random()
---
import random
def f(x): return random.SystemRandom().random()
---
import decimal
def f(x):
    decimal.getcontext().prec -= 1
    return str(decimal.Decimal(1) / 3)
---
from decimal import localcontext
def f(x): return 1
---
import datetime
def f(x): return datetime.datetime.now().year
---
from datetime import date
def f(x): return date.today().year
---
import calendar
def f(x):
    calendar.setfirstweekday(x[0])
    return calendar.firstweekday()
---
import statistics
def f(x):
    statistics.mean.n = 1
---
from statistics import mean
def g(self):
    self.n = 1
def f(x):
    g(mean)
---
from statistics import mean
class A:
    def m(self):
        self.n = 1
def f(x):
    A.m(mean)
---
from collections import Counter
def f(x):
    c = Counter
    c.n = 1
---
from collections import Counter
def f(x):
    type(Counter()).n = 1
---
from collections import Counter
class A(Counter):
    pass
def f(x):
    A.most_common.n = 1
---
from collections import Counter, defaultdict
def f(x):
    d = defaultdict(Counter)
    d.default_factory.n = 1
---
from enum import Enum
class A(Enum):
    a = 1
def f(x):
    A.__repr__.n = 1
---
import re
def f(x):
    flag = re.I
    flag.n = 1
---
import functools, statistics
def f(x):
    functools.update_wrapper(statistics.mean, f)
---
import functools, statistics
def f(x):
    functools.wraps(f)(statistics.mean)
---
from functools import wraps
from statistics import mean
def swap(g):
    return mean
def f(x):
    @wraps(f)
    @swap
    def g():
        pass
    return mean.__name__
---
from dataclasses import dataclass
from fractions import Fraction
def f(x):
    dataclass(Fraction)
---
import collections.abc
class A:
    pass
def f(x):
    collections.abc.Sized.register(A)
---
from typing import Literal, get_args
def f(x): return get_args(Literal[x[0]])
---
from typing import Literal
def f(x): return str(Literal[x[0]])
---
from typing import List, TypeVar
T = TypeVar("T")
Grid = List[T]
def f(x): return str(Grid[x[0]])
---
def f(x): return type("C", (), {})
---
def f(x):
    t = type
    return t("C", (), {})
---
def f(x): return list(map(type, ["C"], [()], [{}]))
---
def f(x): return type(type(x))("C", (), {"__del__": f})
---
class M(type):
    pass
def f(x): return 1
---
class A(metaclass=print):
    pass
def f(x): return 1
---
class A:
    def __del__(self):
        pass
def f(x): return 1
---
class A:
    __match_args__ = ("__class__",)
def f(x): return 1
---
def f(x):
    match x:
        case object(__class__=c):
            return c
---
def f(x):
    match (i for i in x):
        case object(gi_frame=c):
            return c.f_globals
---
from enum import Enum
def f(x): return Enum("E", {"_missing_": f})
---
def f(x): return str(map(abs, x))
---
def f(x): return f"{f}"
---
def f(x): return "%s" % (reversed(x),)
---
def f(x):
    g = lambda: 1
    return repr(g)
---
def f(x): return object().__hash__()
---
def f(x): return x.__reduce_ex__(2)
---
from collections import namedtuple
def f(x):
    P = namedtuple(x, [])
    return P.__name__ is x
---
import re
class N(int):
    def __hash__(self): return 1
    def __eq__(self, other):
        other.seen = self
        return True
n = N(0)
def f(x):
    re.compile("a", n)
    return hasattr(n, "seen")
---
import random
def g():
    try:
        yield 1
    finally:
        random.random()
def f(x): return next(g())
---
async def f(x): return 1
---
def f(x): return [i async for i in x]
---
class A:
    import random as _A__r
    def m(self):
        return __r.SystemRandom()
def f(x): return A().m()
---
def f(x):
    import random as g
    def h():
        nonlocal g
        import os as g
    return 1
---
import array
def f(x): return array.sys
---
import contextlib
def f(x):
    return contextlib.redirect_stdout(x)
---
def f(x): return __peirce_tick__
---
def f(x): return int.mro()
---
import functools
def f(x): return functools.singledispatch(f)
---
import types
def f(x): return types.FunctionType(f, {})
---
import textwrap
def f(x): textwrap.TextWrapper.unicode_whitespace_trans[1] = 1
---
from statistics import NormalDist
def f(x): return NormalDist().samples(1)
---
def f(x): return print.__self__
---
def f(x): return dir()
---
def f(x): return memoryview(b"a").obj
---
from collections import namedtuple
def f(x):
    max = namedtuple(x, []).__name__
    return max is x
---
from collections import namedtuple
def f(x):
    type = lambda: namedtuple(x, []).__name__
    return type() is x
---
def f(x): return x is 1
---
def f(exec):
    class A:
        exec = exec
    return A.exec("1")
---
import copy
from types import SimpleNamespace
def f(x):
    memo = SimpleNamespace(get=lambda key, nothing: nothing.append(1) or len(nothing))
    return copy.deepcopy(x, memo)
---
from copy import deepcopy
from types import SimpleNamespace
def f(x):
    memo = SimpleNamespace(get=lambda key, nothing: nothing.append(1) or len(nothing))
    return list(map(deepcopy, [x], [memo]))
---
from functools import wraps
from types import SimpleNamespace
def f(x):
    fake = SimpleNamespace(**{"__builtins__": {"sum": len}})
    @wraps(fake, assigned=(), updated=("__builtins__",))
    def g():
        pass
    return sum(x)
---
from collections import UserDict
from statistics import mean
def f(x):
    UserDict.__init__(mean)
    return hasattr(mean, "data")
---
from collections import UserDict
from statistics import mean
def f(x):
    kind = UserDict
    kind.__init__(mean)
    return hasattr(mean, "data")
---
import difflib
from statistics import mean
def f(x):
    difflib.SequenceMatcher.set_seq1(mean, "a")
    return hasattr(mean, "a")
---
from difflib import SequenceMatcher
from statistics import mean
class A(SequenceMatcher):
    pass
def f(x):
    A.set_seq1(mean, "a")
    return hasattr(mean, "a")
---
from difflib import SequenceMatcher
from statistics import mean
from types import SimpleNamespace
s = SimpleNamespace(T=SequenceMatcher)
class A(s.T):
    pass
def f(x):
    A.set_seq1(mean, "a")
    return hasattr(mean, "a")
---
import re
from statistics import mean
def f(x):
    [re.error][0].__init__(mean, "a")
    return hasattr(mean, "msg")
---
class A:
    def __radd__(self, other):
        return other
import math
math += A()
def f(x): return math.pi
---
def g():
    from math import pi as exec
    return exec
def f(x): return exec("1")
---
def g():
    from math import pi as type
    return type
def f(x): return type("C", (), {})
---
class A:
    def __radd__(self, other):
        return other
exec += A()
def f(x): return exec("1")
---
class A:
    def __radd__(self, other):
        return other
class B:
    exec += A()
def f(x): return B.exec("1")
---
import json
class Swallow:
    def __enter__(self):
        return self
    def __exit__(self, kind, value, trace):
        kind.n = 1
        return True
def f(x):
    with Swallow():
        json.loads("[")
---
from collections import Counter
class A:
    def __eq__(self, other):
        other.n = 1
def f(x): return type(Counter()) == A()
---
class A:
    def __contains__(self, kind):
        return kind("C", (), {"__del__": print})
def f(x): return type(int) in A()
---
from statistics import mean
def isinstance(a, b):
    b.n = 1
def f(x): return isinstance(x, mean)
---
def str(kind):
    return kind("C", (), {})
def f(x): return str(type(int))
---
def f(x): return f.__repr__()
---
from enum import Enum
class A(Enum):
    a = 1
def g(method):
    method.n = 1
def f(x): g(A.__str__)
""")


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


PASSES = 2_000  # of `while` loops, for each call
left = 0


def tick() -> None:
    global left
    left -= 1
    if left < 0:
        raise TimeoutError


def outcome(function: Any, one: Any) -> Any:
    global left
    left = PASSES
    try:
        return code_bytes(function(one))
    except Exception as error:
        return type(error).__name__


def namespace(source: str) -> dict[str, Any]:
    made: dict[str, Any] = {"__name__": "hypothesis", TICK: tick}
    exec(compiled(ast.parse(source), "while" in source), made)
    return made


def fresh(source: str, entry: str, inputs: list[Any]) -> list[Any]:
    found = []
    for one in inputs:
        random.seed(0)
        found.append(outcome(namespace(source)[entry], json.loads(json.dumps(one))))
    return found


def shared(source: str, entry: str, inputs: list[Any]) -> list[Any]:
    function = namespace(source)[entry]
    return [outcome(function, json.loads(json.dumps(one))) for one in inputs]


# --- what a language model usually writes ---

ORDINARY = sources("""
def f(x):
    return x[::-1]
---
def f(x):
    return sorted(set(x))
---
def f(lst):
    result = []
    for item in lst:
        if item % 2 == 0:
            result.append(item)
    return result
---
def f(nums):
    seen = set()
    out = []
    for n in nums:
        if n not in seen:
            seen.add(n)
            out.append(n)
    return out
---
from collections import Counter

def f(x):
    counts = Counter(x)
    return [k for k, v in counts.items() if v == max(counts.values())]
---
from typing import List

def f(numbers: List[int]) -> List[int]:
    \"\"\"Keeps what exceeds the mean.\"\"\"
    mean = sum(numbers) / len(numbers)
    return [n for n in numbers if n > mean]
---
def is_prime(n):
    if n < 2:
        return False
    for d in range(2, int(n ** 0.5) + 1):
        if n % d == 0:
            return False
    return True

def f(x):
    return [n for n in x if is_prime(n)]
---
import math

def f(x):
    return [int(math.sqrt(v)) ** 2 == v for v in x if v >= 0]
---
def f(input):
    if not input:
        return []
    return input[1:] + [input[0]]
---
def f(x):
    return list(map(lambda v: v * 2, filter(lambda v: v > 3, x)))
---
def f(x):
    total = 0
    out = []
    for i, v in enumerate(x):
        total += v
        out.append(total)
    return out
---
import itertools

def f(x):
    return [len(list(group)) for _, group in itertools.groupby(x)]
---
from itertools import accumulate
from operator import mul

def f(x):
    return list(accumulate(x, mul))
---
VOWELS = "aeiou"

def f(words):
    return [sum(c in VOWELS for c in w) for w in words]
---
VOWELS = set("aeiou")

def f(s):
    return "".join(c for c in s if c.lower() not in VOWELS)
---
PRIMES = [2, 3, 5, 7, 11, 13]

def f(x):
    return [v for v in x if v in PRIMES]
---
PRIMES = [n for n in range(2, 100) if all(n % d for d in range(2, n))]

def f(x):
    return [PRIMES[v % len(PRIMES)] for v in x]
---
MAPPING = {1: "one", 2: "two", 3: "three"}

def f(x):
    return [MAPPING.get(v, str(v)) for v in x]
---
DIRECTIONS = [(0, 1), (1, 0), (0, -1), (-1, 0)]

def f(grid):
    count = 0
    for r, row in enumerate(grid):
        for c, v in enumerate(row):
            for dr, dc in DIRECTIONS:
                rr, cc = r + dr, c + dc
                if 0 <= rr < len(grid) and 0 <= cc < len(row) and grid[rr][cc] == v:
                    count += 1
    return count
---
def f(x):
    if len(x) == 0:
        return []
    m = min(x)
    x.remove(m)
    return [m] + f(x)
---
def f(x):
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)
    return [fib(abs(v) % 15) for v in x]
---
def f(x):
    memo = {}
    def fib(n):
        if n in memo:
            return memo[n]
        memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
        return memo[n]
    return [fib(abs(v) % 30) for v in x]
---
def f(x):
    from functools import lru_cache
    @lru_cache(None)
    def ways(n):
        return 1 if n < 2 else ways(n - 1) + ways(n - 2)
    return [ways(abs(v) % 30) for v in x]
---
from functools import reduce

def f(x):
    return reduce(lambda a, b: a * 10 + b, x, 0)
---
def f(x):
    while len(x) > 1 and x[0] == x[-1]:
        x = x[1:-1]
    return x
---
def f(x):
    try:
        return x[x[0]]
    except (IndexError, TypeError):
        return None
---
def f(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x
---
import re

def f(s):
    return re.sub(r"\\d+", lambda m: str(int(m.group()) + 1), s)
---
import re

NUMBER = re.compile(r"-?\\d+")

def f(s):
    return [int(t) for t in NUMBER.findall(s)]
---
import string

def f(s):
    table = str.maketrans(string.ascii_lowercase, string.ascii_lowercase[13:] + string.ascii_lowercase[:13])
    return s.translate(table)
---
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
POSITION = {c: i for i, c in enumerate(ALPHABET)}

def f(s):
    return [POSITION[c] for c in s if c in POSITION]
---
def f(x):
    return {"min": min(x), "max": max(x), "range": max(x) - min(x)}
---
from collections import defaultdict

def f(x):
    groups = defaultdict(list)
    for v in x:
        groups[v % 3].append(v)
    return [groups[k] for k in sorted(groups)]
---
from collections import deque

def f(x):
    queue = deque(x)
    queue.rotate(2)
    return list(queue)
---
import heapq

def f(x):
    heap = list(x)
    heapq.heapify(heap)
    return [heapq.heappop(heap) for _ in range(min(3, len(heap)))]
---
from bisect import bisect_left

def f(x):
    tails = []
    for v in x:
        at = bisect_left(tails, v)
        tails[at:at + 1] = [v]
    return len(tails)
---
import copy

def f(x):
    y = copy.deepcopy(x)
    y.sort(key=lambda v: (-v, v))
    return y
---
def f(x):
    return [a + b for a, b in zip(x, x[1:])]
---
def f(x):
    evens, odds = [v for v in x if v % 2 == 0], [v for v in x if v % 2]
    return evens + odds
---
def f(x: list[int], k: int = 3) -> list[int]:
    return x[k:] + x[:k]
---
def f(x):
    return "{:03d}-{}".format(len(x), sum(x))
---
def f(x):
    return f"{sum(x):.2f}/{len(x)}"
---
def f(x):
    return "%d items, %s" % (len(x), x[0])
---
from typing import Any, Dict, List, Optional, Tuple, Union

Number = Union[int, float]

def helper(a: Number, b: Optional[Number] = None) -> Tuple[Number, Number]:
    return (a, a if b is None else b)

def f(x: List[Any]) -> Dict[str, Any]:
    low, high = helper(min(x), max(x))
    return {"low": low, "high": high}
---
def flatten(x):
    out = []
    for v in x:
        if isinstance(v, list):
            out.extend(flatten(v))
        else:
            out.append(v)
    return out

def f(x):
    return flatten(x)
---
def flatten(x):
    for v in x:
        if hasattr(v, "__iter__") and not isinstance(v, str):
            yield from flatten(v)
        else:
            yield v

def f(x):
    return list(flatten(x))
---
def f(x):
    match x:
        case []:
            return 0
        case [a]:
            return a
        case [a, *rest]:
            return a + len(rest)
---
def f(x):
    if (n := len(x)) > 3:
        return n
    return sum(x)
---
f = lambda x: [v for v in x if v]
---
def f(x):
    stack = []
    for c in x:
        if c in "([{":
            stack.append(c)
        elif not stack or {"(": ")", "[": "]", "{": "}"}[stack.pop()] != c:
            return False
    return not stack
---
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a

def f(x):
    g = 0
    for v in x:
        g = gcd(g, v)
    return [v // g for v in x] if g else x
---
import statistics

def f(x):
    return statistics.median(x) if x else None
---
def f(x):
    return type(x[0]).__name__ if x else "none"
---
def f(x):
    return [v for v in x if type(v) is int or type(v) == str]
---
def f(x):
    return [list(t) for t in zip(*x)]
---
MOD = 10 ** 9 + 7
LIMIT = float("inf")
EMPTY = ()

def f(x):
    best = -LIMIT
    for v in x:
        best = max(best, v)
    return [best % MOD if best > -LIMIT else None, *EMPTY]
---
OPS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}

def f(x):
    total = x[0]
    for op, v in zip("+-*", x[1:]):
        total = OPS[op](total, v)
    return total
---
def double(v):
    return v * 2

def square(v):
    return v * v

STEPS = [double, square]

def f(x):
    for step in STEPS:
        x = [step(v) for v in x]
    return x
---
def f(x):
    return [v + 1 for v in x]

if __name__ == "__main__":
    import sys
    print(f([1, 2, 3]), sys.argv)
---
def f(x):
    return x[:3]

examples = [[1, 2, 3, 4], [5]]
assert f(examples[0]) == [1, 2, 3]
print(f([1, 2, 3, 4]))
---
from collections import namedtuple

Pair = namedtuple("Pair", ["value", "index"])

def f(x):
    pairs = [Pair(v, i) for i, v in enumerate(x)]
    return [p.index for p in sorted(pairs)]
---
from fractions import Fraction

def f(x):
    return str(sum(Fraction(1, v) for v in x if v))
---
def f(x):
    id = 0
    for hash in x:
        id = (id * 31 + hash) % 1000
    return id
---
def f(x):
    counter = 0
    def visit(v):
        nonlocal counter
        counter += v
    for v in x:
        visit(v)
    return counter
---
import datetime

def f(x):
    return (datetime.date(2020, 1, 1) + datetime.timedelta(days=len(x))).isoformat()
---
from math import *

def f(x):
    return [floor(v) for v in x]
---
from dataclasses import dataclass

@dataclass
class Item:
    value: int
    rank: int = 0

def f(x):
    items = [Item(v, i) for i, v in enumerate(x)]
    items.sort(key=lambda item: (item.value, item.rank))
    return [item.rank for item in items]
---
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next

def f(x):
    head = None
    for v in x:
        head = Node(v, head)
    out = []
    while head is not None:
        out.append(head.value)
        head = head.next
    return out
---
from functools import lru_cache

@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def f(x):
    return [fib(abs(v) % 20) for v in x]
---
class Solution:
    def solve(self, x):
        return self._twice(sorted(x))

    def _twice(self, x):
        return [2 * v for v in x]

def f(x):
    return Solution().solve(x)
""")
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
    texts = [read_answer(answer, "fenced_function").text for answer in answers]
    judged = [judge(text, "fn") for text in texts]
    assert Counter(judged) == {STATELESS: 1_104, BEYOND: 1}
    assert "numpy" in texts[judged.index(BEYOND)]
    for text in sorted(set(texts)):
        if judge(text, "fn") is STATELESS:
            alone = fresh(text, "fn", LISTS)
            assert shared(text, "fn", LISTS[::-1]) == alone[::-1], text


# --- the list of modules ---

MUTABLE = (list, dict, set, bytearray, types.ModuleType)


def test_a_permitted_name_is_no_module_and_no_container_and_holds_none() -> None:
    for module, names in harmless.PERMITTED.items():
        real = importlib.import_module(module)
        present = [name for name in names if hasattr(real, name)]
        assert len(present) >= 0.8 * len(names), module
        for name in present:
            value = getattr(real, name)
            assert not isinstance(value, MUTABLE), (module, name)
            assert not hasattr(value, "cache_info"), (module, name)
            if isinstance(value, type):
                for at in dir(value):
                    if not at.startswith("_") and (module, name) != ("typing", "Any"):
                        assert not isinstance(getattr(value, at, None), MUTABLE), (module, name, at)
            if f"{module}.{name}" in harmless.CONSTANTS:
                assert type(value) in (int, float, complex, str)


def stores(code: types.CodeType) -> bool:
    return any(
        at.opname in ("STORE_ATTR", "DELETE_ATTR") for at in dis.get_instructions(code)
    ) or any(stores(one) for one in code.co_consts if isinstance(one, types.CodeType))


def test_foreign_classes_that_set_attributes_of_any_object_are_known() -> None:
    """Their methods could be called with a foreign function as `self`. The others: enumerations and
    typing are never values, those of C and of checked methods refuse a `self` of another type."""
    known = {"fractions.Fraction", "functools.cached_property", "random.Random"}
    for module, names in harmless.PERMITTED.items():
        for name in names:
            kind = getattr(importlib.import_module(module), name, None)
            if isinstance(kind, type) and module not in ("enum", "typing"):
                methods = [m for at in kind.__mro__ for m in vars(at).values()]
                found = [
                    m for m in methods if isinstance(m, types.FunctionType) and stores(m.__code__)
                ]
                assert not found or f"{module}.{name}" in known | state._SETTERS, (name, found)


def test_foreign_functions_share_no_mutable_default() -> None:
    for module, names in harmless.PERMITTED.items():
        for name in names:
            value = getattr(importlib.import_module(module), name, None)
            for one in [value, *(vars(value).values() if isinstance(value, type) else [])]:
                if isinstance(one, types.FunctionType) and name != "deepcopy":
                    every = [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
                    assert not any(isinstance(default, MUTABLE) for default in every), (
                        module,
                        name,
                    )


def test_all_preloaded_modules_exist_and_nothing_is_imported_by_the_common_functions() -> None:
    calls = """
import json, sys
for name in json.loads(sys.argv[1]):
    __import__(name)
before = set(sys.modules)
import ast, base64, calendar, copy, datetime, decimal, difflib, fractions, functools, json, random, re
import statistics, string, textwrap, typing, unicodedata, dataclasses, collections, enum
datetime.datetime.strptime("2020-01-02", "%Y-%m-%d").strftime("%a")
datetime.date(2020, 1, 2).isoformat(), datetime.date.fromisoformat("2020-01-02")
for codec in ("latin-1", "utf-16", "utf-32", "utf-8-sig", "cp1252", "ascii", "rot13", "hex"):
    import codecs; codecs.lookup(codec)
"a".encode("utf-7"), b"a".decode("cp437"), "a".encode("unicode_escape"), "a".encode("punycode")
statistics.quantiles([1, 2, 3]), statistics.linear_regression([1, 2, 3], [1, 2, 4])
statistics.mode("aab"), statistics.fmean([1, 2]), statistics.pstdev([1, 2])
random.sample(range(9), 3), random.Random(3).gauss(0, 1), random.shuffle([1, 2])
re.sub("(?i)[a-z]+", "b", "abc"), re.compile("a|b", re.X).findall("aab")
json.loads(json.dumps({"a": [1.5, None]}, indent=1, sort_keys=True))
copy.deepcopy({"a": [set([1])]}), copy.copy(collections.deque([1]))
str(decimal.Decimal("1.10").quantize(decimal.Decimal("0.1"))), fractions.Fraction("1/3")
textwrap.fill("a b c", 2), difflib.get_close_matches("a", ["ab"]), list(difflib.ndiff(["a"], ["b"]))
base64.b85encode(b"abc"), unicodedata.normalize("NFKD", "a"), unicodedata.lookup("LATIN SMALL LETTER A")
collections.namedtuple("P", "x y")(1, 2)._asdict(), typing.List[int], calendar.isleap(2020)
dataclasses.asdict(dataclasses.make_dataclass("D", ["x"])(1)), enum.Enum("E", "a b").a
list[int] | None, "{:,.2f}".format(1e9), sorted({1: 2}.items(), key=functools.cmp_to_key(lambda a, b: 0))
"\\N{DIGIT ONE}".encode().decode("unicode_escape")
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", calls.replace("\\\\", "\\"),
         json.dumps(harmless.PRELOADED)],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == []


def test_it_loads_beside_the_harness_as_a_plain_file() -> None:
    folder = str(Path(state.__file__).parent)
    code = f"""
import sys
sys.path.insert(0, {folder!r})
import ast, harmless, state
print(int(state.reach(ast.parse("def f(x, a=[]): return a"), "f")), len(state.PRELOADED) > 30)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == "1 True\n"


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


# --- what the class says, against what happens ---


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


@settings(deadline=None, max_examples=300)
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
            judged[reach(ast.parse(source), "f")] += 1
            held += shared(source, "f", GIVEN) != fresh(source, "f", GIVEN)
        except Exception:
            continue
    assert judged[STATELESS] > 20 and judged[OWN] > 100 and held > 15
