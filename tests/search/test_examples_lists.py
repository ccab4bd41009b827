"""The embedded search on pairs of lists and records: the first answers."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Any

import pytest

from .example_pairs import search

# Of lists and records: the program that the first answer must be, and inputs that show what it does.
LISTS: list[tuple[str, list[Any]]] = [
    ("sorted(x, key=len)", [["ccc", "a", "bb"], ["dddd", "ee", "f"], ["xx", "y"]]),
    ("sorted(x, key=len, reverse=True)", [["ccc", "a", "bb"], ["dd", "eeee", "f"], ["x", "yy"]]),
    ("sorted(x, key=lambda row: row['age'], reverse=True)", [[{"n": "a", "age": 3}, {"n": "b", "age": 9}], [{"n": "c", "age": 7}, {"n": "d", "age": 2}, {"n": "e", "age": 8}]]),
    ("sorted(x, key=lambda one: one.split()[-1])", [["Ada Lovelace", "Alan Turing", "Grace Hopper"], ["Don Knuth", "Bar Liskov"], ["Zed Alpha", "Abe Zulu"]]),
    ("sorted(x, key=lambda one: int(one.split('-')[-1]))", [["a-10", "b-9", "c-1"], ["q-5", "r-20"], ["z-100", "a-20", "b-3"]]),
    ("sorted(x, key=lambda row: row['n'])[:2]", [[{"n": 3, "k": "a"}, {"n": 1, "k": "b"}, {"n": 2, "k": "c"}], [{"n": 9, "k": "u"}, {"n": 4, "k": "v"}, {"n": 7, "k": "w"}, {"n": 1, "k": "z"}]]),
    ("[row['name'] for row in sorted(x, key=lambda row: row['n'])]", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 9, "name": "u"}, {"n": 4, "name": "v"}]]),
    ("[row['name'] for row in sorted(x, key=lambda row: row['n'], reverse=True)[:2]]", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 9, "name": "u"}, {"n": 4, "name": "v"}, {"n": 14, "name": "w"}]]),
    ("max(x, key=lambda row: row['n'])['name']", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 4, "name": "v"}, {"n": 9, "name": "u"}], [{"n": 1, "name": "g"}]]),
    ("min(x, key=lambda row: row['n'])", [[{"n": 3, "name": "a"}, {"n": 1, "name": "b"}, {"n": 2, "name": "c"}], [{"n": 4, "name": "v"}, {"n": 9, "name": "u"}], [{"n": 1, "name": "g"}]]),
    ("max(x, key=len)", [["a", "bbb", "cc"], ["dddd", "e"], ["f", "gg"]]),
    ("sorted(x, key=lambda one: (len(one), one))", [["bb", "aa", "c"], ["dd", "ccc", "bb", "a"], ["zz", "xx", "y"]]),
    ("list(dict.fromkeys(x))", [["a", "b", "a"], ["x", "x", "y"], ["q"]]),
    ("len(set(x))", [["a", "b", "a"], ["x", "x"], ["q", "r", "s"]]),
    ("dict(Counter(x))", [["a", "b", "a"], ["x", "x", "y"], ["q"]]),
    ("{key: [row['name'] for row in x if row['city'] == key] for key in dict.fromkeys(row['city'] for row in x)}", [[{"city": "R", "name": "u"}, {"city": "P", "name": "v"}, {"city": "R", "name": "w"}], [{"city": "L", "name": "a"}, {"city": "P", "name": "b"}]]),
    ("dict(Counter(row['city'] for row in x))", [[{"city": "R", "name": "u"}, {"city": "P", "name": "v"}, {"city": "R", "name": "w"}], [{"city": "L", "name": "a"}, {"city": "P", "name": "b"}]]),
    ("{key: sum(row['n'] for row in x if row['city'] == key) for key in dict.fromkeys(row['city'] for row in x)}", [[{"city": "R", "n": 3}, {"city": "P", "n": 4}, {"city": "R", "n": 5}], [{"city": "L", "n": 6}, {"city": "P", "n": 7}]]),
    ("{key: [one for one in x if one[0] == key] for key in dict.fromkeys(one[0] for one in x)}", [["ab", "ac", "ba"], ["xy", "xz", "zz"], ["q"]]),
    ("{row['id']: row['name'] for row in x}", [[{"id": "1", "name": "a"}, {"id": "2", "name": "b"}], [{"id": "7", "name": "c"}]]),
    ("[a + b for a, b in zip(x[0], x[1])]", [[[1, 2], [3, 4]], [[5, 6, 7], [1, 1, 2]]]),
    ("list(map(list, zip(*x)))", [[["a", "b"], [3, 4]], [["c", "d", "e"], [1, 1, 2]]]),
    ("[[n, one] for n, one in enumerate(x)]", [["a", "b"], ["c", "d", "e"]]),
    ("[str(n + 1) + '. ' + one for n, one in enumerate(x)]", [["a", "b"], ["c", "d", "e"]]),
    ("[one for row in x for one in row]", [[[1, 2], [3]], [[4], [5, 6], []]]),
    ("[[one.upper() for one in row] for row in x]", [[["a", "b"], ["c"]], [["d"], ["e", "f"]]]),
    ("[sum(row) for row in x]", [[[1, 2], [3]], [[4], [5, 6]]]),
    ("[x[k:k + 2] for k in range(0, len(x), 2)]", [[1, 2, 3, 4], [5, 6, 7, 8, 9]]),
    ("[[a, b] for a, b in zip(x, x[1:])]", [["a", "b", "c"], ["d", "e"], ["f", "g", "h", "i"]]),
    ("[row['name'] for row in x if row['n'] > 3]", [[{"n": 6, "name": "h"}, {"n": 3, "name": "a"}, {"n": 5, "name": "b"}, {"n": 4, "name": "c"}], [{"n": 1, "name": "d"}, {"n": 9, "name": "e"}], [{"n": 2, "name": "f"}, {"n": 8, "name": "g"}]]),
    ("[one.upper() for one in x if len(one) > 3]", [["harbor", "abc", "abcd", "xyzzy"], ["q", "quux"], ["foo", "barb"]]),
    ("sum(row['n'] * row['price'] for row in x)", [[{"n": 2, "price": 3}, {"n": 4, "price": 5}], [{"n": 3, "price": 3}], [{"n": 2, "price": 2}, {"n": 1, "price": 10}]]),
    ("sum(row['n'] for row in x if row['ok'])", [[{"n": 2, "ok": True}, {"n": 4, "ok": False}], [{"n": 3, "ok": True}, {"n": 5, "ok": True}], [{"n": 2, "ok": False}, {"n": 1, "ok": True}]]),
    ("any(row['n'] > 3 for row in x)", [[{"n": 5}, {"n": 0}], [{"n": 1}, {"n": 2}, {"n": 3}], [{"n": 2}, {"n": 4}], [{"n": 1}, {"n": 3}], [{"n": 5}], [{"n": 2}]]),
    ("{k.upper(): v for k, v in x.items()}", [{"a": 1, "b": 2}, {"c": 5}, {"a": 4, "d": 7}]),
    ("{k: v for k, v in x.items() if k != 'id'}", [{"a": 1, "id": 2}, {"c": 5, "id": 3, "d": 4}, {"a": 4, "d": 7, "id": 0}]),
    ("{k: v for k, v in x.items() if v > 3}", [{"a": 1, "b": 5}, {"c": 5, "d": 3, "e": 4}, {"a": 4, "d": 7, "g": 0}]),
    ("{k: v for k, v in x.items() if v is not None}", [{"a": None, "c": 4, "b": 6}, {"a": 1, "b": None}, {"c": None, "d": 3, "e": 4}, {"a": 4, "d": 7, "g": None}]),
    ("x.get('a')", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("x.get('a', 0)", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("x[0] | x[1]", [[{"a": 1}, {"b": 5}], [{"b": 5}, {"c": 2}], [{"a": 4, "d": 7}, {"a": 0}]]),
    ("{**x, 'total': x['n'] * x['p']}", [{"n": 2, "p": 3, "c": "x"}, {"n": 4, "p": 5, "d": 1}, {"n": 7, "p": 2}]),
    ("list(x)", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("list(x.values())", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("sum(x.values())", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 7}]),
    ("max(x, key=x.get)", [{"a": 1, "b": 5}, {"b": 5}, {"a": 4, "d": 2}]),
    ("sorted(x, key=x.get)", [{"a": 7, "b": 5}, {"b": 5, "c": 9}, {"a": 4, "d": 2, "e": 3}]),
    ("', '.join(row['name'] for row in x)", [[{"name": "a", "n": 1}, {"name": "b", "n": 1}], [{"name": "c", "n": 1}], [{"name": "d", "n": 2}, {"name": "e", "n": 3}, {"name": "f", "n": 3}]]),
    ("'&'.join(k + '=' + str(v) for k, v in x.items())", [{"a": 1, "b": 5}, {"b": 5, "c": 12}, {"a": 4, "d": 7}]),
    ("x[0][:x[1]]", [[["a", "b", "c"], 2], [["d", "e", "f"], 1], [["g", "h", "i", "j"], 3]]),
    ("x[0][x[1]]", [[["a", "b", "c"], 2], [["d", "e", "f"], 1], [["g", "h", "i", "j"], 0]]),
    ("x[1] in x[0]", [[["a", "b", "c"], "b"], [["d", "e", "f"], "q"], [["g", "h", "i", "j"], "j"], [["a"], "z"]]),
    ("x[0].count(x[1])", [[["a", "b", "a"], "a"], [["d", "e", "f"], "d"], [["g", "g", "g", "j"], "g"], [["a"], "z"]]),
    ("[one * x[1] for one in x[0]]", [[[1, 2, 3], 2], [[4, 5], 3], [[7, 8, 9, 1], 10]]),
    ("[one for one in x[0] if one != x[1]]", [[["a", "b", "a"], "a"], [["d", "e", "f"], "e"], [["g", "h"], "h"]]),
    ("x[0] + [x[1]]", [[["a", "b"], "c"], [["d"], "e"], [["f", "g", "h"], "i"]]),
    ("[row[x[1]] for row in x[0]]", [[[{"a": 1, "b": 2}, {"a": 3, "b": 4}], "a"], [[{"a": 5, "b": 6}, {"a": 3, "b": 9}], "b"], [[{"a": 7, "b": 8}], "a"]]),
    ("x[::-1]", [[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}, {"a": 5}]]),
    ("x[0]", [[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}, {"a": 5}]]),
    ("x[-1]['a']", [[{"a": 1}, {"a": 2}], [{"a": 3}, {"a": 4}, {"a": 5}]]),
    ("[{'id': row['n'], 'name': row['first'] + ' ' + row['last']} for row in x]", [[{"n": 1, "first": "A", "last": "B"}, {"n": 2, "first": "C", "last": "D"}], [{"n": 3, "first": "E", "last": "F"}]]),
    ("[min(x), max(x)]", [[1, 2, 3], [4, 5], [6, 7, 8, 9]]),
    ("{'max': max(x), 'min': min(x)}", [[1, 2, 3], [4, 5], [9, 6, 7, 8]]),
    ("[one for one in x if one is not None]", [["a", None], ["b", "c", None], [None, "d"]]),
    ("[each for one in x for each in one.split()]", [["a b", "c"], ["d e f"], ["g", "h i"]]),
    ("[one for row in x for one in row['tags']]", [[{"tags": ["a", "b"], "n": 1}, {"tags": ["c"], "n": 1}], [{"tags": [], "n": 1}, {"tags": ["d", "e"], "n": 2}]]),
    ("[{**row, 'total': row['n'] * row['p']} for row in x]", [[{"n": 1, "p": 5}, {"n": 2, "p": 3}], [{"n": 7, "p": 2}], [{"n": 4, "p": 4}]]),
    ("list(accumulate(x))", [[1, 2, 3], [4, 5], [6, 7, 8, 9]]),
    ("[b - a for a, b in zip(x, x[1:])]", [[1, 2, 4], [4, 9], [6, 7, 3, 9]]),
    ("next(row['name'] for row in x if row['ok'])", [[{"name": "a", "ok": False}, {"name": "b", "ok": True}], [{"name": "c", "ok": True}, {"name": "d", "ok": True}], [{"name": "e", "ok": False}, {"name": "f", "ok": False}, {"name": "g", "ok": True}]]),
    ("[row for row in x if row['city'] == 'Rome']", [[{"city": "Rome", "n": 1}, {"city": "Paris", "n": 2}], [{"city": "Oslo", "n": 3}, {"city": "Rome", "n": 4}, {"city": "Rome", "n": 5}], [{"city": "Oslo", "n": 6}]]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "inputs"), LISTS, ids=[program for program, _ in LISTS])
def test_the_first_answer_on_lists_and_records_is_what_a_person_would_write(
    program: str, inputs: list[Any]
) -> None:
    names: dict[str, Any] = {"Counter": Counter, "accumulate": accumulate}
    pairs = [(given, eval(program, names | {"x": given})) for given in inputs]
    assert search(pairs)[0].text.endswith(f"\n    return {program}")


def test_a_search_for_an_element_that_is_not_there_has_no_result() -> None:
    """As in `next(...)`, on inputs that are unlike the shown ones."""
    (inputs,) = (given for program, given in LISTS if program.startswith("next("))
    names: dict[str, Any] = {}
    exec("def f(x):\n    return next(row['name'] for row in x if row['ok'])", names)
    found = search([(given, names["f"](given)) for given in inputs])
    assert not found[0].predict([[], [{"name": "a", "ok": False}]])[1].any()


def test_long_lists_are_sorted() -> None:
    inputs = [[{"n": k * j % 997, "name": f"w{k}"} for k in range(1_500)] for j in (7, 31, 57)]
    first = search([(given, sorted(given, key=lambda row: row["n"])) for given in inputs])[0]
    assert first.text.endswith("return sorted(x, key=lambda row: row['n'])")


def test_a_bound_is_the_roundest_that_the_pairs_allow() -> None:
    rows = [[3, 8, 47], [62, 12], [38, 41], [51, 44, 1]]
    pairs = [([{"n": n} for n in row], sum(n for n in row if n > 40)) for row in rows]
    assert search(pairs)[0].text.endswith("return sum(row['n'] for row in x if row['n'] > 40)")
