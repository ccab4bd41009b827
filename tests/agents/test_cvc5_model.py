"""cvc5 as a proposer (`--model cvc5`): its programs mean what its terms mean, its limits are kept, and
what it does not support is refused with a reason.

Internals: terms are made with cvc5 itself and held against their Python programs; the process and the
check for the package have no face.
"""

from __future__ import annotations

import ast
import asyncio
import random
import time
from typing import Any

import peirce
import pytest
from peirce.agents import cvc5 as cvc5_model
from peirce.agents import open_model
from peirce.agents.cvc5 import proposer
from peirce.agents.cvc5.proposer import MAX_ARGUMENTS, Cvc5Proposer, synthesis_problem
from peirce.agents.cvc5.translation import Untranslatable, program_of
from peirce.records import (
    Hypothesis,
    InputSet,
    Observation,
    PastAnswer,
    Problem,
    Reply,
    UsageError,
    Verdict,
    View,
)
from peirce.tasks import load_family

try:
    import cvc5
    from cvc5 import Kind
except ImportError:
    cvc5 = None

with_cvc5 = pytest.mark.skipif(cvc5 is None, reason="NO CVC5 HERE: pip install 'peirce[peers]'")

OPERATIONS = {
    "STRING_CONCAT": ("str", "str", "str"),
    "STRING_REPLACE": ("str", "str", "str", "str"),
    "STRING_CHARAT": ("str", "int", "str"),
    "STRING_FROM_INT": ("int", "str"),
    "STRING_SUBSTR": ("str", "int", "int", "str"),
    "STRING_LENGTH": ("str", "int"),
    "STRING_TO_INT": ("str", "int"),
    "STRING_INDEXOF": ("str", "str", "int", "int"),
    "STRING_PREFIX": ("str", "str", "bool"),
    "STRING_SUFFIX": ("str", "str", "bool"),
    "STRING_CONTAINS": ("str", "str", "bool"),
    "ADD": ("int", "int", "int"),
    "SUB": ("int", "int", "int"),
    "ITE": ("bool", "str", "str", "str"),
}
TEXTS = (
    "",
    "a",
    "ab",
    "ba",
    "aab",
    "0",
    "007",
    "12",
    "-3",
    " 4",
    "٣",
    "²",
    "é",
    "😀a",
    "a\nb",
    "'\"\\{",
)


def view(*pairs: tuple[Any, Any], earlier: tuple[str, ...] = (), family: str = "programs") -> View:
    shown = tuple(Observation(*pair) for pair in pairs)
    past = tuple(PastAnswer("a", (Hypothesis(text),), Verdict.ACCEPTED) for text in earlier)
    return Problem("p", "examples", family, shown, ()).make_view(InputSet("none", ()), past)


def posed(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    problem = synthesis_problem(list(pairs))
    assert problem is not None
    return problem


def ask(view: View, **settings: Any) -> Reply:
    async def propose() -> Reply:
        model = await open_model("cvc5", {"seconds": 20, "workers": 1, **settings})
        try:
            return await model.propose(view, [], [], 0)
        finally:
            await model.close()

    return asyncio.run(propose())


def read(reply: Reply) -> str:
    assert reply.text, reply.meta
    _, source = ast.literal_eval(reply.text)
    return source


def compiled(source: str):
    names: dict = {}
    exec(compile(source, "<test>", "exec"), names)
    return names["f"]


def draw(pick: random.Random, kind: str) -> Any:
    if kind == "str":
        return "".join(pick.choices(TEXTS, k=pick.choice((0, 1, 1, 2, 3))))
    return pick.randint(-3, 9) if kind == "int" else pick.random() < 0.5


class Terms:
    """Terms over the variables text, other (str), place, count (int) and truth (bool)."""

    KINDS = ("str", "str", "int", "int", "bool")

    def __init__(self) -> None:
        self.solver = cvc5.Solver()
        self.solver.setLogic("SLIA")
        sorts = {
            "str": self.solver.getStringSort(),
            "int": self.solver.getIntegerSort(),
            "bool": self.solver.getBooleanSort(),
        }
        self.variables = [
            self.solver.mkVar(sorts[kind], f"v{n}") for n, kind in enumerate(self.KINDS)
        ]

    def value(self, value: Any) -> Any:
        if isinstance(value, bool):
            return self.solver.mkBoolean(value)
        return (
            self.solver.mkInteger(value) if isinstance(value, int) else self.solver.mkString(value)
        )

    def draw(self, pick: random.Random, kind: str, depth: int) -> Any:
        if depth == 0:
            if pick.random() < 0.3:
                return self.value(draw(pick, kind))
            return pick.choice(
                [v for v, of in zip(self.variables, self.KINDS, strict=True) if of == kind]
            )
        names = [name for name, (*_, gives) in OPERATIONS.items() if gives == kind]
        return self.apply(pick, pick.choice(names), depth)

    def apply(self, pick: random.Random, name: str, depth: int = 1) -> Any:
        takes = OPERATIONS[name][:-1]
        parts = [self.draw(pick, kind, pick.randrange(depth)) for kind in takes]
        return self.solver.mkTerm(getattr(Kind, name), *parts)

    def program(self, body: Any) -> str:
        """The program of a body, as cvc5 would give it."""
        listed = self.solver.mkTerm(Kind.VARIABLE_LIST, *self.variables)
        solution = self.solver.mkTerm(Kind.LAMBDA, listed, body)
        arguments = [f"x[{place}]" for place in range(len(self.KINDS))]
        return program_of(solution, arguments, self.solver.simplify)

    def evaluate(self, body: Any, values: list[Any]) -> Any:
        found = self.solver.simplify(body.substitute(self.variables, list(map(self.value, values))))
        return found.toPythonObj()


def check(terms: Terms, body: Any, pick: random.Random, often: int) -> None:
    source = terms.program(body)
    function = compiled(source)
    for _ in range(often):
        values = [draw(pick, kind) for kind in terms.KINDS]
        wanted, came = terms.evaluate(body, values), function(values)
        assert (type(came), came) == (type(wanted), wanted), f"{body} of {values}\n{source}"


@with_cvc5
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_means_what_it_means_to_cvc5(name: str) -> None:
    pick, terms = random.Random(name), Terms()
    for _ in range(40):
        check(terms, terms.apply(pick, name), pick, 12)


@with_cvc5
def test_a_composed_term_means_what_it_means_to_cvc5() -> None:
    pick, terms = random.Random(0), Terms()
    for _ in range(300):
        check(terms, terms.draw(pick, pick.choice(("str", "int", "bool")), 4), pick, 6)


@with_cvc5
def test_the_corners_of_smt_lib_are_kept() -> None:
    terms = Terms()
    text, other, place, count, _ = terms.variables
    make = terms.solver.mkTerm
    at = compiled(terms.program(make(Kind.STRING_CHARAT, text, place)))
    cut = compiled(terms.program(make(Kind.STRING_SUBSTR, text, place, count)))
    find = compiled(terms.program(make(Kind.STRING_INDEXOF, text, other, place)))
    read_number = compiled(terms.program(make(Kind.STRING_TO_INT, text)))
    write_number = compiled(terms.program(make(Kind.STRING_FROM_INT, place)))
    replace = compiled(terms.program(make(Kind.STRING_REPLACE, text, other, text)))
    assert [at(["ab", "", n, 0, True]) for n in (-1, 0, 2)] == ["", "a", ""]
    spans = ((-1, 2), (1, 9), (1, -1), (3, 1))
    assert [cut(["abc", "", *span, True]) for span in spans] == ["", "bc", "", ""]
    assert [find(["abc", "", n, 0, True]) for n in (-1, 0, 3, 4)] == [-1, 0, 3, -1]
    assert [read_number([t, "", 0, 0, True]) for t in ("", "-1", "٣", "012")] == [-1, -1, -1, 12]
    assert [write_number(["", "", n, 0, True]) for n in (-1, 0, 12)] == ["", "0", "12"]
    assert [replace([t, o, 0, 0, True]) for t, o in (("ab", ""), ("aa", "a"))] == ["abab", "aaa"]


@with_cvc5
def test_a_program_defines_only_what_it_uses_and_computes_a_repeated_part_once() -> None:
    terms = Terms()
    text, other, place, count, _ = terms.variables
    make, number = terms.solver.mkTerm, terms.solver.mkInteger
    fixed = make(Kind.STRING_SUBSTR, text, number(1), make(Kind.ADD, number(1), number(2)))
    assert terms.program(fixed) == "def f(x):\n    return x[0][1:4]"
    cut = make(Kind.STRING_SUBSTR, make(Kind.STRING_CONCAT, text, other), place, count)
    source = terms.program(make(Kind.STRING_CONCAT, cut, cut))
    assert source.count("def ") == 2 and source.count("substring(") == 2
    assert source.endswith("    return part1 + part1")
    named = terms.program(make(Kind.STRING_CONCAT, text, terms.value("substring(")))
    assert named == "def f(x):\n    return x[0] + 'substring('"


@with_cvc5
def test_a_term_beyond_the_grammar_is_no_program() -> None:
    terms = Terms()
    text, place = terms.variables[0], terms.variables[2]
    with pytest.raises(Untranslatable, match="STRING_REV"):
        terms.program(terms.solver.mkTerm(Kind.STRING_REV, text))
    deep = place
    for _ in range(3_000):
        deep = terms.solver.mkTerm(Kind.SUB, place, deep)
    with pytest.raises(Untranslatable):
        terms.program(deep)


@with_cvc5
@pytest.mark.parametrize(
    "pairs",
    [
        [("ab-c", "ab"), ("xy-zt", "xy")],
        [(["Ann", "Lee"], "Lee Ann"), (["Bob", "Ray"], "Ray Bob")],
        [("12", 12), ("7", 7)],
        [(["ab", 1], "b"), (["xyz", 2], "z"), (["pqr", 0], "p")],
        [(["abc", "b"], True), (["abc", "d"], False), (["xd", "d"], True)],
        [([True, 1, 2], 1), ([False, 1, 2], 2), ([True, 5, 4], 5), ([False, 0, 6], 6)],
        [("😀", "😀😀"), ("é", "éé")],
    ],
    ids=[
        "text",
        "two texts",
        "number",
        "text and number",
        "truth value",
        "truth argument",
        "beyond ASCII",
    ],
)
def test_an_answer_is_a_program_that_is_right_on_all_shown_pairs(pairs: list) -> None:
    reply = ask(view(*pairs))
    (hypothesis,) = load_family("programs").parse(view(*pairs), reply.text, "tuple")
    assert isinstance(hypothesis, Hypothesis) and not hypothesis.meta.get("breaches"), hypothesis
    function = compiled(hypothesis.text)
    assert [function(given) for given, _ in pairs] == [wanted for _, wanted in pairs]


@with_cvc5
def test_a_later_answer_is_another_program() -> None:
    pairs = [("ab-c", "ab"), ("xy-zt", "xy")]
    texts: list[str] = []
    for _ in range(3):
        texts.append(read(ask(view(*pairs, earlier=tuple(texts)))))
    assert len(set(texts)) == 3
    for text in texts:
        assert [compiled(text)(given) for given, _ in pairs] == [wanted for _, wanted in pairs]


HARD = [(f"{n * n:b} {n}", f"{(n * 7919) % 1000:x}") for n in range(3, 40)]


@with_cvc5
def test_the_solver_is_killed_at_the_time_limit() -> None:
    began = time.monotonic()
    reply = ask(view(*HARD), seconds=1.0)
    assert (reply.finish, reply.text) == ("exhausted", "")
    assert reply.meta["reason"] == "cvc5 finds no program in 1 seconds"
    assert 1.0 <= time.monotonic() - began < 15  # with the start of the process, on a busy machine


@with_cvc5
def test_a_solver_without_memory_ends_without_an_answer() -> None:
    # Less memory than a solver starts with: until a search has used up more, minutes may pass.
    found = asyncio.run(Cvc5Proposer(60.0, 64, 1, "").solve({**posed(("ab", "a")), "earlier": []}))
    assert found == {"reason": "cvc5 ended without an answer; it may use 64 MB of memory"}


@with_cvc5
def test_the_limits_are_those_of_the_settings() -> None:
    model = asyncio.run(open_model("cvc5", {"seconds": 7, "memory_mb": 300}))
    assert (model.seconds, model.memory_mb) == (7, 300)


class _FailingSolver:
    """Stands for a solver of cvc5 that fails at a grammar, as none does reliably in all versions."""

    def checkSynth(self) -> Any:
        raise RuntimeError("bad kind")


@with_cvc5
def test_a_failure_of_cvc5_is_not_said_to_be_an_unsolved_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from peirce.agents.cvc5 import process

    request = {"earlier": [], "memory_mb": 100, "seconds": 1}
    monkeypatch.setattr(process, "_set_limits", lambda *limits: None)
    monkeypatch.setattr(process, "_pose", lambda *asked: (_FailingSolver(), None))
    assert process.answer(request) == {"reason": "cvc5 failed: bad kind"}


@with_cvc5
def test_no_process_is_left_after_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = proposer.LineProcess._start

    async def remember(self: Any) -> Any:
        started.append(await start(self))
        return started[-1]

    monkeypatch.setattr(proposer.LineProcess, "_start", remember)
    ask(view(*HARD), seconds=0.5)
    assert [one.returncode for one in started] == [-9]


@pytest.mark.parametrize(
    "pairs",
    [
        [([1, 2], [2, 1])],
        [("a", 1.5)],
        [("a", None)],
        [({"a": "b"}, "b")],
        [(["a"], "b"), (["a", "b"], "c")],
        [(["a"], "b"), ("a", "c")],
        [("a", "b"), (1, "b")],
        [("a", True), ("b", 1)],
        [([], "b")],
        [(["a"] * (MAX_ARGUMENTS + 1), "b")],
        [("\U0003ffff", "b")],
        [],
    ],
)
def test_values_of_other_types_are_not_supported(pairs: list) -> None:
    assert synthesis_problem(pairs) is None
    reply = asyncio.run(Cvc5Proposer(1.0, 256, 1, "").propose(view(*pairs), [], [], 0))
    assert reply.finish == "exhausted"
    assert reply.meta["reason"] == proposer.UNSUPPORTED


def test_other_families_are_not_supported() -> None:
    asked = view(("a", "b"), family="text")
    reply = asyncio.run(Cvc5Proposer(1.0, 256, 1, "").propose(asked, [], [], 0))
    assert reply.finish == "exhausted" and reply.meta["reason"] == proposer.UNSUPPORTED


def test_words_of_the_inputs_are_no_constants() -> None:
    found = synthesis_problem([("Ann Lee", "Dr. Lee"), ("Bob Lee", "Dr. Lee")])
    assert found is not None and "Lee" not in found["texts"]
    assert {" ", "", ".", "Dr"} <= set(found["texts"])


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise cvc5_model.PackageNotFoundError(name)

    monkeypatch.setattr(cvc5_model, "version", missing)
    with pytest.raises(UsageError) as refused:
        ask(view(("a", "b")))
    assert str(refused.value) == "model 'cvc5' needs cvc5: pip install 'peirce[peers]'"


@pytest.mark.parametrize("setting", [{"seconds": 0}, {"memory_mb": 1}, {"second": 3}])
def test_a_setting_that_cannot_be_is_refused(setting: dict) -> None:
    with pytest.raises(UsageError, match=r"second|memory_mb"):
        ask(view(("a", "b")), **setting)


@with_cvc5
def test_a_session_with_cvc5_is_one_like_any_other(tmp_path) -> None:
    data = tmp_path / "pairs.jsonl"
    data.write_text(
        '{"id": "p", "train": [{"input": ["Ann", "Lee"], "output": "Lee Ann"},'
        ' {"input": ["Bob", "Ray"], "output": "Ray Bob"}],'
        ' "test": [{"input": ["Eve", "Fox"], "output": "Fox Eve"}]}\n'
    )
    session = peirce.run(
        "examples", data=str(data), model="cvc5", model_arg=["seconds=20"], max_answers=1,
        store=str(tmp_path / "store.duckdb"),
    )  # fmt: skip
    (found,) = session.findings()
    assert found.held_out is not None
    assert (found.shown.right, found.held_out.right, found.consistent) == (2, 1, True)
