"""What every backend answers alike where a limit is reached and where a function keeps state; the rest of
what backends answer alike: test_conformance.py."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from batches import IDENTITY, TEN, TIGHT, result, values
from peirce.records import Batch, InputSet, Limits

SPIN = "def f(x):\n    for _ in range(10**12): pass"
ONE = InputSet("one", ([1],))
SPARE = Limits(wall_s=60, input_cpu_s=50, cpu_s=50)


# --- limits ------------------------------------------------------------------

VERDICTS = {
    "ok": IDENTITY,
    "syntax": "def f(",
    "no_function": "def g(x):\n    return x",
    "too_slow": "def f(x):\n    return sum(range(10**15))",
    "memory": "kept = [0] * 10**9\ndef f(x):\n    return x",
    "output_too_large": "def f(x):\n    return 'x' * 30_000",
    "protocol": "import os\ndef f(x):\n    os.write(3, b'[1, 2, 3]' * 10)\n    os._exit(0)",
    "crashed": "import os\ndef f(x):\n    os._exit(0)",
    "nondeterministic": "import time\ndef f(x):\n    return time.time_ns()",
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_is_told_apart(served: Any, verdict: str) -> None:
    batch = served.run(VERDICTS[verdict], TEN, limits=TIGHT)
    assert batch.verdict == verdict, batch.detail
    assert batch.limited == (verdict in ("too_slow", "memory", "output_too_large"))
    assert batch.codes.shape == batch.reasons.shape == (10,)
    if verdict != "ok":
        assert batch.values is None and not batch.codes.any()
        assert batch.reasons.tolist() == [1] * 10 and batch.reason_names == (verdict,)


DEATHS = {
    "a signal of its own timer": ("import signal\ndef f(x):\n    signal.signal(27, signal.SIG_DFL)\n    for _ in iter(int, 1):\n        pass", "signal 27"),
    "a null pointer": ("import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return sorted([x], key=f)", "signal 11"),
    "an exit with success": ("import os\ndef f(x):\n    os._exit(0)", "status 0"),
    "an exit with failure": ("import os\ndef f(x):\n    os._exit(7)", "status 7"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEATHS)
def test_a_death_is_a_crash_and_no_timeout(served: Any, name: str) -> None:
    source, detail = DEATHS[name]
    batch = served.run(source, TEN, limits=Limits(wall_s=20))
    assert batch.verdict == "crashed" and detail in batch.detail and not batch.limited


LIMITED = {
    "steps": ("def f(x):\n    while x[0] == 3:\n        pass\n    return x[0]", True),
    "timeout": ("def f(x):\n    for _ in (iter(int, 1) if x[0] == 3 else []):\n        pass\n    return x[0]", True),
    "MemoryError": ("def f(x):\n    if x[0] == 3:\n        return [0] * 10**9\n    return x[0]", True),
    "RecursionError": ("def f(x):\n    return f(x) if x[0] == 3 else x[0]", True),
    "too_large": ("def f(x):\n    return 'x' * 200_000 if x[0] == 3 else x[0]", True),
    "IndexError": ("def f(x):\n    return x[9] if x[0] == 3 else x[0]", False),
    "unrepresentable": ("def f(x):\n    return {1} if x[0] == 3 else x[0]", False),
    "exit": ("def f(x):\n    return exec('raise SystemExit') if x[0] == 3 else x[0]", False),
    "Exception": ("class Own(KeyError): pass\ndef f(x):\n    if x[0] == 3: raise Own\n    return x[0]", False),
}  # fmt: skip


@pytest.mark.parametrize("reason", LIMITED)
def test_a_limit_on_one_input_is_its_reason_and_the_rest_has_values(
    served: Any, reason: str
) -> None:
    source, limited = LIMITED[reason]
    batch = served.run(source, TEN, limits=replace(TIGHT, cpu_s=4, wall_s=10))
    assert values(batch) == [0, 1, 2, reason, 4, 5, 6, 7, 8, 9]
    assert batch.limited is limited and batch.reason_names == (reason,)


def test_endless_loops_on_many_inputs_end_the_batch_after_a_count_and_not_by_a_clock(
    served: Any,
) -> None:
    source = "def f(x):\n    while x[0] > 3:\n        pass\n    return x"
    six_times = replace(TIGHT, batch_loop_steps=6 * TIGHT.loop_steps)
    one_less = replace(TIGHT, batch_loop_steps=5 * TIGHT.loop_steps - 1)
    ended, cut = (served.run(source, TEN, limits=limits) for limits in (six_times, one_less))
    assert values(ended) == [[n, n + 1] if n < 4 else "steps" for n in range(10)]
    assert cut.verdict == "too_slow" and "passes" in cut.detail and cut.limited


def test_deep_recursion_is_undefined_and_a_legal_depth_is_not(served: Any) -> None:
    source = "def f(x):\n    def g(n):\n        return 0 if n == 0 else 1 + g(n - 1)\n    return g(x[0] * 200)"
    batch = served.run(source, TEN, limits=TIGHT)
    assert values(batch) == [0, 200, 400, 600, 800] + ["RecursionError"] * 5


def test_memory_that_is_kept_from_call_to_call_runs_out(served: Any) -> None:
    source = "import math\ndef f(x):\n    math.kept = [getattr(math, 'kept', None), bytearray(2**25)]\n    return x[0]"
    batch = served.run(source, TEN, limits=TIGHT)
    if batch.verdict == "ok":  # a module is beyond a namespace, so the inputs are run again
        assert batch.limited and set(values(batch)) <= {*range(10), "MemoryError"}
    else:
        assert batch.verdict in ("memory", "nondeterministic")


def test_outputs_may_be_many_in_codes_where_they_are_too_many_as_values(served: Any) -> None:
    flood = InputSet("many", tuple([n] for n in range(100)))
    source = "def f(x):\n    return 'x' * 10_000"
    assert served.run(source, flood, limits=TIGHT).verdict == "output_too_large"
    batch = served.run(source, flood, "codes", TIGHT)
    assert batch.verdict == "ok" and len(set(batch.codes.tolist())) == 1 and not batch.limited


def test_floods_of_print_and_of_stderr_go_nowhere_and_stdin_is_empty(served: Any) -> None:
    source = "import sys\ndef f(x):\n    print('x' * 10**6)\n    sys.stderr.write('y' * 10**6)\n    return input() if x[0] == 3 else x[0]"
    assert values(served.run(source, TEN, limits=TIGHT)) == [0, 1, 2, "EOFError", *range(4, 10)]


def test_the_time_of_a_batch_is_told_and_bounded(served: Any) -> None:
    busy = served.run("def f(x):\n    return sum(range(3_000_000))", TEN, limits=Limits())
    assert 0.05 < busy.cpu_s < 20
    start = time.monotonic()
    slow = served.run(SPIN, TEN, limits=replace(SPARE, wall_s=0.5))
    assert (slow.verdict, slow.detail, slow.limited) == ("too_slow", "wall time", True)
    assert time.monotonic() - start < 30


# --- state -------------------------------------------------------------------

STATE = {
    "a global counter": "count = 0\ndef f(x):\n    global count\n    count += 1\n    return [count, x]",
    "a list of the module": "seen = []\ndef f(x):\n    seen.append(x[0])\n    return [len(seen), seen]",
    "a table of the module": "table = {}\ndef f(x):\n    table.setdefault(x[0] % 3, len(table))\n    return [table[x[0] % 3], list(table)]",
    "a mutable default": "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)",
    "a keyword's default": "def f(x, *, seen={}):\n    seen[len(seen)] = 1\n    return len(seen)",
    "a closure": "def make():\n    n = 0\n    def g(x):\n        nonlocal n\n        n += x[0]\n        return n\n    return g\nf = make()",
    "an attribute of the function": "def f(x):\n    f.calls = getattr(f, 'calls', 0) + 1\n    return f.calls",
    "a class attribute": "class Box:\n    count = 0\ndef f(x):\n    Box.count += 1\n    return Box.count",
    "an object": "class Box:\n    def __init__(self):\n        self.n = 0\nbox = Box()\ndef f(x):\n    box.n += 1\n    return box.n",
    "a generator": "def numbers():\n    n = 0\n    while True:\n        yield n\n        n += 1\nsource = numbers()\ndef f(x):\n    return next(source)",
    "an iterator": "import itertools\ncount = itertools.count()\ndef f(x):\n    return next(count)",
    "a cache": "from functools import lru_cache\n@lru_cache(None)\ndef g(n):\n    return [n]\ndef f(x):\n    g(x[0] % 2).append(1)\n    return g(x[0] % 2)",
    "a cache with one key for 1 and True": "from functools import cache\n@cache\ndef g(n):\n    return str(n)\ndef f(x):\n    return g(x[0] == 1 if x[0] % 2 else 1)",
    "an order of insertion": "kept = {}\ndef f(x):\n    kept[x[0]] = None\n    return list(kept)",
    "random without a seed": "import random\ndef f(x):\n    return [random.random(), random.randrange(10**9), random.sample(range(99), 3)]",
    "random with a seed": "import random\nrandom.seed(7)\ndef f(x):\n    return random.random()",
    "random with a seed in each call": "import random\ndef f(x):\n    random.seed(x[0])\n    random.shuffle(x)\n    return [x, random.random()]",
    "a generator of random numbers": "import random\nr = random.Random(3)\ndef f(x):\n    return r.randrange(10**9)",
    "from random": "from random import choice, shuffle\ndef f(x):\n    return choice(range(10**6))",
    "the order of a set of texts": "def f(x):\n    return list({'a', 'b', 'c', str(x[0]), 'd' * x[0]})",
    "the order of a set with None": "def f(x):\n    return list({None, 1, 'a', x[0], (1, None), True, 2.5})",
    "hashes": "def f(x):\n    return [hash('a'), hash((1, 'b')), hash(None), hash(1.5)]",
    "changed inputs": "def f(x):\n    x.append(9)\n    x[0] = -1\n    return x",
    "what it was told before": "last = None\ndef f(x):\n    global last\n    before, last = last, x\n    return before",
    "a memo by hand": "memo = {0: 1}\ndef f(x):\n    n = max(memo)\n    memo[x[0]] = n\n    return n",
    "nothing but a table": "table = {0: 'a', 1: 'b'}\ndef f(x):\n    return table.get(x[0], '?')",
}  # fmt: skip
SPACE = tuple([n % 13, n, n * n] for n in range(60))
BACKWARDS = tuple(reversed(SPACE))
SHUFFLED = tuple(sorted(SPACE, key=lambda x: (x[1] * 37) % 61))


def by_input(batch: Batch, inputs: tuple[Any, ...]) -> dict[str, Any]:
    codes, reasons = result(batch)
    return {str(x): (code, reason) for x, code, reason in zip(inputs, codes, reasons, strict=True)}


def test_a_function_with_state_predicts_the_same_in_any_order_and_on_any_number_of_workers(
    opening: Any,
) -> None:
    orders = {"as it is": SPACE, "backwards": BACKWARDS, "shuffled": SHUFFLED, "alone": SPACE[7:8]}
    sets = {name: InputSet(name, inputs) for name, inputs in orders.items()}

    async def session(workers: int) -> dict[tuple[str, str], dict[str, Any]]:
        async with opening(workers, tuple(sets.values())) as sandbox:
            cases = [(name, order) for name in STATE for order in orders]
            batches = await asyncio.gather(
                *(sandbox.run(STATE[n], "f", sets[o].digest, "codes", SPARE) for n, o in cases)
            )
            return {
                (name, order): by_input(batch, orders[order])
                for (name, order), batch in zip(cases, batches, strict=True)
            }

    one, two, three = (asyncio.run(session(workers)) for workers in (1, 2, 3))
    assert one == two == three
    for name in STATE:
        for order in ("backwards", "shuffled"):
            assert one[name, order] == one[name, "as it is"], name
        assert one[name, "alone"].items() <= one[name, "as it is"].items(), name


UNFORESEEN = {
    "the clock": "import time\ndef f(x):\n    return time.time_ns()",
    "an address": "def f(x):\n    return id([])",
    "the hash of an object": "def f(x):\n    return hash(object())",
    "entropy": "import os\ndef f(x):\n    return list(os.urandom(8))",
    "the system's random numbers": "import random\ndef f(x):\n    return random.SystemRandom().random()",
    "a text with an address": "def f(x):\n    return str(object())",
    "a text with a function's address": "def f(x):\n    return f'{f}'",
    "a count in a module": "import math\ndef f(x):\n    math.count = getattr(math, 'count', 0) + 1\n    return math.count",
    "the time of the processor": "import time\ndef f(x):\n    return time.process_time_ns()",
}  # fmt: skip


@pytest.mark.parametrize("name", UNFORESEEN)
def test_what_cannot_be_foreseen_is_marked_or_undefined_and_never_a_value(
    served: Any, name: str
) -> None:
    for keep in ("codes", "values"):
        batch = served.run(UNFORESEEN[name], TEN, keep)
        if batch.verdict == "ok":
            assert (batch.reasons > 0).all() and not batch.codes.any(), batch
        else:
            assert batch.verdict == "nondeterministic" and "again" in batch.detail


BY_ADDRESS = {
    "exceptions": "def f(x):\n    return [e.args[0] for e in {ValueError(i) for i in range(12)}]",
    "matches": "import re\ndef f(x):\n    return [m.group() for m in set(re.finditer('.', 'abcdefghijkl' * 2))]",
    "iterators": "def f(x):\n    return [next(i) for i in set(map(iter, 'abcdefghijkl'))]",
    "partial functions": "from functools import partial\ndef f(x):\n    return [p.args[0] for p in {partial(len, i) for i in range(12)}]",
    "generators": "def f(x):\n    return [next(i) for i in {(j for _ in (1,)) for j in range(12)}]",
}  # fmt: skip


@pytest.mark.parametrize("name", BY_ADDRESS)
def test_a_set_in_the_order_of_addresses_is_noticed_or_always_the_same(
    served: Any, name: str
) -> None:
    source = BY_ADDRESS[name].replace(
        "def f(x):\n",
        "def f(x):\n    junk = [(i, [i], {i: i}, iter('a')) for i in range(x % 7 * 13)]\n",
    )
    found = set()
    for inputs in ((5, 1), (5, 3, 2, 6, 1), (1,)):
        batch = served.run(source, InputSet("", inputs))
        found.add(batch.verdict if batch.verdict != "ok" else str(values(batch)[-1]))
    assert len(found - {"nondeterministic"}) <= 1, found


DEEP = """
import re
from collections.abc import Mapping
def g(k):
    if k == 0:
        return USE
    return g(k - 1)
def f(n):
    return g(n)
"""


@pytest.mark.parametrize("use", ["re.match('(a(b(c|d)+)?)*', 'abc').end()", "isinstance(3.5, Mapping)"])  # fmt: skip
def test_a_filled_cache_does_not_let_an_input_recurse_deeper(served: Any, use: str) -> None:
    source = DEEP.replace("USE", use)
    for deep in range(977, 998, 4):
        alone = values(served.run(source, InputSet("", (deep,))))
        assert values(served.run(source, InputSet("", (1, deep))))[1] == alone[0], deep
        assert values(served.run(source, InputSet("", (1, 2, deep, 3))))[2] == alone[0], deep


def test_a_text_of_its_own_class_does_not_answer_for_a_later_input(served: Any) -> None:
    """`re` keeps templates by their equality, and such a text reads as another than it equals."""
    source = (
        "import re\ndef f(x):\n    class S(str):\n        def __getitem__(self, i):\n"
        "            return (x + '.')[i]\n    return re.sub('a', S('\\\\1 key.'), 'a')"
    )
    one, two = (
        values(served.run(source, InputSet("", s))) for s in (("one", "two"), ("two", "one"))
    )
    assert one == two[::-1]


LOOKING_LIKE_ONE = "meet at 0xdeadbeef, or at 0xDEADBEEF"


@pytest.mark.parametrize("equality", [None, {"strings": {"ignore": ["case"]}}])
def test_values_and_codes_agree_on_what_is_the_text_of_an_address(
    served: Any, equality: Any
) -> None:
    """It is one unless the input or the source has the same text."""
    both = InputSet("", (LOOKING_LIKE_ONE, [LOOKING_LIKE_ONE, 1], "at 0xdeadbee", "nothing"))
    error = "def f(x):\n    try:\n        [].index(iter([x]))\n    except ValueError as e:\n        return e.args[0]"
    constant = f"def f(x):\n    return {LOOKING_LIKE_ONE!r}"
    made = "def f(x):\n    return 'look a' + 't 0xdeadbeef'"
    for source, reasons in {
        IDENTITY: ["", "", "", ""],
        error: ["nondeterministic"] * 4,
        constant: ["", "", "", ""],
        made: ["", "", "nondeterministic", "nondeterministic"],
    }.items():
        for keep in ("values", "codes"):
            batch = served.run(source, both, keep, equality=equality)
            assert result(batch)[1] == reasons, (source, keep, batch)


COUNT = (
    "import math\ndef f(x):\n    math.count = getattr(math, 'count', 0) + 1\n    return math.count"
)
TOGGLE = (
    "import math\ndef f(x):\n    math.odd = not getattr(math, 'odd', False)\n    return math.odd"
)
LAST = "import math\ndef f(x):\n    before, math.last = getattr(math, 'last', x), x\n    return [before]"


@pytest.mark.parametrize("source", [COUNT, TOGGLE, LAST])
def test_a_dependence_on_earlier_calls_is_noticed_with_however_few_inputs(
    served: Any, source: str
) -> None:
    for count in (1, 2, 3, 4, 5, 8, 9):
        if count == 1 and source is LAST:
            continue  # Its one input is the same each time.
        few = InputSet("few", tuple(range(count)))
        for pad in range(3):  # The order must not depend on the text of the source.
            batch = served.run(source + "\n#" + "x" * pad, few)
            assert batch.verdict == "nondeterministic", (count, batch)
    assert values(served.run("import math\ndef f(x):\n    return [x, id(math) > 0]", TEN)) == [
        [x, True] for x in TEN.inputs
    ]


HOSTILE_CLASS = """
class Kind(type):
    def __hash__(cls):
        HASH
    def __eq__(cls, other):
        return EQUAL
class Own(Exception, metaclass=Kind):
    pass
def f(x):
    if x[0] % 2:
        raise Own
    return x[0]
"""


@pytest.mark.parametrize("equal", ["True", "cls is other", "1 / 0"])
@pytest.mark.parametrize(
    "code", ["raise KeyError", "raise SystemExit", "raise MemoryError", "return hash(ValueError)"]
)
def test_the_reason_of_an_exception_is_told_without_code_of_its_class(
    served: Any, code: str, equal: str
) -> None:
    source = HOSTILE_CLASS.replace("HASH", code).replace("EQUAL", equal)
    assert values(served.run(source, TEN)) == [
        "Exception" if x[0] % 2 else x[0] for x in TEN.inputs
    ]


CURIOUS = """
import sys
SKIPPED = ("abort", "_exit", "close", "pause", "raise", "sigwait", "times")  # times: what lies on the stack
def f(x):
    told = []
    for module in ("posix", "_signal", "resource", "_thread", "time"):
        for name, ask in sorted(vars(sys.modules[module]).items()):
            if name.startswith(SKIPPED) or not callable(ask) or isinstance(ask, type):
                continue
            if module == "time" and name != "clock_gettime_ns":
                continue
            for given in ((), (0,), (1,), (2,), (3,), (-10,), (-14,), (".",)):
                if module == "time" and given in ((0,), (1,), (2,), (3,)):
                    continue
                try:
                    answer = ask(*given)
                except BaseException as error:
                    answer = type(error).__name__
                if isinstance(answer, (int, float, str, bytes, tuple, list)):
                    told.append([module + "." + name, str(given), str(answer)])
    return told
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the functions of Linux")
def test_no_answer_of_the_system_counts_what_ran_before(opening: Any) -> None:
    """Whatever a hypothesis asks of the system, it is told the same after any other hypotheses and on
    any worker. Clocks of its own are left out."""
    large = InputSet("large", tuple([n, "x" * 100] for n in range(300)))

    async def session() -> list[Any]:
        async with opening(2, (ONE, large)) as sandbox:
            found = []
            for _ in range(3):
                batches = await asyncio.gather(
                    *(sandbox.run(CURIOUS, "f", ONE.digest, "values", SPARE) for _ in range(2))
                )
                found += [values(batch)[0] for batch in batches]
                for source in (IDENTITY, "def f("):
                    await sandbox.run(source, "f", large.digest, "codes", SPARE)
            return found

    first, *others = asyncio.run(session())
    assert len(first) > 500
    for other in others:
        assert [one for one in other if one not in first] == []
