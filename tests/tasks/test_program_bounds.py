"""No source makes the parser or the compiler of this process slow or large, whatever its 20,000
characters hold. Every text is read in one process of its own under a limit on its memory.

Internals: the bounds are those of the parser, which refuses a text before it is an answer.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest
from peirce.records import Hypothesis, Malformed
from peirce.tasks.programs.answers import read_answer
from peirce.tasks.programs.source import (
    MAX_COMPILED_NODES,
    MAX_DEPTH,
    MAX_SOURCE_CHARACTERS,
    TOO_DEEP,
    check_compile_cost,
    read_source,
)


def filled(start: str, unit: str, end: str = "") -> str:
    """`unit` as often as it fits into a source of the largest size."""
    return start + unit * ((MAX_SOURCE_CHARACTERS - len(start) - len(end)) // len(unit)) + end


def finals(levels: int, exits: int) -> str:
    """Each `try` with returns, its `finally` holding the next one."""
    lines = ["def f(x):"]
    for level in range(levels):
        lines.append(" " * (level + 1) + "try:")
        lines += [" " * (level + 2) + "if x:return"] * exits
        lines.append(" " * (level + 1) + "finally:")
    return "\n".join([*lines, " " * (levels + 2) + "x"])


def case(pattern: str) -> str:
    return f"def f(x):\n match x:\n  case {pattern}: return 1"


def names(count: int) -> list[str]:
    return [f"a{i}" for i in range(count)]


BOMBS = {
    "finals with returns": finals(8, 5),
    "three finals with many returns": finals(3, 100),
    "one final with many returns": "def f(x):\n try:\n" + "  if x:return\n" * 700
    + " finally:\n  " + "x;" * 4_900,
    "nested finals": "def f(x):\n" + "".join(" " * (i + 1) + "try:\n" + " " * (i + 2) + "x\n"
    + " " * (i + 1) + "finally:\n" for i in range(8)) + " " * 9 + "x;" * 9_000,
    "breaks through a final": "def f(x):\n while x:\n  try:\n" + "   if x:break\n" * 600
    + "  finally:\n   " + "x;" * 4_000,
    "names of a sequence": case(f"[{','.join(names(2_900))}]"),
    "names of a mapping": case("{" + ",".join(f"{i}:a{i}" for i in range(1_300)) + "}"),
    "names in another order": case(
        f"[{','.join(names(1_500))}] | [{','.join(reversed(names(1_500)))}]"),
    "names within many brackets": case("[" * 90 + ",".join(names(2_000)) + "]" * 90),
    "unary minuses": "def f(x): return " + "-" * 19_000 + "1",
    "brackets": "f=lambda x:" + "(" * 19_000,
    "closed brackets": "f=lambda x:" + "[" * 190 + "x" + "]" * 190,
    "nots": filled("def f(x): return ", "not ", "x"),
    "lambdas": filled("f=", "lambda:", "x"),
    "defaults": filled("f=", "lambda x=", "1:0"),
    "attributes": filled("def f(x): return x", ".x"),
    "else ifs": filled("def f(x):\n if x:0\n", " elif x:0\n"),
    "choices": filled("def f(x): return ", "x if x else ", "x"),
    "sums": filled("def f(x): return x", "+x"),
    "marks of an identifier": filled("def f(x", "\u0315\u0300", "): return 1"),
    "half-width marks": filled("def f(x", "\u0315\uff9e", "): return 1"),
    "marks that decompose": filled("def f(x", "\u0f75\u0f71", "): return 1"),
    "names of an import": filled("import a", ".a", "\ndef f(x): return x"),
    "names of an import in lines": filled("import a", ".\\\na", "\ndef f(x): return x"),
    "indentation": "def f(x):\n" + "".join(" " * i + "if x:\n" for i in range(1, 180)),
}  # fmt: skip
BORNE = {
    "f-string": filled("def f(x): return f'", "{x}", "'"),
    "comparisons": filled("def f(x): return x", "<x"),
    "functions": filled("def f(x): 0\n", "def f(x):0\n"),
    "handlers": filled("def f(x):\n try:0\n", " except x as e:0\n"),
    "comprehension": filled("f=lambda x:[x ", "for x in x ", "]"),
    "names": filled("f=lambda x:[", "(a:=x),", "]"),
    "returns in twenty blocks": "def f(x):\n with " + ",".join(["x"] * 18) + ":\n"
    + "  if x:return\n" * 1_300,
    "power": "f=lambda x:9**9**9**9, 1<<9999999999",
    "repeats": "f=lambda x:['a'*4000*4000*4000, (1,2)*255*255*255, ((1,)*255,)*255*255]",
    "large number": "f=lambda x:0x" + "f" * 19_000,
    "formats": "f=lambda x:['%999999999d'%1, f'{x:999999999}']",
    "nested strings": "f=lambda x:f'''{f\"\"\"{f\"{f'{x}'*9}\"}\"\"\"}'''",
}  # fmt: skip
SCRIPT = """
import json, resource, sys, time
from peirce.records import Malformed
from peirce.tasks.programs.source import read_source
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for name, source in json.load(sys.stdin).items():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    read = read_source(source)
    told = [read.reason, read.detail] if isinstance(read, Malformed) else None
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([name, told, time.process_time() - started, grown / 1024]))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[list[str] | None, float, float]]:
    """By name: why it is malformed, CPU seconds, and by how many MB the process grew."""
    sources = {
        name: source[:MAX_SOURCE_CHARACTERS]
        for group in (BOMBS, BORNE)
        for name, source in group.items()
    }
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=json.dumps(sources),
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    return {name: (why, seconds, grown) for name, why, seconds, grown in rows}


@pytest.mark.parametrize("name", [*BOMBS, *BORNE])
def test_no_source_takes_long_or_much_memory(told, name: str) -> None:
    _, seconds, grown = told[name]
    assert seconds < 2 and grown < 60


@pytest.mark.parametrize("name", BOMBS)
def test_a_source_that_asks_too_much_is_malformed_by_its_syntax(told, name: str) -> None:
    why, _, _ = told[name]
    if name != "closed brackets":  # within every bound
        assert why is not None and why[0] == "syntax"


def test_the_bounds_decide_before_the_compiler() -> None:
    assert f"{MAX_COMPILED_NODES:,}" in str(check_compile_cost(ast.parse(finals(3, 100))))
    assert check_compile_cost(ast.parse("x" + "+x" * MAX_DEPTH)) == TOO_DEEP
    assert check_compile_cost(ast.parse("x" + "+x" * (MAX_DEPTH - 10))) is None


def test_what_people_write_is_within_the_bounds() -> None:
    for source in (
        finals(2, 5),
        "def f(x):\n"
        + "\n".join(f"    {'el' * (i > 0)}if x == {i}: return {i}" for i in range(150)),
        case(" | ".join(f"[{i}, a, b, *c]" for i in range(40))),
        case("{'k': [a, b, {'l': c, **d}], 'm': Point(x=e, y=f) as g}"),
        "def f(x):\n    for a in x:\n        try:\n            if a: continue\n            return a\n"
        "        except (KeyError, ValueError):\n            break\n        finally:\n"
        "            print(a)",
        "def f(x):\n    return [" + ", ".join(map(str, range(3_000))) + "]",
    ):
        read = read_source(source)
        assert isinstance(read, Hypothesis), (source[:80], read)


def _in_a_deep_stack(work: Callable[[], object], frames: int) -> object:
    return work() if frames == 0 else _in_a_deep_stack(work, frames - 1)


@pytest.mark.parametrize("depth", [100, MAX_DEPTH - 10, MAX_DEPTH, 400, 900])
def test_a_verdict_does_not_depend_on_the_stack_of_the_caller(depth: int) -> None:
    for source in (
        "def f(x): return x" + "+x" * depth,
        "def f(x):\n if x:0\n" + " elif x:0\n" * depth,
        "def f(x): return " + "not " * depth + "x",
    ):
        near = read_source(source)
        far = _in_a_deep_stack(lambda source=source: read_source(source), 600)
        assert near == far, source[:60]


def test_hostile_sources_are_read_in_other_threads_too() -> None:
    found: list[object] = []
    sources = [BOMBS["unary minuses"], BOMBS["brackets"], BOMBS["defaults"], BOMBS["else ifs"]]
    thread = threading.Thread(target=lambda: found.extend(map(read_source, sources)))
    thread.start()
    thread.join()
    assert len(found) == 4 and all(isinstance(one, Malformed) for one in found)


MARKS = "\u0315\u0300" * 49_000


@pytest.mark.parametrize(
    "answer", [f"('d', x{MARKS})", f"```python\ndef f(x{MARKS}): return 1\n```", f"x{MARKS}"]
)
@pytest.mark.parametrize("answer_format", ["tuple", "json", "fenced_function"])
def test_an_identifier_of_many_marks_is_never_parsed(answer: str, answer_format: str) -> None:
    before = time.process_time()
    assert isinstance(read_answer(answer, answer_format), Malformed)
    assert time.process_time() - before < 3  # the parser alone took 54 s


def test_marks_that_people_write_are_read() -> None:
    for name in ("e\u0301te\u0301", "\u0928\u093f\u092f\u092e", "a" + "\u0301" * 30):
        assert isinstance(read_source(f"def {name}(x):\n    return x"), Hypothesis)


def test_all_ways_to_read_an_answer_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    parse = ast.parse
    monkeypatch.setattr(
        ast, "parse", lambda text, *args, **kw: parsed.append(len(text)) or parse(text, *args, **kw)
    )
    block = "```python\n  def f(x):\\n\t return (x " + "+ x " * 4_900 + "\n```\n"
    for answer_format, reason in (
        ("fenced_function", "too_costly"), ("json", "too_costly"), ("tuple", "no_tuple")
    ):  # fmt: skip
        parsed.clear()
        read = read_answer(block * (200_000 // len(block)), answer_format)
        assert isinstance(read, Malformed) and read.reason == reason
        assert sum(parsed) <= 1_000_000
    good = "```python\ndef f(x):\n    return x\n```\n"
    assert isinstance(read_answer(block * 2 + good, "fenced_function"), Hypothesis)


def test_what_no_file_could_hold_is_malformed() -> None:
    for source, reason in (
        ("def f(x):\n    return x" + " " * MAX_SOURCE_CHARACTERS + "+ 1", "too_long"),
        ("-" * 200_000 + "1", "too_long"),
        ("def f(x):\x00\n    return x", "syntax"),
        ("def f(x):\n    return '\ud800'", "syntax"),
        ("# coding: no-such-encoding\ndef f(x):\n    return (", "syntax"),
        ("def f(x):\n    return " + "9" * 5_000, "syntax"),
    ):
        read = read_source(source)
        assert isinstance(read, Malformed) and read.reason == reason, (source[:40], read)
