"""Features of one element `v` at index `i` of a list, and the terms and predicates over features.

The code of a feature is a Python template. `{x}` stands for the list that contains the element, and
`{X}` stands for the input of the program, which may be another list. A term is a feature, a
constant, or an operation on two terms. A predicate compares terms. Features, terms and predicates
are Python text, like the operations of `grammar.py`. The search compiles this text, and the
generated answers contain the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from .grammar import AND, ATOM, COMPARE, NOT, OR, PRODUCT, SUM, Text


@dataclass(frozen=True)
class Feature:
    """A number that describes an element or its list, such as the index of the element.

    Attributes:
        name: Name in `FEATURES` or `INPUT_FEATURES`.
        code: Python text over v, i, {x} and {X} (see the module docstring).
        cost: Cost of the feature in a program.
        level: Precedence of the Python text, such as `ATOM`.
        per_list: Whether the number is the same for all elements of a list.
    """

    name: str
    code: str
    cost: float
    level: int = ATOM
    per_list: bool = False

    @property
    def uses_index(self) -> bool:
        """Return whether this feature depends on the index i of the element."""
        return re.search(r"\bi\b", self.code) is not None

    @property
    def uses_base(self) -> bool:
        """Return whether this feature reads the list, and not only the element."""
        return "{x}" in self.code


_TABLE: list[tuple[str, str, float, int, bool]] = [
    ("v", "v", 0.4, ATOM, False),
    ("i", "i", 1.0, ATOM, False),
    ("to_end", "len({x}) - 1 - i", 2.4, SUM, False),
    ("n", "len({x})", 1.6, ATOM, True),
    ("first", "{x}[0]", 1.4, ATOM, True),
    ("last", "{x}[-1]", 1.4, ATOM, True),
    ("second", "{x}[1]", 2.2, ATOM, True),
    ("third", "{x}[2]", 2.8, ATOM, True),
    ("greatest", "max({x})", 1.8, ATOM, True),
    ("least", "min({x})", 1.8, ATOM, True),
    ("total", "sum({x})", 2.2, ATOM, True),
    ("distinct", "len(set({x}))", 3.2, ATOM, True),
    ("middle", "{x}[len({x}) // 2]", 3.6, ATOM, True),
    ("median", "sorted({x})[len({x}) // 2]", 4.2, ATOM, True),
    ("mode", "max({x}, key={x}.count)", 4.0, ATOM, True),
    ("where_max", "{x}.index(max({x}))", 3.4, ATOM, True),
    ("where_min", "{x}.index(min({x}))", 3.4, ATOM, True),
    ("before", "{x}[i - 1]", 2.2, ATOM, False),
    ("after", "{x}[(i + 1) % len({x})]", 2.8, ATOM, False),
    ("mirror", "{x}[-1 - i]", 2.6, ATOM, False),
    ("two_before", "{x}[i - 2]", 3.2, ATOM, False),
    ("count", "{x}.count(v)", 2.0, ATOM, False),
    ("seen", "{x}[:i].count(v)", 2.4, ATOM, False),
    ("to_come", "{x}[i + 1:].count(v)", 2.8, ATOM, False),
    ("first_index", "{x}.index(v)", 2.4, ATOM, False),
    ("sum_till", "sum({x}[:i + 1])", 2.4, ATOM, False),
    ("sum_before", "sum({x}[:i])", 2.8, ATOM, False),
    ("sum_from", "sum({x}[i:])", 2.8, ATOM, False),
    ("max_till", "max({x}[:i + 1])", 2.4, ATOM, False),
    ("min_till", "min({x}[:i + 1])", 2.4, ATOM, False),
    ("max_from", "max({x}[i:])", 2.8, ATOM, False),
    ("min_from", "min({x}[i:])", 2.8, ATOM, False),
    ("rank", "sum(u < v for u in {x})", 2.8, ATOM, False),
    ("above", "sum(u > v for u in {x})", 3.0, ATOM, False),
    ("smaller_before", "sum(u < v for u in {x}[:i])", 3.6, ATOM, False),
    ("larger_before", "sum(u > v for u in {x}[:i])", 3.6, ATOM, False),
    ("smaller_after", "sum(u < v for u in {x}[i:])", 3.6, ATOM, False),
    ("larger_after", "sum(u > v for u in {x}[i:])", 3.6, ATOM, False),
    ("distinct_till", "len(set({x}[:i + 1]))", 3.6, ATOM, False),
    ("digit_sum", "sum(divmod(v, 10))", 3.2, ATOM, False),
    ("flipped", "int(str(abs(v))[::-1])", 4.2, ATOM, False),
    ("at_v", "{x}[v]", 3.0, ATOM, False),
    ("at_v_round", "{x}[v % len({x})]", 3.6, ATOM, False),
    ("in_order", "sorted({x})[i]", 3.4, ATOM, False),
    ("in_order_down", "sorted({x})[-1 - i]", 3.8, ATOM, False),
]  # fmt: skip

FEATURES = {
    name: Feature(name, code, cost, level, whole) for name, code, cost, level, whole in _TABLE
}

# Features of the input, used when the elements are those of another list. "X_at_i" is defined only
# if the input is long enough.
_OUTER: list[tuple[str, str, float, int, bool]] = [
    ("X_n", "len({X})", 1.6, ATOM, True),
    ("X_first", "{X}[0]", 1.4, ATOM, True),
    ("X_last", "{X}[-1]", 1.4, ATOM, True),
    ("X_second", "{X}[1]", 2.2, ATOM, True),
    ("X_max", "max({X})", 1.8, ATOM, True),
    ("X_min", "min({X})", 1.8, ATOM, True),
    ("X_sum", "sum({X})", 2.2, ATOM, True),
    ("X_count", "{X}.count(v)", 2.0, ATOM, False),
    ("X_where", "{X}.index(v)", 2.8, ATOM, False),
    ("X_at_v", "{X}[v]", 2.0, ATOM, False),
    ("X_at_i", "{X}[i]", 2.0, ATOM, False),
    ("X_round", "{X}[i % len({X})]", 3.0, ATOM, False),
    ("X_mirror", "{X}[-1 - i]", 2.6, ATOM, False),
    ("X_next", "{X}[i + 1]", 2.6, ATOM, False),
    ("X_half", "{X}[i // 2]", 3.0, ATOM, False),
    ("X_double", "{X}[2 * i]", 3.0, ATOM, False),
    ("X_double_next", "{X}[2 * i + 1]", 3.2, ATOM, False),
    ("X_order", "sorted({X})[i]", 3.0, ATOM, False),
]  # fmt: skip
INPUT_FEATURES = {
    name: Feature(name, code, cost, level, whole) for name, code, cost, level, whole in _OUTER
}

TERMS: dict[str, tuple[str, float, int]] = {
    # name: code, cost, level
    "+": ("{0:s} + {1:t}", 1.0, SUM),
    "-": ("{0:s} - {1:t}", 1.0, SUM),
    "*": ("{0:p} * {1:q}", 1.2, PRODUCT),
    "//": ("{0:p} // {1:q}", 1.8, PRODUCT),
    "%": ("{0:p} % {1:q}", 1.8, PRODUCT),
    "min": ("min({0}, {1})", 2.0, ATOM),
    "max": ("max({0}, {1})", 2.0, ATOM),
    "abs": ("abs({0:s} - {1:t})", 2.2, ATOM),
}

PREDICATES: dict[str, tuple[str, float, int]] = {
    "<": ("{0:c} < {1:c}", 1.0, COMPARE),
    ">": ("{0:c} > {1:c}", 1.0, COMPARE),
    "<=": ("{0:c} <= {1:c}", 1.3, COMPARE),
    ">=": ("{0:c} >= {1:c}", 1.3, COMPARE),
    "==": ("{0:c} == {1:c}", 1.0, COMPARE),
    "!=": ("{0:c} != {1:c}", 1.0, COMPARE),
    "and": ("{0:and} and {1:and}", 1.6, AND),
    "or": ("{0:or} or {1:or}", 1.8, OR),
    "not": ("not {0:n}", 0.6, NOT),
    "next_in": ("{0:c} + 1 in {1:c}", 2.6, COMPARE),
}


@cache
def compile_feature(code: str) -> Callable[[list[int], list[int]], list[int]]:
    """Return a function (list, input) that computes a feature of each element of the list.

    Args:
        code: Python template of the feature.
    """
    text = code.format(x="x", X="X")
    made: Callable[[list[int], list[int]], list[int]] = eval(
        compile(f"lambda x, X: [{text} for i, v in enumerate(x)]", "<feature>", "eval"), {}
    )
    return made


def feature_text(name: str, base: str, input_name: str) -> Text:
    """Return the Python text of a feature.

    Args:
        name: Name of the feature.
        base: Python text of the list that contains the element.
        input_name: Name of the input of the program.
    """
    feature = FEATURES.get(name) or INPUT_FEATURES[name]
    return Text(feature.code.format(x=base, X=input_name), feature.level)


def find_feature(name: str) -> Feature | None:
    """Return the feature called `name`, or None if there is none."""
    return FEATURES.get(name) or INPUT_FEATURES.get(name)
