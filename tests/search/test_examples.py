"""The embedded search on pairs of any JSON values: what it finds for everyday rules, that the source of
each operation computes what the operation does, and awkward data.

Internals: the grammar's rows are called directly, because a session shows only whole programs.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from pathlib import Path
from typing import Any

import peirce
import pytest
from peirce.search.budget import STANDARD, Budget
from peirce.search.engines import SearchService, find_engine
from peirce.search.examples import bank, engine
from peirce.search.examples.constants import parts_of
from peirce.search.examples.expressions import Expression
from peirce.search.examples.grammar import OPERATIONS, PIECES, RAISED, STR, Operation
from peirce.search.examples.search import Search

from .example_pairs import Pair, search

# Of each kind: the shown pairs, and those that the first answer must be right on, too.
KINDS: dict[str, tuple[list[Pair], list[Pair]]] = {
    "initials": ([("Ada Lovelace", "AL"), ("Alan Turing", "AT")], [("Grace Brewster Hopper", "GBH")]),
    "dates": ([("2024-03-15", "15/03/2024"), ("1999-12-01", "01/12/1999")], [("2010-07-30", "30/07/2010")]),
    "day of the week": ([("2024-03-15", "Friday"), ("2024-03-16", "Saturday")], [("2024-03-20", "Wednesday")]),
    "upper case": ([("abc", "ABC"), ("Hello you", "HELLO YOU")], [("x y", "X Y")]),
    "slugs": ([("Hello World Again", "hello-world-again"), ("My First Post!", "my-first-post")], [("What, Now?", "what-now")]),
    "last of a path": ([("a/b/c.txt", "c.txt"), ("x/yy.md", "yy.md")], [("p/q/r/s", "s")]),
    "inserted text": ([("Doe", "Dear Doe,"), ("Lee", "Dear Lee,")], [("Ray Man", "Dear Ray Man,")]),
    "celsius": ([(0, 32.0), (100, 212.0), (37, 98.6)], [(-40, -40.0), (20, 68.0)]),
    "celsius, fractions": ([(0.0, 32.0), (100.0, 212.0), (36.6, 97.88)], [(20.0, 68.0)]),
    "twice": ([(1, 2), (5, 10), (-3, -6)], [(40, 80)]),
    "squares": ([(1, 1), (5, 25), (-3, 9)], [(12, 144)]),
    "even": ([(1, False), (2, True), (7, False), (10, True), (0, True)], [(13, False), (44, True)]),
    "over a bound": ([(3, False), (15, True), (9, False), (11, True), (10, False)], [(40, True), (1, False)]),
    "rounded": ([(3.14159, 3.14), (2.71828, 2.72)], [(1.23456, 1.23)]),
    "a field": ([({"name": "Ann", "age": 3}, "Ann"), ({"name": "Bob", "age": 5}, "Bob")], [({"name": "Cy", "age": 1}, "Cy")]),
    "another record": (
        [({"first": "Ann", "last": "Lee", "n": 1}, {"name": "Ann Lee", "n": 1}), ({"first": "Bob", "last": "Ray", "n": 4}, {"name": "Bob Ray", "n": 4})],
        [({"first": "Cy", "last": "Oh", "n": 9}, {"name": "Cy Oh", "n": 9})],
    ),
    "a computed field": (
        [({"price": 2, "count": 3}, {"total": 6}), ({"price": 5, "count": 4}, {"total": 20}), ({"price": 7, "count": 1}, {"total": 7})],
        [({"price": 9, "count": 9}, {"total": 81})],
    ),
    "each in upper case": ([(["a", "b"], ["A", "B"]), (["xy"], ["XY"])], [(["p", "q", "r"], ["P", "Q", "R"])]),
    "the long ones": ([(["apple", "fig", "banana"], ["apple", "banana"]), (["kiwi", "plum", "cherry"], ["cherry"])], [(["pear", "orange"], ["orange"])]),
    "sorted": ([(["b", "a", "c"], ["a", "b", "c"]), (["z", "y"], ["y", "z"])], [(["n", "m"], ["m", "n"])]),
    "names of records": ([([{"n": "a", "v": 1}, {"n": "b", "v": 2}], ["a", "b"]), ([{"n": "c", "v": 1}], ["c"])], [([{"n": "d", "v": 3}], ["d"])]),
    "a total": ([([{"p": 2}, {"p": 3}], 5), ([{"p": 4}], 4), ([{"p": 1}, {"p": 1}, {"p": 7}], 9)], [([{"p": 10}, {"p": 5}], 15)]),
    "means": ([([1.0, 2.0, 3.0], 2.0), ([4.0, 7.0], 5.5)], [([1.0, 1.0, 4.0], 2.0)]),
    "null": ([("", None), ("5", 5), ("12", 12)], [("7", 7)]),
    "two arguments": ([([3, 4], 12), ([5, 6], 30), ([2, 7], 14)], [([9, 9], 81)]),
    "zeros in front": ([(5, "005"), (42, "042")], [(123, "123")]),
    "not": ([(True, False), (False, True)], []),
    "words": ([("a b c", 3), ("one", 1)], [("to be or not", 4)]),
    "thousands": ([(1234567, "1,234,567"), (1000, "1,000")], [(99999, "99,999")]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_an_everyday_rule_is_the_first_answer(kind: str) -> None:
    shown, others = KINDS[kind]
    first = search(shown)[0]
    assert first.is_consistent(shown)
    assert first.is_consistent(others), first.text


# Inputs, and up to which price expressions are drawn from them; outputs, where constants depend on them.
SAMPLES: list[tuple[list[Any], int] | tuple[list[Any], int, list[Any]]] = [
    (["Ada 12, Lee-3 <b>x</b>", "a-b", "07 07", ""], 13),
    ([["Ann Lee", "n"], ["bob", "b"], ["x-n", "n"]], 14),
    ([3, -12, 1250, 0], 15),
    ([[4, 5], [7, 7], [-3, 40]], 15),
    ([2.5, -0.125, 31.0, 7.75], 14),
    ([[1.5, 2.0], [0.5]], 13),
    (["12.5", "7", "003"], 14),
    ([["b a", "c", ""], ["z"]], 14),
    ([[3, 1, 2], [5]], 14),
    (["2024-03-15T10:45:00", "1999-12-01T00:05:00"], 16),
    ([True, False], 14),
    ([[1.5, 2.5], [4.0, 0.5]], 14),
    ([["apple", "p"], ["bb", "b"], ["c-1", "c-1"], ["x p", "x"], ["pq", "q"], ["", "a"]], 14),
    (["a-b", "b-a", "-b", "ab-ab-", "cab", "-", "bc-a", "-a-", "a", "a-"], 12),
    ([[1, 1], [2, 3], [4, 4], [5, 1], [0, 7], [7, 0], [9, 9], [12, 4]], 13),
    ([["a", "a"], ["ab", "a"], ["b", "ab"], ["xa", "a"], ["ax", "x"], ["q", "q"], ["axa", "a"]], 9),
    ([[["a", "b", "a", "c", "b"], "b", 2], [["q", "p"], "p", 1], [["z", "z"], "y", 0]], 13),
    ([[[3, 1, 3, 9, 1], 2], [[5, 2], 1], [[7, 7, 8], 7]], 13),
    ([[[0.5, 2.5, 0.5], 2.5, 1], [[4.0, 3.0], 4.0, 0], [[1.0], 2.0, 2]], 13),
    ([[[{"n": 1}, {"n": 2}, {"n": 3}], 2], [[{"n": 5}], 1], [[{"n": 7}, {"n": 7}], 0]], 12),
    ([[[1, "a", None], [True]], [[{"b": 2}], []]], 12),
    ([{"a": 3, "b": 1}, {"b": 7}, {"a": 2, "c": 0}], 12),
    ([[True, False], [True, True], [False, False], [False, True]], 12),
    (["10:45:09", "00:05:30"], 12),
    (["2024-03-15", "1999-12-01"], 14),
    (["2024-03-15T10:45:00+02:00", "1999-12-01T00:05:00-05:00"], 12),
    (["2024-03-15", "1999-12-01"], 12, [1710460800, 944006400]),
    ([1710460800, 944006400], 12, ["2024-03-15", "1999-12-01"]),
    ([5, 8, 19], 8, ["101", "1000", "10011"]),
    (["101", "1000", "10011"], 8, [5, 8, 19]),
    ([[1.5, 1.5], [2.0, 0.5], [3.0, 4.5], [0.25, 0.25]], 12),
    (
        [
            ["20/05/1995", "26/12/2017"],
            ["01/08/1981", "21/01/1970"],
            ["04/06/2010", "28/04/1998"],
            ["18/02/2023", "08/01/1977"],
            ["14/05/1973", "28/07/1970"],
            ["25/02/1967", "20/10/2006"],
            ["05/03/1950", "28/01/1976"],
            ["25/04/1971", "28/03/1987"],
            ["11/04/2019", "22/11/1976"],
            ["06/12/1975", "13/05/1952"],
        ],
        17,
        ["a", "b", "c", "a", "b"] * 2,
    ),
]


PAGE = (Path(__file__).parents[2] / "docs/explanation/search.md").read_text("utf-8")
ROWS = re.findall(r"^\| (`.+` → `.+`) \| `(.+)` \|$", PAGE, re.M)


@pytest.mark.parametrize(("pairs", "program"), ROWS)
def test_the_first_answers_on_the_page_are_those_of_the_search(pairs: str, program: str) -> None:
    shown = [tuple(map(json.loads, pair.strip("`").split("` → `"))) for pair in pairs.split("; `")]
    assert search(shown, STANDARD)[0].text.endswith(f"\n    return {program}")


def test_the_page_has_examples() -> None:
    assert len(ROWS) > 10


def test_the_source_of_each_operation_computes_what_its_function_does() -> None:
    """On up to thirty expressions of each, on inputs of several kinds."""
    checked: Counter[str] = Counter()
    for inputs, price, *others in SAMPLES:
        outputs = others[0] if others else ["x"] * len(inputs)
        some = bank.Bank(inputs, outputs, Budget(300_000))
        while some.price < 2 * price and some.grow():
            pass
        names: dict[str, Any] = {
            "re": re, "math": math, "datetime": datetime, "timedelta": timedelta, "timezone": timezone,
            "accumulate": accumulate
        }  # fmt: skip
        here: Counter[str] = Counter()
        for one in (
            e for levels in some.levels.values() for level in levels.values() for e in level
        ):
            if one.operation is None or here[one.operation.name] == 30:
                continue
            for given, value in zip(inputs, one.values, strict=False):
                try:
                    found = eval(one.source(), names, {"x": given})
                except RAISED:
                    found = bank.UNDEFINED
                assert found == value or value is bank.UNDEFINED, one.source()
            here[one.operation.name] += 1
        checked += here
    assert {row.name for row in OPERATIONS} <= set(checked)


@pytest.mark.parametrize("sample", range(0, len(SAMPLES), 3))
def test_what_is_skipped_without_evaluation_is_known(
    sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same values have the same prices if all arguments are evaluated.

    Pieces of undivided texts are left out: the only piece is the text.
    """

    def enumerate_prices() -> tuple[dict[tuple[str, str], int], float]:
        inputs, price, *others = SAMPLES[sample]
        budget = Budget(200_000)
        outputs = others[0] if others else ["x"] * len(inputs)
        some = bank.Bank(inputs, outputs, budget)
        while some.price < 2 * (price - 2) and some.grow():
            pass
        assert budget.left
        return {
            (kind, repr(one.values)): one.price
            for kind in some.levels.keys() - {PIECES}
            for one in some.of_kind(kind)
            if bank.UNDEFINED not in one.values
        }, budget.spent

    found, spent = enumerate_prices()
    rows = tuple(row._replace(guard=None, commutative=False) for row in OPERATIONS)
    monkeypatch.setattr(bank, "OPERATIONS", rows)
    wanted, all_spent = enumerate_prices()
    assert found == wanted
    assert spent < all_spent


def test_a_new_operation_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows, of which each is used."""
    rows = (
        Operation("doubled", (STR,), STR, 3, lambda s: s + s, "{0} * 2", True),
        Operation("hashed", (STR,), STR, 3, lambda s: hex(sum(map(ord, s)))[2:], "hex(sum(map(ord, {0:free})))[2:]"),
        Operation("centred", (STR,), STR, 3, lambda s: s.center(9, "*"), '{0}.center(9, "*")'),
    )  # fmt: skip
    monkeypatch.setattr(bank, "OPERATIONS", (*OPERATIONS, *rows))
    for row in rows:
        pairs = [(text, row.function(text)) for text in ("ab", "cde", "fghij")]
        assert search(pairs)[0].is_consistent([("xyz", row.function("xyz"))])


@pytest.mark.parametrize(
    "pairs",
    [
        [("Straße", "STRASSE"), ("naïve", "NAÏVE")],
        [("日本 東京", "東京"), ("中国 北京", "北京")],
        [("👩‍👧 ok", "ok"), ("👍 yes", "yes")],
        [("", ""), ("a", "a")],
        [("only one", "one")],
        [("a", None), ("b", None)],
        [([1, "a", None], "a"), ([2, "b", True], "b")],
        [({"a": [1, {"b": "x"}]}, "x"), ({"a": [2, {"b": "y"}]}, "y")],
    ],
)
def test_awkward_pairs_have_an_answer(pairs: list[Pair]) -> None:
    assert search(pairs)[0].is_consistent(pairs)


def test_ten_thousand_pairs_are_all_reproduced() -> None:
    """Also the few that differ from the others."""
    pairs = [(f"item {n}", "none" if n == 7_777 else str(n)) for n in range(10_000)]
    plain = [(given, out) for given, out in pairs if out != "none"]
    assert search(plain)[0].is_consistent(plain)
    assert all(one.is_consistent(pairs) for one in search(pairs))


def progress(pairs: list[Pair], expansions: int = 3_000) -> dict[str, object]:
    request = {
        "shown": [list(pair) for pair in pairs], "space": "s", "inputs": [given for given, _ in pairs],
        "expansions": expansions, "earlier": [], "skip": [], "family": "programs",
    }  # fmt: skip
    return SearchService().propose(request)


def test_a_search_without_an_answer_says_how_many_expansions_it_spent() -> None:
    pairs = [("qwe", "0x81"), ("rty", "zz9"), ("uio", "-..-"), ("pas", "\t7"), ("dfg", "Q q")]
    said = progress(pairs)
    assert said["exhausted"] is True and 3_000 <= said["expansions"] < 6_000
    assert (said["right"], said["best"]) == (0, "")
    assert progress([({}, 1), ({"a": 1}, "b")])["expansions"] == 0  # outputs of two kinds


def test_a_search_without_an_answer_says_what_is_right_on_most_pairs() -> None:
    words = ["ab", "cd", "ef", "gh", "ij", "kl", "mn"]
    said = progress([*((word, word.upper()) for word in words), ("op", "?!")])
    assert (said["right"], said["best"]) == (7, "x.upper()")
    assert progress([(word, "-") for word in words[:6]] + [("a", "?!"), ("b", "!?")])["right"] == 0


LINES = "\n".join(f"row {k}" for k in range(20_000))


def test_a_part_is_written_before_what_leaves_it_unchanged() -> None:
    pairs = [([f"w{n}", f"v{n}"], f"v{n}") for n in range(3)]
    assert search(pairs)[0].text.endswith("return x[1]")


def test_a_rare_case_is_found_among_many_pairs() -> None:
    pairs = [(n, "a" if n < 9_990 else "b") for n in range(10_000)]
    assert search(pairs)[0].text.endswith("return 'a' if (x < 9990) else 'b'")


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        ([(LINES, "row 0"), ("a\nb", "a"), ("q\nr", "q")], "x.split('\\n')[0]"),
        ([([*range(100_000)], 100_000), ([1, 2], 2)], "len(x)"),
        ([([f"k{i * n}" for i in range(2_000)], f"k{5 * n}") for n in (1, 2, 3)], "x[5]"),
        ([({f"k{i}": i * n for i in range(2_000)}, 5 * n) for n in (1, 2, 3)], "x['k5']"),
    ],
    ids=["a text of 20,000 lines", "a list of 100,000", "2,000 arguments", "2,000 fields"],
)
def test_large_inputs_have_an_answer_in_little_memory(pairs: list[Pair], wanted: str) -> None:
    """Without a price for the elements of kept lists, the text needs three times as much."""
    tracemalloc.start()
    try:
        found = search(pairs)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[0].text.endswith(f"return {wanted}") and most < 150e6


def test_long_outputs_without_a_program_end_soon() -> None:
    """The parts of an output are at most 30, not as many as it has characters."""
    pairs = [("ab", "ab" * 100_000), ("cd", "cd" * 100_000)]
    said = progress(pairs, 20_000)
    assert said["exhausted"] is True and said["expansions"] < 60_000


@pytest.mark.parametrize(
    "pairs",
    [
        [([1, 2, 9], [2, 3, 10]), ([5], [6])],  # [float(one) + 1 for one in x]
        [(0.0, -0.0), (1.5, -1.5), (2.5, -2.5)],  # x * 3 * -1 / 3
    ],
)
def test_programs_whose_outputs_count_as_equal_are_one_answer(pairs: list[Pair]) -> None:
    shown = [list(pair) for pair in pairs]
    space = [given for given, _ in pairs]
    problem = engine.Problem(shown, space, STANDARD)
    first = problem.propose([], frozenset())
    assert first is not None
    assert problem.propose([first.source], frozenset([first.source])) is None


def test_many_pairs_share_one_budget() -> None:
    """Later rounds, with further pairs, spend what the first one left."""
    pairs = [(f"item {n}", "none" if n % 97 == 50 else str(n)) for n in range(1_000)]
    said = progress(pairs)
    assert said["expansions"] < 2 * 3_000
    assert said["right"] == sum(out != "none" for _, out in pairs) and said["best"]


def test_outputs_that_differ_in_the_last_digits_are_no_contradiction() -> None:
    pairs = [(0.1, 0.1 + 0.2), (0.1, 0.3), (0.2, 0.4)]
    assert progress(pairs)["source"] == "def f(x):\n    return x + 0.2"


def test_nothing_found_is_an_empty_list_within_the_budget() -> None:
    pairs = [("qwe", "0x81"), ("rty", "zz9"), ("uio", "-..-"), ("pas", "\t7"), ("dfg", "Q q")]
    shown = [list(pair) for pair in pairs]
    found = Search(shown, 5_000)
    found.run()
    assert found.budget.spent < 3 * 5_000


def test_the_search_is_the_same_however_often_it_runs() -> None:
    for kind in ("slugs", "null", "another record"):
        texts = [[one.text for one in search(KINDS[kind][0])] for _ in range(2)]
        assert texts[0] == texts[1]


def test_constants_have_one_order_in_every_process() -> None:
    """Hashes of texts differ between processes, and the first of two equal expressions is kept."""
    program = (
        "from peirce.search.examples.constants import constants_of\n"
        "print(list(constants_of(['a-b_c, d=e; f', 'g-h_c, d=i; j'], ['<c:d>', '<c/d>'])))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True, check=True,
        ).stdout
        for seed in (1, 2, 3)
    }  # fmt: skip
    assert len(printed) == 1


def test_other_families_get_no_programs() -> None:
    shown = [[{"text": "good"}, "pos"], [{"text": "bad"}, "neg"]]
    names = {family: find_engine(shown, family) for family in ("programs", "text", "logic")}
    assert [one and one.name for one in names.values()] == ["examples", "text", None]


def test_any_json_values_meet_an_engine() -> None:
    small: list[Any] = [None, True, 0, 3, 0.5, "", "on", [], {}, [[1, 2], [3]], {"domain": 1}]
    values = [*small, *([one, other] for one in small for other in small), [[[1]], 2]]
    for given in values:
        for wanted in (True, "on", 3, given):
            assert find_engine([[given, wanted]], "programs") is not None, (given, wanted)


def test_parts_of_inputs_are_named_as_python_names_them() -> None:
    inputs = [{"a": [1, "x"], "b": {"c": 2.0}}, {"a": [2, "y"], "b": {"c": 3.0}, "d": 0}]
    parts = {one.source(): one.values for _, one in parts_of(inputs)}
    assert parts == {
        "x['a'][0]": (1, 2), "x['a'][1]": ("x", "y"), "x['b']['c']": (2.0, 3.0),
        "'d' in x": (False, True), "x.get('d', 0)": (0, 0), "list(x)": (["a", "b"], ["a", "b", "d"]),
        "list(x.values())": ([[1, "x"], {"c": 2.0}], [[2, "y"], {"c": 3.0}, 0]),
    }  # fmt: skip
    pair = {one.source(): one.values for _, one in parts_of([[{"a": 3}, "a"]], ("row", "k"))}
    assert pair == {"row['a']": (3,), "k": ("a",), "row[k]": (3,)}
    null = {one.source(): one.values for _, one in parts_of([None, 2])}
    assert null == {"x is None": (True, False), "x is not None": (False, True)}
    assert isinstance(Expression(1, ("x",), text="x").source(), str)


def test_a_session_answers_ordinary_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"problem": kind, "input": given, "output": out, "split": split}
        for kind in ("initials", "another record", "null", "twice")
        for split, pairs in zip(("shown", "hidden"), KINDS[kind], strict=True)
        for given, out in pairs
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    digests = set()
    for workers in (1, 2):
        store = tmp_path / f"{workers}.duckdb"
        session = peirce.run(
            "examples", data=path, model="search", max_answers=1, workers=workers, store=store
        )
        digests.add(session.digest)
        assert session.status == "done"
        listed = peirce.show(session.session, store=store)
        assert [row.verdicts["accepted"] for row in listed] == [1] * 4
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        ([("k", 0), ("zz", 0), ("q", 0)], "0"),
        ([(None, None), ("x", "X"), ("y", "Y")], "None if x is None else x.upper()"),
        ([(["Ann", 3], "AnnAnnAnn"), (["Bo", 2], "BoBo"), (["Z", 4], "ZZZZ")], "x[0] * x[1]"),
        ([("ab " * 3_000 + str(k), "AB " * 3_000 + str(k)) for k in range(3)], "x.upper()"),
    ],
    ids=["equal outputs", "null stays null", "text times number", "long texts"],
)
def test_the_first_answer_is_the_plain_one(pairs: list[Pair], wanted: str) -> None:
    assert search(pairs)[0].text.endswith(f"return {wanted}")


@pytest.mark.parametrize(
    "pairs",
    [
        [(10**400, 2 * 10**400), (3, 6), (7, 14)],
        [([10**400, 1], 10**400 + 1), ([1, 2], 3), ([5, 5], 10)],
    ],
)
def test_integers_beyond_floats_are_no_error(pairs: list[Pair]) -> None:
    assert all(one.is_consistent(pairs) for one in search(pairs))


def test_a_long_text_that_outputs_share_is_one_constant() -> None:
    letter = "Dear customer, thank you for your order. " * 4
    pairs = [(name, f"{letter}{name}. Bye") for name in ("Ann", "Bo", "Cy Lee")]
    assert search(pairs)[0].is_consistent([("Di", f"{letter}Di. Bye")])


def test_long_texts_take_little_memory() -> None:
    pairs = [("ab " * 1_000 + str(k), "ab " * 1_000 + str(k) * 2 + "k") for k in range(3)]
    tracemalloc.start()
    try:
        search(pairs, 20_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200 << 20
