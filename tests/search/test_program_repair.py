"""The search repairs programs of other models: the smallest change first, never a table of the shown
pairs, within its budget, with the same result every time, and without running them.

Internals: the search's own answer, which comes before most repairs, is switched off only inside."""

from __future__ import annotations

import copy

import pytest
from peirce.search.engines import SearchService
from peirce.search.programs.repair import ProgramRepair, repair_program

SECOND = [[[4, 2, 7], [2]], [[3, 9], [9]], [[8, 1, 5, 6], [1]], [[2, 6, 6], [6]], [[5, 0, 3], [0]]]
NAMES = [["Ann Lee", "LEE, Ann"], ["Bo Dee", "DEE, Bo"], ["Cy Young", "YOUNG, Cy"]]
GRIDS = [
    [[[0, 1], [2, 0]], [[1, 0], [0, 2]]],
    [[[3, 0], [0, 0]], [[0, 3], [0, 0]]],
    [[[0, 0, 5], [0, 1, 0]], [[5, 0, 0], [0, 1, 0]]],
]
SCENES = [
    [["red metal cube", "blue rubber sphere"], "on"], [["blue rubber sphere"], "off"],
    [["red metal cube"], "on"], [["green metal cube"], "off"],
]  # fmt: skip


def is_right(source, given, wanted):
    """Return whether a source of this test file, or of the search, has an output."""
    names: dict = {}
    exec(source, names)
    return next(names[n] for n in ("f", "fn") if n in names)(copy.deepcopy(given)) == wanted


class Nothing:
    """A search that finds nothing of its own."""

    def propose(self, earlier, skip):
        return None


def repaired(text, shown, expansions=30_000, earlier=(), space=()):
    return repair_program(text, Nothing(), shown, list(space), expansions, earlier)


def ask_search(text, shown, earlier=(), expansions=20_000):
    request = {
        "shown": shown, "family": "programs", "told": None, "space": "s",
        "inputs": [given for given, _ in shown], "expansions": expansions, "mend": text,
        "earlier": list(earlier), "skip": [],
    }  # fmt: skip
    return SearchService().propose(request)


@pytest.mark.parametrize(
    ("shown", "text", "changed"),
    [
        (SECOND, "def f(x):\n    return [x[0]]", "[x[1]]"),
        (SECOND, "def f(x):\n    return x[1]", "[x[1]]"),
        (SECOND, "def fn(x):\n    out = []\n    for i in range(len(x)):\n        if i > 1:\n"
                 "            out.append(x[i])\n    return out", "i == 1"),
        (NAMES, "def f(x):\n    a, b = x.split()\n    return b.lower() + ', ' + a", "b.upper()"),
        (NAMES, "def f(x):\n    a, b = x.split()\n    return b.upper() + ' ' + a", "', '"),
        (GRIDS, "def f(x):\n    return [r[:] for r in x]", "r[::-1]"),
    ],
)  # fmt: skip
def test_one_slip_is_mended_by_one_change(shown, text, changed):
    found = ask_search(text, shown)
    assert found["meta"] == {"repair_kind": "changes"}
    assert changed in found["source"] and all(is_right(found["source"], *pair) for pair in shown)
    assert f"`{changed}" in found["description"] or changed in found["description"]


def test_the_same_request_has_the_same_answer_in_every_process():
    text = "def f(x):\n    y = sorted(x)\n    return [y[len(x) // 2]]"
    first = repaired(text, SECOND)
    assert first == repaired(text, SECOND)


def test_a_smaller_change_comes_first():
    shown = [[[n, n + 5], n + 1] for n in range(9)]
    found = repaired("def f(x):\n    return x[0] + 3", shown)  # two steps of 1, or 1 in one
    assert found.source == "def f(x):\n    return x[0] + 1"


def test_two_changes_are_found_where_the_outputs_can_justify_them():
    shown = [
        [[a, b, c], [b, c, 0]]
        for a, b, c in ((1, 5, 2), (4, 4, 9), (0, 3, 3), (7, 1, 8), (2, 6, 1))
    ]
    found = repaired("def f(x):\n    return x[:2] + [1]", shown, 100_000)
    assert found.meta["repair_kind"] == "changes"
    assert all(is_right(found.source, *pair) for pair in shown)


def test_few_truth_values_justify_no_second_change():
    shown = [[[n], n % 3 == 0] for n in (0, 1, 2, 3, 4, 5, 6, 9)]
    repair = ProgramRepair("def f(x):\n    return x[0] > 20", shown, [], 1e5)
    assert repair._allowed_changes() <= 1


def test_a_function_from_its_results_is_found_by_the_search():
    shown = [
        [x, [sum(x), sum(x) + max(x)]]
        for x in ([1, 2], [5, 0, 4], [9], [3, 3, 3], [8, 2, 7, 1], [6, 10])
    ]
    text = "def f(x):\n    total = 0\n    for v in x:\n        total = total + v\n    return [total, max(x)]"
    found = repaired(text, shown, 100_000)
    assert found is not None and all(is_right(found.source, *pair) for pair in shown)


def test_another_case_is_completed_with_a_condition():
    shown = [[x, x[::-1] if len(x) > 3 else [v * 2 + 1 for v in x]] for x in (
        [1, 2, 3, 9], [5, 0, 4, 4, 8], [9, 7, 2, 2, 1, 3], [3, 1, 6, 5], [8, 2], [4], [6, 10, 3], [7, 1])]  # fmt: skip
    found = repaired("def f(x):\n    return x[::-1]", shown, 150_000)
    assert found.meta["repair_kind"] == "cases"
    assert "otherwise" in found.source and all(is_right(found.source, *pair) for pair in shown)
    assert is_right(found.source, [1, 5, 2, 2, 2, 7], [7, 2, 2, 2, 5, 1])


RANDOM = [
    [[3, 1], [40, 2]],
    [[7], [9, 9, 13]],
    [[2, 2, 8], [5]],
    [[6, 0, 1], [31, 17]],
    [[4, 9], [8, 2, 2]],
]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x",
        "def f(x):\n    if x == [3, 1]:\n        return [40, 2]\n    if x == [7]:\n        return [9, 9, 13]\n"
        "    if x == [2, 2, 8]:\n        return [5]\n    if x == [6, 0, 1]:\n        return [31, 17]\n    return [8]",
        "def f(x):\n    return {(3, 1): [40, 2], (7,): [9, 9, 13], (2, 2, 8): [5]}.get(tuple(x), [1])",
    ],
)  # fmt: skip
def test_shown_pairs_without_a_rule_are_not_tabulated(text):
    assert repaired(text, RANDOM, 60_000) is None


def test_a_table_of_shown_inputs_is_not_completed():
    """The last entry of a table is one change away from being right."""
    text = "def f(x):\n    return [40, 2] if x == [3, 1] else [9, 9, 13] if x == [7] else [6]"
    assert repaired(text, RANDOM[:3]) is None


def test_a_repair_that_was_given_is_not_given_again():
    text = "def f(x):\n    return [x[0]]"
    first = repaired(text, SECOND)
    second = repaired(text, SECOND, earlier=[first.source])
    assert second is None or second.source != first.source


def test_a_program_that_is_right_needs_no_repair():
    assert repaired("def f(x):\n    return [x[1]]", SECOND) is None


def test_the_budget_bounds_the_work():
    repair = ProgramRepair("def f(x):\n    return [max(x) - 1, len(x)]", RANDOM, [], 2_000)
    assert repair.find([], lambda: None) is None
    assert repair.budget.spent <= 0.4 * 2_000 + 40  # and one more variant


HOSTILE = [
    "import os\ndef f(x):\n    os.system('touch {}')\n    return [x[0]]",
    "def f(x):\n    open('{}', 'w').write('x')\n    return [x[0]]",
    "open('{}', 'w')\ndef f(x):\n    return [x[0]]",
    "def f(x, y=open('{}', 'w')):\n    return [x[0]]",
    "def f(x):\n    while True:\n        x.append(1)",
    "def f(x):\n    return [9 ** 9 ** 9]",
    "def f(x):\n    return f(f(x))",
    "def f(x):\n    return [0] * 10 ** 12",
    "def f(x):\n    return x" + "[0:]" * 50,
    "def f(x):\n    return " + "(" * 150 + "x" + ")" * 150,
    "def f(x):\n    return " + "[" * 5_000,
    "def f(x):\n    return [" + "1, " * 6_000 + "]",
    "f = 3",
    "\x00",
    "def f():\n    return 1",
    "def f(x):\n    return (yield x)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_program_has_no_effect_and_ends(text, tmp_path):
    touched = tmp_path / "touched"
    found = ask_search(text.replace("{}", str(touched)), SECOND, expansions=4_000)
    assert not touched.exists()
    assert "exhausted" in found or all(is_right(found["source"], *pair) for pair in SECOND)


def test_what_cannot_be_read_gets_the_search_s_own_answer_once():
    found = ask_search("this is no program", SECOND)
    assert found["meta"] == {"repair_kind": "search"}
    assert "exhausted" in ask_search("this is no program", SECOND, [found["source"]])


def test_rules_about_scenes_are_repaired_too():
    found = ask_search("def f(x):\n    return 'on' if 'blue rubber sphere' in x else 'off'", SCENES)
    assert all(is_right(found["source"], *pair) for pair in SCENES)
