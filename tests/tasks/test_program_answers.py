"""Reading answers: what is tolerated and noted, what is malformed and why; nothing raises, nothing
runs, and no text takes long.

Internals: the reader of answers and its parts are called on single texts.
"""

from __future__ import annotations

import ast
import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from peirce.records import Hypothesis, Malformed
from peirce.tasks.programs.answers import read_answer, read_code
from peirce.tasks.programs.family import ANSWER_FORMATS
from peirce.tasks.programs.source import read_source, unescape

DEF = "def f(x):\n    return x[1:]"


def _tuple(text: str) -> Hypothesis:
    read = read_answer(text, "tuple")
    assert isinstance(read, Hypothesis), read
    return read


def _why(text: str, answer_format: str = "tuple") -> str:
    read = read_answer(text, answer_format)
    assert isinstance(read, Malformed), read
    assert len(read.detail) < 500
    return read.reason


def test_an_answer_under_the_contract_has_no_leniency_and_no_breach() -> None:
    read = _tuple(f'("Drop the first.", {json.dumps(DEF)})')
    assert (read.text, read.description) == (DEF, "Drop the first.")
    assert (dict(read.meta), read.breaches) == ({"entry": "f"}, ())


E = DEF.replace("\n", "\\n")
TOLERATED = {
    "single quotes": (f"('d', '{E}')", []),
    "triple quotes": (f'("d", """{DEF}""")', []),
    "triple single quotes": (f"('d', '''{DEF}\n''')", []),
    "both triple": (f'("""d""", """\n{DEF}\n""")', []),
    "split literals": ('("d", "def f(x):\\n"\n "    return x[1:]")', []),
    "raw string": (f'("d", r"""{DEF}""")', []),
    "trailing comma": (f'("d", "{E}",)', []),
    "no parentheses": (f'"d", "{E}"', ["no_parentheses"]),
    "brackets": (f'["d", "{E}"]', ["brackets"]),
    "fence": (f'```python\n("d", "{E}")\n```', ["fence"]),
    "fence without language": (f'```\n("d", "{E}")\n```', ["fence"]),
    "fence on the line": (f'```("d", "{E}")```', ["fence"]),
    "fence within the source": (f'("d", "```python\\n{E}\\n```")', ["fence"]),
    "prose before": (f'Here it is:\n\n("d", "{E}")', ["prose"]),
    "prose around": (f'I (think) so:\n("d", "{E}")\nThat is all (really).', ["prose"]),
    "prose and fence": (f'So:\n```\n("d", "{E}")\n```\nDone.', ["fence", "prose"]),
    "real line breaks": (f'("d", "{DEF}")', ["scanned"]),
    "real line breaks in single quotes": (f"('d', '{DEF}')", ["scanned"]),
    "real and escaped line breaks": ('("d", "def f(x):\\n\n    return x[1:]")', ["scanned", "unescaped"]),
    "paper's example form": ('( "d"," def f(x):\\n    return x[1:]" )', ["dedented"]),
    "first line indented more": ('("d", "    def f(x):\\n  return x[1:]")', ["first_line_dedented"]),
    "indented source": (f'("d", """\n    {DEF.replace(chr(10), chr(10) + "    ")}\n    """)', ["dedented"]),
    "escaped twice": ('("d", "def f(x):\\\\n    return x[1:]")', ["unescaped"]),
    "no closing bracket": (f'("d", "{DEF}"', ["scanned"]),
    "carriage returns": (f'("d", """{DEF}""")'.replace("\n", "\r\n"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLERATED)
def test_what_is_tolerated_is_noted_by_name(name: str) -> None:
    text, leniency = TOLERATED[name]
    read = _tuple(text)
    assert ast.dump(ast.parse(read.text)) == ast.dump(ast.parse(DEF))
    assert read.description == "d" and read.meta.get("leniency", []) == leniency


def test_apostrophes_and_quotes_in_the_description_do_not_split_the_answer() -> None:
    assert _tuple(f"('it\\'s the tail', '{E}')").description == "it's the tail"
    assert _tuple(f"('it's the tail', '{E}')").description == "it's the tail"
    assert _tuple(f'("the "tail", or rest", "{E}")').description == 'the "tail", or rest'
    assert (
        _tuple(f'("gr\u00f6\u00dfer \u2264 5", "{E}")').description == "gr\u00f6\u00dfer \u2264 5"
    )


def test_quotes_within_the_source_do_not_end_it() -> None:
    for source in (
        'def f(x):\n    return ["on"] if x else ["off", ""]',
        'def f(x):\n    """Doc, with a quote: " and (brackets)."""\n    return x',
        "def f(x):\n    # it's a comment, isn't it?\n    return x.get('a', 'b')",
        'def f(x):\n    return ("a", "b")',
    ):
        for answer in (
            f'("d", "{source}")',
            f"('d', '{source}')",
            f"('d', {source!r})",
            f'Sure:\n("d", """{source}""")\nok',
            f"('d', '''{source}''')",
            json.dumps(["d", source]),
        ):
            read = _tuple(answer)
            assert ast.dump(ast.parse(read.text)) == ast.dump(ast.parse(source)), answer


def test_an_escape_meant_for_the_source_survives() -> None:
    join = 'def f(x):\n    return "\\n".join(x)'
    once = 'def f(x):\\n    return "\\n".join(x)'
    for answer in (f'("d", """{join}""")', f"('d', '{once}')", f"('d', '''{join}''')"):
        assert _tuple(answer).text == join
    slash = 'def f(x):\\n    return \\"\\n\\".join(x)'
    assert _tuple(f'("d", "{slash}")').text == join


def test_source_with_characters_beyond_ascii_stays_as_it_is() -> None:
    source = 'def f(x):\n    return "≤\u00e4\U0001f600" if x else "\\x41"'
    for answer in (f"('d', {source!r})", f'("d", """{source}""")', f"('d', '{source}')"):
        assert "≤ä😀" in _tuple(answer).text


def test_the_last_of_several_tuples_counts() -> None:
    drafts = f'First ("draft", "def f(x):\\n    return x") but no: ("final", "{E}") is it.'
    assert _tuple(drafts).description == "final"
    assert _tuple(drafts + ' Compare ("a", "b").').description == "final"
    broken = drafts + ' Or ("worse", "def f(x):\\n    return (").'
    assert _tuple(broken).description == "final"


MALFORMED = {
    "": "empty",
    " \n ": "empty",
    "I cannot find a rule.": "no_tuple",
    f"```python\n{DEF}\n```": "no_tuple",
    DEF: "no_tuple",
    "42": "no_tuple",
    "{}": "no_tuple",
    '("only one")': "no_tuple",
    f'("d", "{E}", "more")': "not_two_strings",
    '("d", 5)': "not_two_strings",
    '("d", "x[1:]")': "no_function",
    '("d", "class A:\\n    pass")': "no_function",
    '("d", "async def f(x):\\n    return x")': "no_function",
    '("d", "")': "empty",
    '("d", "def f(x):\\n    return (x")': "syntax",
    '("d", "def f(x):\\nreturn x")': "syntax",
    '("d", "def f(x):\\n    pass\\nreturn x")': "syntax",
    '("d", "def f(x, x):\\n    return x")': "syntax",
    '("d", "def f():\\n    return 1")': "no_argument",
    '("d", "def f(x, y):\\n    return 1")': "many_arguments",
    '("d", "def f(x, *, y):\\n    return 1")': "many_arguments",
    '("d", "def f(x):\\n    return x[': "cut",
    '("d", """def f(x):\n    for v in': "cut",
    "x" * 200_001: "too_long",
    '("d", "def f(x):\\n    return ' + "1+" * 10_000 + '1")': "too_long",
}


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: MALFORMED[text])
def test_what_is_malformed_says_why(text: str) -> None:
    assert _why(text) == MALFORMED[text]


def test_breaches_of_the_contract_are_tolerated_and_reported() -> None:
    for source, breaches in {
        "import math\ndef f(x):\n    return math.sqrt(x)": ("import",),
        "def f(x):\n    from math import sqrt\n    return sqrt(x)": ("import",),
        "def g(x):\n    return x\ndef f(x):\n    return g(x)": ("helper_function",),
        "def f(x):\n    print(x)\n    return x": ("prints",),
        "f = lambda x: x": ("lambda",),
        "def f(x):\n    x.sort()": ("no_return",),
        "def f(x):\n    return x\nprint(f([1]))": ("prints", "top_level_code"),
        "class A: pass\ndef f(x):\n    return x": ("helper_class",),
        "def f(x):\n    return math.sqrt(x)": ("missing_import",),
        "def f(x: collections.Counter):\n    return x": ("missing_import",),
        "kept = itertools.count()\ndef f(x):\n    return x": ("missing_import", "top_level_code"),
        "def f(x):\n    return [copy.copy(v) for v in x]": ("missing_import",),
        '"""Doc."""\ndef f(x: list[int], k=2) -> list[int]:\n    return x': (),
    }.items():
        read = read_source(source)
        assert isinstance(read, Hypothesis) and read.breaches == breaches, source


BOUND = {
    "an import under another name": "import heapq as math\ndef f(x):\n    return math.nlargest(1, x)",
    "an import of a package's module": "import collections.abc\ndef f(x):\n    return collections.Counter(x)",
    "everything of a module": "from collections import *\ndef f(x):\n    return Counter(x)",
    "the parameter": "def f(re):\n    return re[0]",
    "a parameter of a lambda": "def f(x):\n    return (lambda *copy: copy)(x)",
    "a variable": "def f(x):\n    string = str(x)\n    return string",
    "a loop": "def f(x):\n    return [operator for operator in x]",
    "a global": "def f(x):\n    global bisect\n    bisect = x\n    return bisect",
    "a global of another function": "def g():\n    global math\n    import math\ndef f(x):\n    return math.pi",
    "an import of an enclosing function": "def f(x):\n    import math\n    return [math.floor(v) for v in x]",
    "an import further down": "def f(x):\n    return math.pi\nif True:\n    import math",
    "a local import in each reader": "def g():\n    import math\n    return math.pi\ndef f(x):\n    import math\n    return math.e",
    "an exception": "def f(x):\n    try:\n        return x[0]\n    except IndexError as heapq:\n        return str(heapq)",
    "a pattern": "def f(x):\n    match x:\n        case [*itertools]:\n            return itertools\n    return x",
    "a pattern of a mapping": "def f(x):\n    match x:\n        case {**copy}:\n            return copy\n    return x",
    "a class": "class Counter:\n    pass\ndef f(x):\n    return len([Counter()])",
    "a function": "def f(x):\n    return reduce(x)\ndef math(x):\n    return x",
    "nothing: it is an attribute": "def f(x):\n    return x.copy()",
    "nothing: it is a keyword": "def f(x):\n    return dict(math=x)",
    "nothing: another module": "def f(x):\n    return random.random() + sys.maxsize + reduce(max, x)",
}


@pytest.mark.parametrize("name", BOUND)
def test_a_name_that_is_bound_where_it_is_read_is_no_missing_import(name: str) -> None:
    read = read_source(BOUND[name])
    assert isinstance(read, Hypothesis) and "missing_import" not in read.breaches


UNSEEN = {
    "an import of another function": "def a():\n    import math\ndef f(x):\n    return math.floor(x)",
    "a variable of another function": "def a(math):\n    return math\ndef f(x):\n    return math.floor(x)",
    "a variable of a comprehension": "def f(x):\n    return [math for math in x] and math.floor(x)",
    "a name of a class": "class A:\n    import math\n    def m(self):\n        return math.floor(2)\ndef f(x):\n    return math.floor(x)",
    "a name of an inner function": "def f(x):\n    def g():\n        import math\n    return math.floor(x)",
    "a default outside of its function": "def f(x, y=math.pi):\n    import math\n    return math.floor(x)",
    "a global without a value": "def f(x):\n    global math\n    return math.floor(x)",
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_name_that_is_bound_out_of_sight_is_a_missing_import(name: str) -> None:
    read = read_source(UNSEEN[name])
    assert isinstance(read, Hypothesis) and "missing_import" in read.breaches


def test_the_entry_is_the_named_one_else_the_last() -> None:
    for source, entry in {
        "def a(x): return x\ndef b(x): return x": "b",
        "def solve(x): return x\ndef help_me(x): return x": "solve",
        "def fn(x): return x\ndef f(x): return x\ndef z(x): return x": "f",
        "def helper(x, y): return x\ndef run(x): return x": "run",
        "transform = lambda x: x\ndef g(x, y): return x": "transform",
    }.items():
        read = read_source(source)
        assert isinstance(read, Hypothesis) and read.meta["entry"] == entry, source


J = json.dumps({"description": "d", "code": DEF})
AS_JSON = {
    "under the contract": (J, []),
    "spread over lines": (json.dumps(json.loads(J), indent=2), []),
    "real line breaks in a string": (J.replace("\\n", "\n"), []),
    "a fence": (f"```json\n{J}\n```", ["prose"]),
    "prose around": (f"So {{x}} it is: {J} (really)", ["prose"]),
    "a draft before": (f'{{"code": "def f(x): return 1"}} no: {J}', ["prose"]),
    "a tuple instead": (f'("d", "{E}")', ["tuple"]),
    "a fenced function instead": (f"d\n```python\n{DEF}\n```", ["function"]),
}


@pytest.mark.parametrize("name", AS_JSON)
def test_an_answer_as_json_is_read_and_what_was_tolerated_is_noted(name: str) -> None:
    text, leniency = AS_JSON[name]
    read = read_answer(text, "json")
    assert isinstance(read, Hypothesis), read
    assert (read.text, read.description) == (DEF, "d")
    assert list(read.meta.get("leniency", [])) == leniency


def test_why_an_answer_as_json_is_malformed() -> None:
    assert _why("I do not know.", "json") == "no_object"
    assert _why(J[:-12], "json") == "cut"
    assert _why('{"description": "d"}', "json") == "not_two_strings"
    assert _why('{"description": "d", "code": ["def f(x): pass"]}', "json") == "not_two_strings"
    assert _why('{"description": "d", "code": "def f(x:"}', "json") == "syntax"
    assert _why("{" * 5000, "json") in ("no_object", "cut")


def test_a_fenced_function_takes_its_description_from_the_prose() -> None:
    read = read_answer(f"Drops the first.\n\n```python\n{DEF}\n```\n", "fenced_function")
    assert isinstance(read, Hypothesis)
    assert (read.text, read.description, dict(read.meta)) == (
        DEF,
        "Drops the first.",
        {"entry": "f"},
    )


@pytest.mark.parametrize(
    ("text", "leniency"),
    [
        (f"Say.\n```py\n{DEF}", ["unclosed_fence"]),
        (f"~~~python\n{DEF}\n~~~", []),
        (f"````python\n{DEF}\n````", []),
        (f"1. So:\n   ```python\n   {DEF.replace(chr(10), chr(10) + '   ')}\n   ```", ["dedented"]),
        (f"The rule:\n{DEF}\nwhich drops one.", ["no_fence"]),
        (DEF, ["no_fence"]),
        (f"Usage:\n```\nf([1])\n```\nand\n```python\n{DEF}\n```", []),
    ],
)
def test_fences_of_every_kind_are_read(text: str, leniency: list[str]) -> None:
    read = read_answer(text, "fenced_function")
    assert isinstance(read, Hypothesis), read
    assert ast.dump(ast.parse(read.text)) == ast.dump(ast.parse(DEF))
    assert read.meta.get("leniency", []) == leniency


def test_a_fenced_answer_without_function_says_why() -> None:
    assert _why("I do not know.", "fenced_function") == "no_code"
    assert _why("```python\nx[1:]\n```", "fenced_function") == "no_function"
    assert _why("```python\ndef f(x):\n    return (", "fenced_function") == "cut"
    assert _why("```python\ndef f(x):\n    return (\n```", "fenced_function") == "syntax"
    assert _why("", "fenced_function") == "empty"


def test_code_brought_by_hand_may_be_fenced_or_escaped() -> None:
    for text in (DEF, f"```python\n{DEF}\n```", E, f"It is\n```\n{DEF}\n```"):
        read = read_code(text)
        assert isinstance(read, Hypothesis) and read.text == DEF


def test_every_recorded_answer_of_gpt4_is_read(shared_data: Path) -> None:
    recorded = json.loads((shared_data / "recorded" / "gpt4_list_function_python.json").read_text())
    answers = [a for p in recorded["problems"] for t in p["turns"] for a in t["responses"]]
    read = [read_answer(answer, "fenced_function") for answer in answers]
    assert len(read) == 1_105 and all(isinstance(one, Hypothesis) for one in read)


HOSTILE = [
    "(" * 50_000, "-" * 50_000 + "1", "[[" * 9_000, "('" * 50_000, '("""' * 40_000,
    '"' * 100_000, "'" * 99_999, "```" * 60_000, "```\n" * 50_000, "\\" * 100_000,
    "('a', 'def " * 15_000, '("a", "def f(x):")' * 10_000, "('a','def')" * 18_000,
    '("d", "' + "def f(x):\n    return [')\n'," * 600 + '")', "def f(x):\n" * 20_000,
    "\x00('d', 'def f(x):\\n    return \x00')", "\ud800" * 100, '("d", "def f(x): return \ud800")',
    "('d', f'" + "{x}" * 66_000 + "')", "('d', f'" + ("{x}" * 1_900 + "y" * 180_000) + "')",
    "9" * 100_000, "('d', 'def f(x): return " + "9" * 5_000 + "')", "a." * 50_000,
    "('d', 'def f(x): return " + "not " * 4_000 + "x')", "\\x" * 1_000, "('d', '\\N{x}\\u12')",
    "('d', 'def f(x): return " + "lambda:" * 2_000 + "x')", "\r" * 50_000,
    "('d', 'def f(x):\\n" + "".join(" " * (i + 1) + "try:\\n" + " " * (i + 2) + "pass\\n"
     + " " * (i + 1) + "finally:\\n" for i in range(18)) + " " * 20 + "return x')",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_neither_raises_nor_takes_long(number: int) -> None:
    started = time.process_time()
    for answer_format in ANSWER_FORMATS:
        assert isinstance(read_answer(HOSTILE[number], answer_format), Malformed)
    read_code(HOSTILE[number])
    assert time.process_time() - started < 4


PIECES = st.sampled_from(
    ["(", ")", "[", "]", '"', "'", '"""', "'''", ",", "\\", "\\n", "\n", "```", "```python\n", "def f(x):",
     "    return x", "lambda x: x", "# ", "f'{", "}", "\x00", "\ud800", "é", "r", "b", " ", "0x", "if x:"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join)))
@example(f'("d", "{E}")')
@settings(max_examples=300)
def test_any_text_gives_a_hypothesis_or_a_reason(text: str) -> None:
    for answer_format in ANSWER_FORMATS:
        read = read_answer(text, answer_format)
        if isinstance(read, Hypothesis):
            compile(read.text, "<test>", "exec")
            assert read.meta["entry"] in read.text
        else:
            assert read.reason


NAMES = st.sampled_from(
    ["x", "v", "'a'", '"b"', '"it\'s"', "'\\n'", "[1, 2]", "('a', \"b\")", "'≤'"]
)
SOURCES = st.lists(NAMES, min_size=1, max_size=4).map(
    lambda names: (
        "def f(x):\n    v = x\n" + "".join(f"    v = [v, {n}]\n" for n in names) + "    return v"
    )
)


@given(SOURCES, st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40))
@settings(max_examples=200)
def test_what_repr_writes_is_read_back_exactly(source: str, description: str) -> None:
    read = _tuple(repr((description, source)))
    assert read.text == source and read.description == " ".join(description.split())
    assert "leniency" not in read.meta
    fenced = read_answer(f"```python\n{source}\n```", "fenced_function")
    assert isinstance(fenced, Hypothesis) and fenced.text == source


@given(st.text(max_size=100))
def test_unescape_undoes_what_repr_does(text: str) -> None:
    escaped = text.encode("unicode_escape", "surrogatepass").decode("ascii")
    assert unescape(escaped) == text


def test_nothing_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    source = f"open({str(mark)!r}, 'w')\ndef f(x=open({str(mark)!r}, 'w')):\n    return x"
    assert isinstance(read_source(source), Hypothesis)
    assert isinstance(read_answer(repr(("d", source)), "tuple"), Hypothesis)
    assert not mark.exists()
