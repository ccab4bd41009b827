"""Grammar of list programs: nodes, operations and their costs.

Every operation is written once, as Python text. The engine compiles and runs this text, and the
generated answers contain the same text. The search and an answer therefore always compute the same
result. An operation that raises an exception is undefined on that input.

Costs were set by hand: operations that people use often are cheap. The cost of a program is the sum
of the costs of its nodes. The search goes from cheap to expensive programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

# Precedence levels of Python's operators, tightest first. An operand gets brackets where it binds
# more loosely than its place allows.
ATOM, UNARY, PRODUCT, SUM, COMPARE, NOT, AND, OR, TERNARY = range(9)
_PLACES: dict[str, int] = {
    "a": ATOM,
    "p": PRODUCT,
    "q": UNARY,
    "s": SUM,
    "t": PRODUCT,
    "c": SUM,
    "n": NOT,
}
_PLACES |= {"and": NOT, "or": AND, "o": OR}

_FOLDED: dict[str, Callable[[Text], str]] = {
    "next": lambda text: _sum(text, 1),
    "prev": lambda text: _sum(text, -1),
    "neg": lambda text: _negated(text),
}

# Maximum number of elements of a list on the shown inputs; longer lists are rejected.
LONGEST_VALUE = 200
LARGEST_INTEGER = 10**9


def _sum(text: Text, more: int) -> str:
    if text.lstrip("-").isdigit():
        return str(int(text) + more)
    return f"{text:s} {'+' if more > 0 else '-'} {abs(more)}"


def _negated(text: Text) -> str:
    return str(-int(text)) if text.lstrip("-").isdigit() else f"-{text:q}"


class Node(NamedTuple):
    """A program as a syntax tree, or a part of a program.

    Args:
        op: Name of the operation, or "x" for the input list, "const" for an integer, "list" for a
            fixed list, and so on.
        args: The operand nodes. A "const" and a "list" have integers instead.
        cost: Cost of the program below this node.
    """

    op: str
    args: tuple[Any, ...]
    cost: float


class Text(str):
    """Python text with a precedence. A template such as `{0:p}` adds brackets where they are
    needed.

    Args:
        text: The Python text.
        level: Precedence of the outermost operator, such as `SUM`. `ATOM` needs no brackets.
    """

    level: int

    def __new__(cls, text: str, level: int = ATOM) -> Text:
        made = super().__new__(cls, text)
        made.level = level
        return made

    def __format__(self, place: str) -> str:
        if place in _FOLDED:
            return _FOLDED[place](self)
        if place and self.level > _PLACES[place]:
            return f"({self!s})"
        return str(self)


@dataclass(frozen=True)
class Operation:
    """An operation of list programs.

    Attributes:
        name: Name in `OPERATIONS`.
        kind: Type of the result: "list", "int" or "bool".
        code: Python template of the operation, with the operands as {0}, {1} and so on.
        say: English template that describes the result.
        cost: Cost of the operation without its operands.
        level: Precedence of the Python text, such as `ATOM`.
        guard: Python template of the condition under which the result is defined. "" means always.
        takes: One letter per operand: L for a list, I for an integer.
    """

    name: str
    kind: str
    code: str
    say: str
    cost: float
    level: int = ATOM
    guard: str = ""
    takes: str = "L"  # one letter per operand: L list, I integer

    @property
    def arity(self) -> int:
        """Return the number of operands of this operation."""
        return len(self.takes)


X = Node("x", (), 0.0)


@cache
def constant_node(value: int) -> Node:
    """Return the program that returns the constant `value`."""
    return Node("const", (value,), constant_cost(value))


def constant_cost(value: int) -> float:
    """Return the cost of the constant `value` in a program.

    Small numbers such as 0 and 1 are cheapest, then round numbers, then all other numbers.
    """
    if value in (0, 1):
        return 1.0
    if 2 <= value <= 5:
        return 1.6
    if 6 <= value <= 10:
        return 2.2
    if value == -1:
        return 2.2
    if 0 < value <= 100 and value % 10 == 0:
        return 3.4
    if 0 < value < 100:
        return 4.4
    return 5.4


def operation_node(op: str, *args: Any) -> Node:
    """Return the program that applies the operation `op` to the programs `args`, with its total
    cost.
    """
    cost = OPERATIONS[op].cost + sum(a.cost for a in args)
    return Node(op, args, cost)


_LIST: list[tuple[str, str, str, float, int]] = [
    # name, code, say, cost, level
    ("reverse", "{0:a}[::-1]", "{0} reversed", 2.0, ATOM),
    ("sort", "sorted({0})", "{0} in ascending order", 2.0, ATOM),
    ("sort_down", "sorted({0}, reverse=True)", "{0} in descending order", 2.2, ATOM),
    ("unique", "list(dict.fromkeys({0}))", "{0} without repeats", 2.2, ATOM),
    ("tail", "{0:a}[1:]", "{0} without its first element", 1.8, ATOM),
    ("init", "{0:a}[:-1]", "{0} without its last element", 1.8, ATOM),
    ("evens", "{0:a}[::2]", "the elements of {0} at even indices", 2.4, ATOM),
    ("odds", "{0:a}[1::2]", "the elements of {0} at odd indices", 2.4, ATOM),
    ("first", "{0:a}[:1]", "the first element of {0} alone", 1.8, ATOM),
    ("last", "{0:a}[-1:]", "the last element of {0} alone", 1.8, ATOM),
    ("inner", "{0:a}[1:-1]", "{0} without both its ends", 2.6, ATOM),
    ("twice", "{0:p} * 2", "{0} two times in a row", 2.8, PRODUCT),
    ("mirror", "{0:s} + {0:a}[::-1]", "{0} followed by its mirror image", 3.4, SUM),
    ("mirror_left", "{0:a}[::-1] + {0:t}", "the mirror image of {0} followed by it", 3.6, SUM),
    ("stutter", "[v for v in {0} for _ in range(2)]", "each element of {0} twice", 3.0, ATOM),
    ("by_itself", "[v for v in {0} for _ in range(v)]", "each element of {0} as often as its value", 3.6, ATOM),
    ("rotate_left", "{0:a}[1:] + {0:a}[:1]", "{0} with its first element moved to the end", 3.0, SUM),
    ("rotate_right", "{0:a}[-1:] + {0:a}[:-1]", "{0} with its last element moved to the front", 3.0, SUM),
    ("swap_ends", "{0:a}[-1:] + {0:a}[1:-1] + {0:a}[:1] if len({0}) > 1 else {0:o}", "{0} with its ends swapped", 3.4, TERNARY),
    ("running_sum", "[sum({0:a}[:i + 1]) for i in range(len({0}))]", "the running sums of {0}", 3.2, ATOM),
    ("running_product", "[p := 1, *(p := p * v for v in {0})][1:]", "the running products of {0}", 4.4, ATOM),
    ("running_max", "[max({0:a}[:i + 1]) for i in range(len({0}))]", "the running maxima of {0}", 3.2, ATOM),
    ("running_min", "[min({0:a}[:i + 1]) for i in range(len({0}))]", "the running minima of {0}", 3.2, ATOM),
    ("differences", "[b - a for a, b in zip({0}, {0:a}[1:])]", "the differences of neighbours in {0}", 3.2, ATOM),
    ("gaps", "[abs(b - a) for a, b in zip({0}, {0:a}[1:])]", "the distances of neighbours in {0}", 3.6, ATOM),
    ("pair_sums", "[a + b for a, b in zip({0}, {0:a}[1:])]", "the sums of neighbours in {0}", 3.2, ATOM),
    ("pair_max", "[max(a, b) for a, b in zip({0}, {0:a}[1:])]", "the larger of each two neighbours in {0}", 4.0, ATOM),
    ("pair_min", "[min(a, b) for a, b in zip({0}, {0:a}[1:])]", "the smaller of each two neighbours in {0}", 4.0, ATOM),
    ("add_mirror", "[a + b for a, b in zip({0}, {0:a}[::-1])]", "the sums of {0} and its reverse, element by element", 4.0, ATOM),
    ("squeeze", "[v for i, v in enumerate({0}) if i == 0 or v != {0:a}[i - 1]]", "{0} with each run cut to one element", 3.2, ATOM),
    ("run_ends", "[k for k in range(1, len({0}) + 1) if k == len({0}) or {0:a}[k] != {0:a}[k - 1]]", "the places where the runs of {0} end", 3.4, ATOM),
    ("steps", "[b - a for a, b in zip([0, *{0}], {0})]", "the steps from 0 through {0}", 2.2, ATOM),
    ("indices", "list(range(len({0})))", "the indices of {0}", 2.8, ATOM),
    ("ordinals", "list(range(1, len({0}) + 1))", "the numbers from 1 to the length of {0}", 3.0, ATOM),
    ("span", "list(range(min({0}), max({0}) + 1)) if {0} else []", "all numbers from the least to the greatest of {0}", 4.2, TERNARY),
    ("path", "[k for a, b in zip({0}, {0:a}[1:]) for k in range(a, b, 1 if a < b else -1)] + {0:a}[-1:]", "the walk in steps of one from each element of {0} to the next", 4.4, SUM),
    ("all_below", "[k for v in {0} for k in range(v)]", "the numbers below each element of {0} in turn", 4.2, ATOM),
    ("all_upto", "[k for v in {0} for k in range(1, v + 1)]", "the numbers from 1 to each element of {0} in turn", 4.2, ATOM),
    ("all_downto", "[k for v in {0} for k in range(v, 0, -1)]", "the numbers from each element of {0} down to 1 in turn", 4.4, ATOM),
    ("digits", "[int(d) for v in {0} for d in str(abs(v))]", "the digits of the elements of {0}", 4.2, ATOM),
    ("tallies", "[{0:a}.count(v) for v in dict.fromkeys({0})]", "how often each distinct element of {0} occurs", 3.6, ATOM),
    ("tally_pairs", "[n for v in dict.fromkeys({0}) for n in (v, {0:a}.count(v))]", "each distinct element of {0} followed by its count", 4.4, ATOM),
    ("with_index", "[n for p in enumerate({0}) for n in p]", "each element of {0} after its index", 4.4, ATOM),
    ("with_ordinal", "[n for p in enumerate({0}, 1) for n in p]", "each element of {0} after its position", 4.6, ATOM),
    ("then_index", "[n for i, v in enumerate({0}) for n in (v, i)]", "each element of {0} before its index", 4.4, ATOM),
    ("then_ordinal", "[n for i, v in enumerate({0}, 1) for n in (v, i)]", "each element of {0} before its position", 4.6, ATOM),
    ("with_mirror", "[n for p in zip({0}, {0:a}[::-1]) for n in p]", "the elements of {0} interleaved with those of its reverse", 4.6, ATOM),
    ("swap_pairs", "[{0:a}[i ^ 1] if i ^ 1 < len({0}) else {0:a}[i] for i in range(len({0}))]", "{0} with neighbours swapped in pairs", 4.6, ATOM),
    ("first_half", "{0:a}[:len({0}) // 2]", "the first half of {0}", 3.2, ATOM),
    ("second_half", "{0:a}[len({0}) // 2:]", "the second half of {0}", 3.2, ATOM),
    ("first_half_up", "{0:a}[:(len({0}) + 1) // 2]", "the first half of {0}, middle included", 3.6, ATOM),
    ("second_half_up", "{0:a}[(len({0}) + 1) // 2:]", "the second half of {0}, middle left out", 3.6, ATOM),
    ("swap_halves", "{0:a}[len({0}) // 2:] + {0:a}[:len({0}) // 2]", "{0} with its halves exchanged", 4.4, SUM),
    ("evens_first", "{0:a}[::2] + {0:a}[1::2]", "the elements of {0} at even indices, then those at odd ones", 4.4, SUM),
    ("no_max", "[v for v in {0} if v != max({0})]", "{0} without its greatest elements", 2.8, ATOM),
    ("no_min", "[v for v in {0} if v != min({0})]", "{0} without its least elements", 2.8, ATOM),
    ("drop_max", "{0:a}[:{0:a}.index(max({0}))] + {0:a}[{0:a}.index(max({0})) + 1:] if {0} else []", "{0} without the first of its greatest elements", 3.4, TERNARY),
    ("drop_min", "{0:a}[:{0:a}.index(min({0}))] + {0:a}[{0:a}.index(min({0})) + 1:] if {0} else []", "{0} without the first of its least elements", 3.4, TERNARY),
    ("after_max", "{0:a}[{0:a}.index(max({0})) + 1:] if {0} else []", "what follows the greatest element of {0}", 4.8, TERNARY),
    ("before_max", "{0:a}[:{0:a}.index(max({0}))] if {0} else []", "what precedes the greatest element of {0}", 4.8, TERNARY),
    ("after_min", "{0:a}[{0:a}.index(min({0})) + 1:] if {0} else []", "what follows the least element of {0}", 4.8, TERNARY),
    ("before_min", "{0:a}[:{0:a}.index(min({0}))] if {0} else []", "what precedes the least element of {0}", 4.8, TERNARY),
    ("from_max", "{0:a}[{0:a}.index(max({0})):] if {0} else []", "{0} from its greatest element on", 4.2, TERNARY),
    ("till_max", "{0:a}[:{0:a}.index(max({0})) + 1] if {0} else []", "{0} up to its greatest element", 4.2, TERNARY),
    ("once", "[v for v in {0} if {0:a}.count(v) == 1]", "the elements of {0} that occur once", 3.0, ATOM),
    ("repeated", "[v for v in {0} if {0:a}.count(v) > 1]", "the elements of {0} that occur more than once", 3.0, ATOM),
    ("by_count", "sorted({0}, key={0:a}.count)", "{0} ordered by how often elements occur", 4.4, ATOM),
    ("by_count_down", "sorted({0}, key=lambda v: -{0:a}.count(v))", "{0} ordered by how often elements occur, most often first", 4.4, ATOM),
    ("by_digits", "sorted({0}, key=lambda v: sum(divmod(v, 10)))", "{0} ordered by digit sum", 5.2, ATOM),
    ("by_units", "sorted({0}, key=lambda v: v % 10)", "{0} ordered by last digit", 5.2, ATOM),
    ("by_parity", "sorted({0}, key=lambda v: v % 2)", "the even elements of {0}, then the odd ones", 5.0, ATOM),
    ("odd_first", "sorted({0}, key=lambda v: -(v % 2))", "the odd elements of {0}, then the even ones", 5.0, ATOM),
    ("extremes", "[n for i in range((len({0}) + 1) // 2) for n in dict.fromkeys((i, len({0}) - 1 - i))]", "the indices of {0} from the ends inwards", 6.0, ATOM),
    ("weave_ends", "[{0:a}[n] for i in range((len({0}) + 1) // 2) for n in dict.fromkeys((i, len({0}) - 1 - i))]", "the elements of {0} from both ends inwards", 5.0, ATOM),
]  # fmt: skip

_PARAMETRIC: list[tuple[str, str, str, str, float, int]] = [
    # name, operands, code, say, cost, level
    ("take", "LI", "{0:a}[:{1}]", "the first {1} elements of {0}", 1.8, ATOM),
    ("drop", "LI", "{0:a}[{1}:]", "{0} without its first {1} elements", 1.8, ATOM),
    ("take_last", "LI", "{0:a}[{1:neg}:]", "the last {1} elements of {0}", 2.2, ATOM),
    ("drop_last", "LI", "{0:a}[:{1:neg}]", "{0} without its last {1} elements", 2.2, ATOM),
    ("step", "LI", "{0:a}[::{1}]", "every {1}th element of {0} from the first", 3.0, ATOM),
    ("step_from", "LI", "{0:a}[{1:prev}::{1}]", "every {1}th element of {0}", 3.6, ATOM),
    ("nth", "LI", "{0:a}[{1}:{1:next}]", "the element of {0} at index {1} alone", 2.0, ATOM),
    ("omit", "LI", "{0:a}[:{1}] + {0:a}[{1:next}:]", "{0} without the element at index {1}", 2.4, SUM),
    ("without", "LI", "[v for v in {0} if v != {1:c}]", "{0} without the elements equal to {1}", 2.6, ATOM),
    ("remove", "LI", "{0:a}[:{0:a}.index({1})] + {0:a}[{0:a}.index({1}) + 1:] if {1:c} in {0:c} else {0:o}", "{0} without the first {1}", 3.4, TERNARY),
    ("append", "LI", "{0:s} + [{1}]", "{0} with {1} at the end", 2.2, SUM),
    ("prepend", "LI", "[{1}] + {0:t}", "{0} with {1} in front", 2.2, SUM),
    ("rotate", "LI", "{0:a}[{1}:] + {0:a}[:{1}]", "{0} with its first {1} elements moved to the end", 3.4, SUM),
    ("rotate_back", "LI", "{0:a}[{1:neg}:] + {0:a}[:{1:neg}]", "{0} with its last {1} elements moved to the front", 3.6, SUM),
    ("times", "LI", "{0:p} * {1:q}", "{0} repeated {1} times", 2.8, PRODUCT),
    ("each", "LI", "[v for v in {0} for _ in range({1})]", "each element of {0} repeated {1} times", 3.2, ATOM),
    ("larger", "LI", "sorted({0})[{1:neg}:]", "the {1} greatest elements of {0}, ascending", 4.0, ATOM),
    ("before", "LI", "{0:a}[:{0:a}.index({1})] if {1:c} in {0:c} else {0:o}", "{0} up to the first {1}", 3.6, TERNARY),
    ("after", "LI", "{0:a}[{0:a}.index({1}) + 1:] if {1:c} in {0:c} else []", "what follows the first {1} in {0}", 3.6, TERNARY),
    ("flip_head", "LI", "{0:a}[:{1}][::-1] + {0:a}[{1}:]", "{0} with its first {1} elements reversed", 4.0, SUM),
    ("flip_tail", "LI", "{0:a}[:{1}] + {0:a}[{1}:][::-1]", "{0} with all after its first {1} elements reversed", 4.0, SUM),
    ("sort_head", "LI", "sorted({0:a}[:{1}]) + {0:a}[{1}:]", "{0} with its first {1} elements sorted", 4.6, SUM),
    ("sort_tail", "LI", "{0:a}[:{1}] + sorted({0:a}[{1}:])", "{0} with all after its first {1} elements sorted", 4.6, SUM),
    ("join", "LI", "[n for v in {0} for n in ({1}, v)][1:]", "the elements of {0} with {1} between them", 4.4, ATOM),
    ("each_then", "LI", "[n for v in {0} for n in (v, {1})]", "each element of {0} followed by {1}", 4.4, ATOM),
    ("chunks", "LI", "[sum({0:a}[i:i + {1}]) for i in range(0, len({0}), {1})]", "the sums of consecutive groups of {1} in {0}", 5.0, ATOM),
    ("chunk_flip", "LI", "[v for i in range(0, len({0}), {1}) for v in {0:a}[i:i + {1}][::-1]]", "{0} with each group of {1} reversed", 5.2, ATOM),
    ("lag", "LI", "[b - a for a, b in zip({0}, {0:a}[{1}:])]", "the differences of elements of {0} that lie {1} apart", 5.0, ATOM),
    ("upto", "I", "list(range({0}))", "the numbers below {0}", 3.0, ATOM),
    ("oneto", "I", "list(range(1, {0:next}))", "the numbers from 1 to {0}", 3.0, ATOM),
    ("downto", "I", "list(range({0}, 0, -1))", "the numbers from {0} down to 1", 3.4, ATOM),
    ("slice", "LII", "{0:a}[{1}:{2}]", "the elements of {0} from index {1} to before index {2}", 2.2, ATOM),
    ("insert", "LII", "{0:a}[:{1}] + [{2}] + {0:a}[{1}:]", "{0} with {2} inserted at index {1}", 2.6, SUM),
    ("put", "LII", "{0:a}[:{1}] + [{2}] + {0:a}[{1:next}:]", "{0} with the element at index {1} replaced by {2}", 2.6, SUM),
    ("swap", "LII", "{0:a}[:{1}] + {0:a}[{2}:{2:next}] + {0:a}[{1:next}:{2}] + {0:a}[{1}:{1:next}] + {0:a}[{2:next}:]", "{0} with the elements at indices {1} and {2} swapped", 3.4, SUM),
    ("cut", "LII", "{0:a}[:{1}] + {0:a}[{2}:]", "{0} without the elements from index {1} to before index {2}", 3.2, SUM),
    ("replace", "LII", "[{2} if v == {1:c} else v for v in {0}]", "{0} with the elements equal to {1} replaced by {2}", 3.4, ATOM),
    ("range", "II", "list(range({0}, {1:next}))", "the numbers from {0} to {1}", 3.6, ATOM),
    ("range_down", "II", "list(range({0}, {1:prev}, -1))", "the numbers from {0} down to {1}", 4.2, ATOM),
    ("range_step", "III", "list(range({0}, {1:next}, {2}))", "the numbers from {0} to {1} in steps of {2}", 4.2, ATOM),
    ("copies", "II", "[{0}] * {1:q}", "{0} repeated {1} times", 2.8, PRODUCT),
    ("concat", "LL", "{0:s} + {1:t}", "{0}, then {1}", 2.0, SUM),
    ("zip_add", "LL", "[a + b for a, b in zip({0}, {1})]", "the sums of {0} and {1}, element by element", 4.0, ATOM),
    ("weave", "LL", "[n for p in zip({0}, {1}) for n in p]", "{0} interleaved with {1}", 4.4, ATOM),
    ("alternate", "LL", "[({0}, {1})[i % 2][i // 2] for i in range(len({0}) + len({1}))]", "{0} and {1} in turn, element by element", 4.0, ATOM),
    ("both", "LL", "[v for v in {0} if v in {1:c}]", "the elements of {0} that also occur in {1}", 4.0, ATOM),
    ("except", "LL", "[v for v in {0} if v not in {1:c}]", "the elements of {0} that do not occur in {1}", 4.0, ATOM),
]  # fmt: skip

_INT: list[tuple[str, str, str, str, float, int, str]] = [
    # name, operands, code, say, cost, level, guard
    ("len", "L", "len({0})", "the length of {0}", 1.2, ATOM, ""),
    ("head", "L", "{0:a}[0]", "the first element of {0}", 1.2, ATOM, "{0}"),
    ("end", "L", "{0:a}[-1]", "the last element of {0}", 1.2, ATOM, "{0}"),
    ("max", "L", "max({0})", "the greatest element of {0}", 1.4, ATOM, "{0}"),
    ("min", "L", "min({0})", "the least element of {0}", 1.4, ATOM, "{0}"),
    ("sum", "L", "sum({0})", "the sum of {0}", 1.6, ATOM, ""),
    ("distinct", "L", "len(set({0}))", "the number of distinct elements of {0}", 2.4, ATOM, ""),
    ("range_of", "L", "max({0}) - min({0})", "the span of {0}", 3.2, SUM, "{0}"),
    ("mode", "L", "max({0}, key={0:a}.count)", "the most frequent element of {0}", 3.4, ATOM, "{0}"),
    ("where_max", "L", "{0:a}.index(max({0}))", "the index of the greatest element of {0}", 3.2, ATOM, "{0}"),
    ("where_min", "L", "{0:a}.index(min({0}))", "the index of the least element of {0}", 3.2, ATOM, "{0}"),
    ("product", "L", "[p := 1, *(p := p * v for v in {0})][-1]", "the product of {0}", 3.4, ATOM, ""),
    ("mean", "L", "sum({0}) // len({0})", "the mean of {0}, rounded down", 3.0, PRODUCT, "{0}"),
    ("middle", "L", "{0:a}[len({0}) // 2]", "the middle element of {0}", 3.2, ATOM, "{0}"),
    ("median", "L", "sorted({0})[len({0}) // 2]", "the middle element of {0} in order", 3.8, ATOM, "{0}"),
    ("descents", "L", "sum(a > b for a, b in zip({0}, {0:a}[1:]))", "the number of descents in {0}", 4.2, ATOM, ""),
    ("at", "LI", "{0:a}[{1}]", "the element of {0} at index {1}", 1.4, ATOM, "-len({0}) <= {1:c} < len({0})"),
    ("count", "LI", "{0:a}.count({1})", "the count of {1} in {0}", 2.2, ATOM, ""),
    ("index", "LI", "{0:a}.index({1})", "the index of the first {1} in {0}", 3.0, ATOM, "{1:c} in {0:c}"),
    ("nth_largest", "LI", "sorted({0})[{1:neg}]", "element {1} of {0} from the top in order", 3.0, ATOM, "len({0}) >= {1:c}"),
    ("nth_least", "LI", "sorted({0})[{1:prev}]", "element {1} of {0} in ascending order", 3.2, ATOM, "len({0}) >= {1:c}"),
    ("add", "II", "{0:s} + {1:t}", "{0} plus {1}", 1.6, SUM, ""),
    ("sub", "II", "{0:s} - {1:t}", "{0} minus {1}", 1.6, SUM, ""),
    ("mul", "II", "{0:p} * {1:q}", "{0} times {1}", 1.8, PRODUCT, ""),
    ("div", "II", "{0:p} // {1:q}", "{0} divided by {1}, rounded down", 2.2, PRODUCT, "{1:c} != 0"),
    ("mod", "II", "{0:p} % {1:q}", "the remainder of {0} by {1}", 2.2, PRODUCT, "{1:c} != 0"),
    ("lower", "II", "min({0}, {1})", "the smaller of {0} and {1}", 2.4, ATOM, ""),
    ("upper", "II", "max({0}, {1})", "the larger of {0} and {1}", 2.4, ATOM, ""),
    ("apart", "II", "abs({0:s} - {1:t})", "the distance of {0} and {1}", 2.6, ATOM, ""),
]  # fmt: skip

_BOOL: list[tuple[str, str, str, str, float, int]] = [
    ("eq", "II", "{0:c} == {1:c}", "{0} is {1}", 1.2, COMPARE),
    ("ne", "II", "{0:c} != {1:c}", "{0} is not {1}", 1.4, COMPARE),
    ("lt", "II", "{0:c} < {1:c}", "{0} is less than {1}", 1.2, COMPARE),
    ("gt", "II", "{0:c} > {1:c}", "{0} is greater than {1}", 1.2, COMPARE),
    ("odd", "I", "{0:p} % 2 == 1", "{0} is odd", 2.0, COMPARE),
    ("even", "I", "{0:p} % 2 == 0", "{0} is even", 2.0, COMPARE),
    ("multiple", "II", "{0:p} % {1:q} == 0", "{0} is a multiple of {1}", 2.4, COMPARE),
    ("has", "LI", "{1:c} in {0:c}", "{1} occurs in {0}", 1.6, COMPARE),
    ("lacks", "LI", "{1:c} not in {0:c}", "{1} does not occur in {0}", 1.8, COMPARE),
    ("same", "LL", "{0:c} == {1:c}", "{0} equals {1}", 2.0, COMPARE),
    ("differs", "LL", "{0:c} != {1:c}", "{0} differs from {1}", 2.2, COMPARE),
    ("none", "L", "not {0:n}", "{0} is empty", 1.6, NOT),
    ("some", "L", "len({0}) > 0", "{0} is not empty", 1.8, COMPARE),
]  # fmt: skip

OPERATIONS: dict[str, Operation] = {}
for _name, _code, _say, _cost, _level in _LIST:
    OPERATIONS[_name] = Operation(_name, "list", _code, _say, _cost, _level)
for _name, _takes, _code, _say, _cost, _level in _PARAMETRIC:
    OPERATIONS[_name] = Operation(_name, "list", _code, _say, _cost, _level, takes=_takes)
for _name, _takes, _code, _say, _cost, _level, _guard in _INT:
    OPERATIONS[_name] = Operation(_name, "int", _code, _say, _cost, _level, _guard, _takes)
for _name, _takes, _code, _say, _cost, _level in _BOOL:
    OPERATIONS[_name] = Operation(_name, "bool", _code, _say, _cost, _level, takes=_takes)

# Operations whose output may be as long as a value is large, and operations that make values large.
# A program that stacks them could fill the memory on some input of the sample space.
REPEATING = frozenset(
    [
        "by_itself",
        "span",
        "path",
        "all_below",
        "all_upto",
        "all_downto",
        "times",
        "each",
        "upto",
        "oneto",
        "downto",
        "range",
        "range_down",
        "range_step",
        "copies",
        "each_by",
        "each_of",
    ]
)
_GROWING = frozenset(["product", "running_product"])
_MULTIPLYING = REPEATING | {"mul", "*", "running_sum"}
LARGEST_COUNT = 2000


def is_modest(program: Node) -> bool:
    """Return whether a program applies no repetition to products or to other repetitions.

    A program that is not modest could build lists that fill the memory.
    """
    if program.op in REPEATING:
        ops = [op for part in program.args for op in list_operations(part)]
        if any(op in _GROWING for op in ops) or sum(op in _MULTIPLYING for op in ops) > 1:
            return False
        if program.op in ("each_by", "each_of") and "*" in ops:
            return False
    return all(is_modest(part) for part in program.args if isinstance(part, Node))


def list_operations(part: Any) -> list[str]:
    """Return the names of all operations of a program, outermost first.

    Args:
        part: The program. An integer has no operations.
    """
    if not isinstance(part, Node):
        return []
    return [part.op, *(op for inner in part.args for op in list_operations(inner))]


UNARY_LIST = tuple(name for name, *_ in _LIST)


@cache
def compile_operation(name: str) -> Callable[..., Any]:
    """Return the operation called `name` as a Python function of its operands."""
    operation = OPERATIONS[name]
    names = [Text(f"a{k}") for k in range(operation.arity)]
    text = f"lambda {', '.join(names)}: {operation.code.format(*names)}"
    made: Callable[..., Any] = eval(compile(text, f"<operation {name}>", "eval"), {})
    return made
