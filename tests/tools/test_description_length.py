"""Description lengths: simpler hypotheses are shorter, and the same is counted alike in each family.

Internals: the lengths themselves are in no output; `bits` of a finding is one of them.
"""

from __future__ import annotations

import sys

import pytest
from peirce.tools.description_length import (
    decimal_bits,
    formula_bits,
    integer_bits,
    law_bits,
    number_bits,
    program_bits,
    sentence_bits,
)
from peirce.tools.formulas import parse_formula as parse_law
from peirce.tools.logic.formula import Formula
from peirce.tools.logic.parser import parse_formula

PUBLIC = {
    "labels": ["no", "yes"],
    "columns": {"age": {"kind": "number"}, "city": {"kind": "choice", "values": ["x", "y"]}},
    "label_name": "label",
    "shape": "fields",
}


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        ("def f(x):\n    return sum(x)", "def f(x):\n    return sum(x) % 20"),
        ("def f(x):\n    return x[1]", "def f(x):\n    return x[100]"),
        ("def f(x):\n    return x", "def f(x):\n    y = x\n    return y"),
        ("def f(x):\n    return sorted(x)", "def f(x):\n    return sorted(x, reverse=True)"),
        ('def f(x):\n    return "a"', 'def f(x):\n    return "abcdefgh"'),
    ],
)
def test_a_program_that_does_more_is_longer(shorter: str, longer: str) -> None:
    assert program_bits(shorter) < program_bits(longer)


def test_names_annotations_and_layout_of_a_program_are_free() -> None:
    plain = program_bits("def f(x):\n    return [v + 1 for v in x]")
    dressed = (
        "def g(values: list[int]) -> list[int]:\n    return [\n        w + 1 for w in values\n    ]"
    )
    assert program_bits(dressed) == plain


def test_a_deep_program_is_measured_without_recursion() -> None:
    deep = "def f(x):\n    return " + " + ".join(["x"] * 600)
    assert program_bits(deep) > 600


def test_a_source_that_is_not_python_raises_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        program_bits("def f(x) return")


def test_integers_take_their_elias_gamma_code_and_a_sign() -> None:
    assert [integer_bits(n) for n in (0, 1, 2, 3, 7, -1)] == [1, 3, 3, 5, 7, 4]
    assert number_bits(2.5) > number_bits(2.0)
    assert number_bits(float("inf")) == number_bits(sys.float_info.max)


def formula(text: str) -> Formula:
    return parse_formula(text, ("P", "Q", "R"))


def test_a_formula_with_more_atoms_or_predicates_is_longer() -> None:
    one, two = formula("(P x)"), formula("(or (P x) (exists y (and (R x y) (P y))))")
    assert formula_bits(one, 4) < formula_bits(two, 4)
    assert formula_bits(one, 2) < formula_bits(one, 16)


def test_a_sentence_with_more_conditions_is_longer() -> None:
    rule = 'If age is more than 30, the label is "yes"; otherwise, the label is "no".'
    more = (
        'If age is more than 30 and city is "x", the label is "yes"; otherwise, the label is "no".'
    )
    assert sentence_bits(rule, PUBLIC) < sentence_bits(more, PUBLIC)


def test_a_sentence_without_an_exact_rule_is_counted_by_its_words() -> None:
    assert sentence_bits("Older people often agree.", PUBLIC) == 4 * 13


def test_digits_and_parts_of_a_law_cost_bits() -> None:
    texts = ["m", "m * v", "0.5 * m * v", "0.5 * m * v ** 2", "0.51234 * m * v ** 2"]
    bits = [law_bits(parse_law(text, ["m", "v"]), 3) for text in texts]
    assert bits == sorted(bits) and len(set(bits)) == len(bits)
    assert decimal_bits(0.5) < decimal_bits(0.513) < decimal_bits(0.5131234)
    assert decimal_bits(1000) == decimal_bits(1e3) < decimal_bits(1234)
