"""What every backend answers alike: values, codes, rules of equality, what is no function. Limits and
state: test_limits_and_state.py. The service as such: test_service.py.

Attacks are in tests/hostile, what is one backend's own in the files beside this one.

Internals: what backends answer is compared with the loop over inputs run in this process.
"""

from __future__ import annotations

import builtins
import copy
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batches import IDENTITY, TEN, TIGHT, result, values
from peirce.records import InputSet, Limits
from peirce.sandbox import Unrepresentable, code_of
from peirce.sandbox.inside.tolerance import make_coder, make_normaliser
from peirce.sandbox.inside.trial import Inputs, Trial

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
        header, body = trial.encode_result()
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


def test_two_surrogates_side_by_side_stay_two_as_input_and_are_no_output(served: Any) -> None:
    pairs = InputSet("pairs of surrogates", ("\ud83d\ude00", "\U0001f600", "\ude00\ud83d"))
    assert values(served.run("def f(x):\n    return len(x)", pairs)) == [2, 1, 2]
    for keep in ("values", "codes"):
        codes, reasons = result(served.run(IDENTITY, pairs, keep))
        assert reasons == ["unrepresentable", "", ""]
        assert codes == [0, code_of("\U0001f600"), code_of("\ude00\ud83d")]


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
    code = make_coder(make_normaliser(rule), Limits().output_bytes)
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


# --- modules that a source forgets to import -----------------------------------

FORGOTTEN = {
    "bisect": "def f(x):\n    return bisect.bisect([1, 5, 9], x[0])",
    "collections": "def f(x):\n    return collections.Counter(x).most_common(1)[0][0]",
    "from collections import Counter": "def f(x):\n    return sorted(Counter(x).items())",
    "copy": "def f(x):\n    return copy.deepcopy([x])",
    "functools": "def f(x):\n    return functools.reduce(lambda a, b: a * 31 + b, x)",
    "heapq": "def f(x):\n    return heapq.nlargest(1, x)",
    "itertools": "def f(x):\n    return list(itertools.accumulate(x))",
    "math": "def f(x):\n    return math.sqrt(x[0])",
    "operator": "def f(x):\n    return operator.mul(*x)",
    "re": "def f(x):\n    return re.sub('[0-4]', '', str(x))",
    "string": "def f(x):\n    return string.ascii_letters[x[0]]",
}


@pytest.mark.parametrize("module", FORGOTTEN)
def test_a_harmless_module_that_is_not_imported_is_there(served: Any, module: str) -> None:
    source, statement = FORGOTTEN[module], module if " " in module else f"import {module}"
    expected = result(served.run(f"{statement}\n{source}", TEN, "codes"))
    assert "NameError" not in expected[1]
    assert result(served.run(source, TEN, "codes")) == expected
    assert result(served.run(f'"""Doc."""\nfrom __future__ import annotations\n{source}', TEN, "codes")) == expected  # fmt: skip


def test_a_module_that_another_function_imports_is_there(served: Any) -> None:
    source = "def g():\n    import math\ndef f(x):\n    return math.floor(2.5)"
    assert values(served.run(source, TEN)) == [2] * 10


def test_other_names_that_are_not_imported_are_unknown_and_own_names_stay(served: Any) -> None:
    for name in ("random", "sys", "os", "json", "reduce", "deque", "List", "sqrt"):
        assert values(served.run(f"def f(x):\n    return {name}", TEN)) == ["NameError"] * 10
    source = "def f(x):\n    if x[0] > 99:\n        math = 1\n    return math"
    assert set(values(served.run(source, TEN))) <= {"NameError", "UnboundLocalError"}
    assert values(served.run("math = [3]\ndef f(x):\n    return math", TEN)) == [[3]] * 10


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
