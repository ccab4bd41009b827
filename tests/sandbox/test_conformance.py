"""What every backend answers alike: values, codes, verdicts, limits, state. The service as such:
test_service.py.

Attacks are in tests/hostile, what is one backend's own in the files beside this one.

Internals: what backends answer is compared with the loop over inputs run in this process.
"""

from __future__ import annotations

import asyncio
import builtins
import copy
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peirce.records import Batch, InputSet, Limits
from peirce.sandbox import Unrepresentable, code_of
from peirce.sandbox.inside.tolerance import coder, normaliser
from peirce.sandbox.inside.trial import Inputs, Trial

TEN = InputSet("ten", tuple([n, n + 1] for n in range(10)))
TIGHT = Limits(
    loop_steps=2_000, input_cpu_s=0.1, cpu_s=1.0, wall_s=4.0, memory_mb=128, output_bytes=200_000
)
IDENTITY = "def f(x):\n    return x"
SPIN = "def f(x):\n    for _ in range(10**12): pass"
SPARE = Limits(wall_s=60, input_cpu_s=50, cpu_s=50)


def values(batch: Batch) -> list[Any]:
    assert batch.verdict == "ok" and batch.values is not None, (batch.verdict, batch.detail)
    return [v.get("value", v.get("undefined")) for v in batch.values]


def result(batch: Batch) -> tuple[Any, ...]:
    """What must not depend on time, place and order."""
    assert batch.verdict == "ok", (batch.verdict, batch.detail)
    return batch.codes.tolist(), [("", *batch.reason_names)[r] for r in batch.reasons]


# --- values and codes --------------------------------------------------------

PROGRAMS = [
    "def f(x):\n    return sorted(x)",
    "def f(x):\n    return (len(x), {'sum': sum(x)}, None, True)",
    "def f(x):\n    return x[0] // (x[1] - 3)",
    "def f(x):\n    return {v: [i for i, w in enumerate(x) if w == v] for v in x}",
    "import math\nfrom collections import Counter\ndef f(x):\n    return [math.sqrt(x[0]), Counter(x).most_common(1)]",
    "def g(n):\n    return n if n < 2 else g(n - 1) + g(n - 2)\ndef f(x):\n    return g(x[0] % 12)",
    "def f(x):\n    x.append(x.pop(0))\n    return x",
    "def f(x):\n    n, out = x[0], []\n    while n > 1:\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n        out.append(n)\n    return out",
    "class Stack:\n    def __init__(self):\n        self.kept = []\n    def push(self, v):\n        self.kept = [v] + self.kept\n        return self\ndef f(x):\n    return Stack().push(x).push(1).kept",
    "import re\ndef f(x):\n    return re.sub('[0-4]', '', str(x)) + '\\ud800'",
    "from functools import reduce\ndef f(x):\n    return reduce(lambda a, b: a * 31 + b, x, 2**70) / 7",
    "import heapq, itertools, statistics\ndef f(x):\n    return [heapq.nsmallest(2, x), list(itertools.permutations(x[:3])), statistics.mean(x)]",
]


def loop_in_process(source: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    space: dict[str, Any] = {"__name__": "hypothesis"}
    exec(compile(source, "plain", "exec", dont_inherit=True), space)
    codes, reasons = [], []
    for given in inputs:
        try:
            codes.append(code_of(space["f"](copy.deepcopy(given))))
            reasons.append("")
        except Unrepresentable as error:
            codes.append(0)
            reasons.append(error.reason)
        except Exception as error:
            codes.append(0)
            named = type(error) in vars(builtins).values()
            reasons.append(type(error).__name__ if named else "Exception")
    return codes, reasons


def test_codes_are_those_of_a_loop_in_one_process(served: Any) -> None:
    lists = InputSet("lists", (*([n % 11, n % 7, *range(n % 4)] for n in range(150)), [], [5]))
    for source in PROGRAMS:
        found, expected = (
            result(served.run(source, lists, "codes")),
            loop_in_process(source, lists.inputs),
        )
        assert found == expected, source


def test_recorded_hypotheses_have_the_codes_of_a_trial_in_one_process(
    served: Any, shared_data: Path
) -> None:
    with open(shared_data / "gear" / "thirty_hypotheses.json") as file:
        sources = hypotheses(json.load(file))
    assert len(sources) == 30
    lists = InputSet("lists", tuple([n % 5, n % 3, n % 7][: n % 4] for n in range(60)))
    limits = Limits(loop_steps=500)
    for source in sources:
        entry = source.split("def ", 1)[1].split("(", 1)[0].strip()
        trial = Trial(source, entry, "codes", asdict(limits))
        function = trial.compile()
        assert callable(function), function
        trial.run(function, Inputs(json.dumps(lists.inputs).encode()))
        header, body = trial.outcome()
        names = ("", *header["reason_names"])
        codes = np.frombuffer(body, "<i8", len(lists), len(lists)).tolist()
        found = result(served.run(source, lists, "codes", limits, entry))
        assert found == (codes, [names[r] for r in body[: len(lists)]]), source


def hypotheses(found: Any) -> list[str]:
    """The sources in a JSON value, wherever they stand in it."""
    if isinstance(found, str):
        return [found] if "def " in found else []
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [source for value in inner for source in hypotheses(value)]


def test_values_and_codes_tell_the_same(served: Any) -> None:
    source = "def f(x):\n    return (x[0], {x[1]: float('nan')}) if x[0] % 2 else x[5]"
    kept, coded = served.run(source, TEN), served.run(source, TEN, "codes")
    assert kept.values is not None and coded.values is None
    assert kept.values[0] == {"undefined": "IndexError"}
    assert kept.values[1] == {"value": [1, {"$dict": [[2, {"$float": "nan"}]]}]}
    assert kept.codes.tolist() == coded.codes.tolist()
    assert kept.reasons.tolist() == coded.reasons.tolist() == [1, 0] * 5
    assert kept.codes[1] == code_of([1, {2: float("nan")}]) and kept.codes[0] == 0
    assert coded.codes.dtype == np.int64 and coded.reasons.dtype == np.uint8
    assert coded.reason_names == ("IndexError",) and not coded.limited


AWKWARD: tuple[Any, ...] = ("\ud800 é \x00", 2**100, -0.5, None, True, [], [[1], {"a": [None]}], {"k": 1},
                            {"\udfff": "\ud800"}, float("inf"), "", " ")  # fmt: skip


def test_awkward_inputs_arrive_as_they_are_and_go_back(served: Any) -> None:
    source = "def f(x):\n    return [x, type(x).__name__]"
    batch = served.run(source, InputSet("awkward", AWKWARD))
    assert batch.codes.tolist() == [code_of([x, type(x).__name__]) for x in AWKWARD]
    assert values(batch)[0] == ["\ud800 é \x00", "str"] and values(batch)[8][0] == AWKWARD[8]
    assert result(served.run(source, InputSet("awkward", AWKWARD), "codes")) == result(batch)


def test_no_inputs_give_an_empty_batch_and_the_module_is_run_all_the_same(served: Any) -> None:
    none = InputSet("none", ())
    for keep in ("values", "codes"):
        batch = served.run(IDENTITY, none, keep)
        assert batch.verdict == "ok" and batch.codes.shape == batch.reasons.shape == (0,)
        assert served.run("1 / 0\n" + IDENTITY, none, keep).verdict == "no_function"


INVALID = {
    "half a character in a string": ("def f(x):\n    return '\ud800'", "syntax"),
    "half a character in a comment": ("# \udcff\ndef f(x):\n    return 1", "syntax"),
    "half a character in a name": ("def f(x\udcff):\n    return 1", "syntax"),
    "a zero byte": ("def f(x):\n    return 1\0", "syntax"),
    "half a character in an error": ("raise ValueError('\\ud800')\ndef f(x): return 1", "no_function"),
    "bytes that are no UTF-8 on stdout": (
        "import sys\ndef f(x):\n    print(chr(0xdcff))\n    sys.stdout.buffer.write(b'\\xff\\xfe')\n    return 1", "ok"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_text_that_is_no_utf8_is_a_verdict_and_no_fault(served: Any, name: str) -> None:
    source, verdict = INVALID[name]
    batch = served.run(source, TEN)
    assert batch.verdict == verdict
    batch.detail.encode()  # it can be stored and shown


def test_letters_of_every_alphabet_may_be_names(served: Any) -> None:
    source = "def f(x):\n    größe, ﬁn, 𝐧, 變數, ª = len(x), 2, 3, 4, 5\n    return [größe, fin, n, 變數, a]"
    assert values(served.run(source, TEN)) == [[2, 2, 3, 4, 5]] * 10


def test_what_the_compiler_warns_of_is_run(served: Any) -> None:
    source = "def f(x):\n    '\\d'\n    assert (x, 'always')\n    return [x is 3, 1or 2, '\\d', 1if x else 2]"
    assert values(served.run(source, TEN)) == [[False, 1, "\\d", 1]] * 10


def test_text_in_common_encodings_and_long_numbers_need_no_file(served: Any) -> None:
    source = """
def f(x):
    codecs = [list('aé'.encode(name)) for name in ('utf-8', 'utf-16-le', 'latin-1', 'cp1252', 'ascii')[:4]]
    return [codecs, len(str(7**20_000)), int('9' * 5_000) % 10, '%d' % 10**5000 != '', 'ß'.upper(), 'İ'.casefold()]
"""
    expected = [[[97, 195, 169], [97, 0, 233, 0], [97, 233], [97, 233]], 16902, 9, True, "SS", "i̇"]
    assert values(served.run(source, TEN)) == [expected] * 10


def test_fifty_mebibytes_of_input_arrive(served: Any) -> None:
    piece = "0123456789abcdef" * 2**16
    large = InputSet("fifty", tuple([piece, n] for n in range(50)))
    source = "def f(x):\n    return [len(x[0]), x[0][-3:], x[1]]"
    for _ in range(2):  # sent, and kept
        batch = served.run(source, large, limits=Limits(memory_mb=1024))
        assert values(batch) == [[2**20, "def", n] for n in range(50)]


# --- a task's own rule of equality ---------------------------------------------

RULES: list[Any] = [
    {"numbers": {"decimals": 1}},
    {"numbers": {"nearest": 0.3}, "strings": {"ignore": ["case", "blanks"]}},
    {"numbers": {"significant": 2}, "lists": {"ignore": "order"}},
    {"lists": {"ignore": "repeats", "at": "everywhere"}},
]
MANY = InputSet(
    "many", (0.04, 1.26, -1249, 10**400, True, None, "Straße  ab", "STRASSE AB", [3, 1, 1], [1, 3],
             [[2, 1], [2, 1, 1]], {"a": [1.04, 1.0]}, [], "", [0.31, "B", "b "]),
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_codes_under_a_rule_are_those_of_the_normal_forms(served: Any, rule: Any) -> None:
    code = coder(normaliser(rule), Limits().output_bytes)
    for source, function in (
        (IDENTITY, lambda x: x),
        ("def f(x):\n    return (x, [x, 'Ab'])", lambda x: (x, [x, "Ab"])),
    ):
        expected = [int.from_bytes(code(function(x)), "little", signed=True) for x in MANY.inputs]
        found = result(served.run(source, MANY, "codes", equality=rule))
        assert found == (expected, [""] * len(MANY)), source


def test_a_rule_ignores_what_it_says_and_is_forgotten_after_its_run(served: Any) -> None:
    floats, rule = InputSet("floats", (1.0, 2.0, 3.0)), {"numbers": {"decimals": 2}}
    above, below = "def f(x):\n    return x + 0.004", "def f(x):\n    return [x][0] - 0.004"
    for _ in range(2):  # on a worker that has just coded by the other rule too
        plain, other = (result(served.run(one, floats, "codes")) for one in (above, below))
        assert plain != other
        first, second = (
            result(served.run(one, floats, "codes", equality=rule)) for one in (above, below)
        )
        assert first == second == ([code_of(value) for value in floats.inputs], [""] * 3)


def test_a_rule_leaves_values_and_what_is_undefined_alone(served: Any) -> None:
    source = "def f(x):\n    return {1, 2} if x == 'B' else 1 / x"
    inputs, rule = InputSet("mixed", (3, 0, "B", "b")), {"numbers": {"decimals": 0}}
    found = served.run(source, inputs, "values", equality=rule)
    assert found.values == served.run(source, inputs).values
    assert values(found)[0] == 1 / 3
    coded = result(served.run(source, inputs, "codes", equality=rule))
    assert coded[1] == ["", *values(found)[1:]]
    assert coded[0][0] == code_of(0)


def test_a_long_answer_is_undefined_under_a_rule_as_without(served: Any) -> None:
    inputs, rule = InputSet("lengths", (10, 300_000)), {"strings": {"ignore": ["case"]}}
    source = "def f(x):\n    return 'A' * x"
    bare, ruled = (
        result(served.run(source, inputs, "codes", TIGHT, equality=one)) for one in (None, rule)
    )
    assert bare[1] == ruled[1] and bare[1][0] == "" != bare[1][1]
    assert ruled[0][0] == code_of("a" * 10)


# --- the module and its function ---------------------------------------------


@pytest.mark.parametrize(
    "entry", ["g", "", "__init__", "f.__call__", "f\n", "print", "x" * 500, "\ud800", "\0"]
)
def test_a_function_that_is_not_there_is_one_verdict(served: Any, entry: str) -> None:
    batch = served.run(IDENTITY, TEN, entry=entry)
    assert batch.verdict == "no_function" and batch.detail and len(batch.detail) <= 500
    assert batch.reasons.tolist() == [1] * 10 and batch.reason_names == ("no_function",)


def test_a_name_of_100_000_characters_is_refused_without_harm(served: Any) -> None:
    assert served.run(IDENTITY, TEN, entry="x" * 100_000).verdict == "no_function"


@pytest.mark.parametrize(
    "source", ["f = 3", "f = None", "class f:\n    pass\nf = f()", "del f", "f: int", "", "# nothing", "if False:\n    def f(x): return 1"]
)  # fmt: skip
def test_a_name_that_is_no_function_is_one_verdict(served: Any, source: str) -> None:
    assert served.run(source, TEN).verdict == "no_function"


def test_whatever_can_be_called_is_a_function(served: Any) -> None:
    for source in ("f = sum", "class f(list):\n    def __new__(cls, x):\n        return sum(x)",
                   "from functools import partial\nf = partial(sum, start=0)", "f = lambda x: x[0] + x[1]"):  # fmt: skip
        assert values(served.run(source, TEN)) == [2 * n + 1 for n in range(10)]


def test_another_entry_than_f_and_an_entry_of_other_letters(served: Any) -> None:
    assert values(served.run("def größe(x):\n    return 1", TEN, entry="größe")) == [1] * 10


def test_a_source_of_five_megabytes_is_refused_and_one_of_half_a_megabyte_is_run(
    served: Any,
) -> None:
    for filler in ("# " + "x" * 5_000_000, "\n" * 5_000_000, "é" * 2_600_000):
        batch = served.run(f"{IDENTITY}\n{filler}", TEN)
        assert batch.verdict == "syntax" and batch.detail
    batch = served.run(f"{IDENTITY}\n# {'x' * 500_000}\n", TEN)
    assert values(batch) == list(TEN.inputs)


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
    "a SIGTERM": ("import os\ndef f(x):\n    os.kill(os.getpid(), 15)", "signal 15"),
    "a SIGKILL": ("import os\ndef f(x):\n    os.kill(os.getpid(), 9)", "killed"),
    "a null pointer": ("import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return sorted([x], key=f)", "signal 11"),
    "an exit with success": ("import os\ndef f(x):\n    os._exit(0)", "status 0"),
    "an exit with failure": ("import os\ndef f(x):\n    os._exit(7)", "status 7"),
    "a closed result": ("import os\ndef f(x):\n    os.close(3)", "its result"),
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
