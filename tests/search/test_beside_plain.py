"""The comparison of bench/search.py --plain: what is counted, and what the plain enumeration makes.

Internals: the plain enumeration of the bench runs on the operations and the budget of the search.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from peirce.search.budget import Budget
from peirce.search.lists.codegen import TooLong, generate_source
from peirce.search.lists.grammar import list_operations

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "search" / "lists"
SHOWN = [[[3, 1, 2], [1, 2]], [[5, 0, 7, 9], [0, 7, 9]], [[4], []], [[8, 8, 2], [8, 2]]]


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])


def test_the_plain_enumeration_answers_with_the_cheapest_program() -> None:
    from plain_enumeration import enumerate_plainly

    assert enumerate_plainly(SHOWN, 20.0).text == "def f(x):\n    return x[1:]"


def test_values_of_the_plain_enumeration_are_what_its_programs_return() -> None:
    from plain_enumeration import _Enumeration

    made = _Enumeration(SHOWN)
    made.run(0.5, whole=True)
    parts = [part for (makes, _), some in made.made.items() if makes == "L" for part in some]
    # The guards of these are made for places from 1 on, which the search alone asks for.
    parts = [p for p in parts if not {"nth_largest", "nth_least"} & {*list_operations(p.node)}]
    for part in random.Random(3).sample(parts, 200):
        names: dict = {}
        try:
            exec(compile(generate_source(part.node), "<part>", "exec"), names)
        except TooLong:
            continue
        assert part.values == tuple(names["f"](list(given)) for given in made.inputs), part.node


def test_every_function_with_a_weight_of_its_own_charges_the_budget() -> None:
    from beside_plain import WEIGHTS

    text = "\n".join(path.read_text() for path in sorted(LISTS.glob("*.py")))
    bodies = {part.split("(")[0]: part for part in re.split(r"^ *def ", text, flags=re.M)[1:]}
    silent = [
        name for name in WEIGHTS if ".charge(" not in bodies.get(name, "") and name != "build_masks"
    ]
    assert silent == []


def test_counting_leaves_the_search_as_it_was() -> None:
    from beside_plain import counted, searched

    before = Budget.charge
    found = searched(SHOWN, 2_000)
    assert found.text == "def f(x):\n    return x[1:]"
    assert found.evaluated > 500 and found.decided > 500
    with counted() as counts:
        assert (counts.evaluated, counts.decided) == (0, 0.0)
    assert Budget.charge is before
