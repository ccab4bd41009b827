"""Catalogue of the typed steps that `list_functions.py` composes into rules on lists.

A step is a Python expression in the variable `x`, a list of integers, with a phrase that describes
it. Steps from lists to lists have the kinds map, filter, scan, slice, order and structure. A step
of the kind reduction turns the list into a short list and can only end a rule. A guard is a
condition on the complete list.

Not covered: nested lists, strings, recursion, rules with two unrelated conditions, arithmetic
beyond + - * // % and distances.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """A step of a rule: a Python expression in the list `x`, and a phrase that describes it.

    Args:
        kind: the kind of the step, for example "map" or "guard".
        code: the expression.
        phrase: the step as an instruction, for the description of the rule, such as "keep every
            second element, from the first".
        constants: values that some inputs should contain, so that the effect of the step is
            visible.
    """

    kind: str
    code: str
    phrase: str
    constants: tuple[int, ...] = ()


@dataclass(frozen=True)
class ParameterSampler:
    """Draws the random constants of the steps of list rules.

    Args:
        rng: the random number generator.
        high: the largest element of the problem's inputs.
    """

    rng: random.Random
    high: int

    def choice(self, choices: Sequence[str]) -> str:
        """Return one of the choices, drawn uniformly."""
        return choices[int(self.rng.random() * len(choices))]

    def randint(self, low: int, high: int) -> int:
        """Return an integer drawn uniformly from `low` to `high`, both included."""
        return low + int(self.rng.random() * (high - low + 1))

    def sample_element(self) -> int:
        """Return a random element or threshold that is not at the ends of the range of elements."""
        return self.randint(max(1, self.high // 10), self.high - max(1, self.high // 10))

    def sample_constant(self) -> int:
        """Return a random constant that a step writes into a list.

        The constant is drawn from 0..`high`, or with probability 1/4 from 0..99.
        """
        return self.randint(0, 99 if self.rng.random() < 0.25 else self.high)


# An expression in v (and i), a phrase that completes "the elements that …", and constants.
Predicate = tuple[str, str, tuple[int, ...]]


def draw_predicate(draw: ParameterSampler) -> Predicate:
    """Draw a condition on a list element, which the code calls `v`."""
    k = draw.sample_element()
    divisor = draw.randint(2, 5)
    return _choose(
        draw,
        (3, (f"v > {k}", f"are greater than {k}", ())),
        (3, (f"v < {k}", f"are less than {k}", ())),
        (2, ("v % 2 == 0", "are even", ())),
        (2, ("v % 2 == 1", "are odd", ())),
        (1, (f"v % {divisor} == 0", f"are divisible by {divisor}", ())),
        (2, (f"v != {k}", f"differ from {k}", (k,))),
        (1, (f"v == {k}", f"equal {k}", (k,))),
        (1, (f"{k // 2} <= v <= {k}", f"lie between {k // 2} and {k}", ())),
        (1, ("v > x[0]", "are greater than the first element", ())),
        (1, ("v != x[0]", "differ from the first element", ())),
        (1, ("v < x[-1]", "are less than the last element", ())),
        (1, ("v * len(x) > sum(x)", "are greater than the mean", ())),
        (1, ("x.count(v) == 1", "occur once", ())),
        (1, ("x.count(v) > 1", "occur more than once", ())),
        (1, ("v % 10 > v // 10", "have a last digit greater than the digit before", ())),
    )


def draw_indexed_predicate(draw: ParameterSampler) -> Predicate:
    """Draw a condition on a list element `v` that depends on the position `i` of the element."""
    return _choose(
        draw,
        (2, ("i % 2 == 0", "stand at even positions, from 0", ())),
        (2, ("i % 2 == 1", "stand at odd positions, from 0", ())),
        (1, ("v > i", "are greater than their position, from 0", ())),
        (1, ("i == 0 or v > x[i - 1]", "are greater than the element before, or first", ())),
        (1, ("i == 0 or v != x[i - 1]", "differ from the element before, or are first", ())),
        (1, ("v == max(x[: i + 1])", "are the largest so far", ())),
        (1, ("v not in x[:i]", "have not occurred before", ())),
        (1, ("v in x[:i]", "have occurred before", ())),
        (1, ("v in x[i + 1 :]", "occur again later", ())),
    )


def draw_arithmetic(draw: ParameterSampler) -> Predicate:
    """Draw an arithmetic expression in a list element `v`.

    The phrase of the expression completes the sentence "replace each element by …".
    """
    k, small = draw.randint(1, 9), draw.randint(2, 4)
    pivot = draw.sample_element()
    return _choose(
        draw,
        (3, (f"v + {k}", f"itself plus {k}", ())),
        (2, (f"v * {small}", f"{small} times itself", ())),
        (1, (f"v * {small} + {k}", f"{small} times itself plus {k}", ())),
        (1, (f"v // {small}", f"itself divided by {small}, rounded down", ())),
        (2, (f"v % {k + 1}", f"its remainder modulo {k + 1}", ())),
        (1, (f"abs(v - {pivot})", f"its distance from {pivot}", ())),
        (1, (f"max(v, {pivot})", f"the larger of itself and {pivot}", ())),
        (1, (f"min(v, {pivot})", f"the smaller of itself and {pivot}", ())),
        (1, ("v // 10 + v % 10", "the sum of its two digits", ())),
        (1, ("max(x) - v", "its distance from the maximum", ())),
        (1, ("v - min(x)", "its distance from the minimum", ())),
        (1, ("v + len(x)", "itself plus the length of the list", ())),
        (1, ("abs(v - x[0])", "its distance from the first element", ())),
        (1, ("v + x[-1]", "itself plus the last element", ())),
    )


def _plural(says: str) -> str:
    return says.replace("itself", "themselves").replace("its ", "their ")


def _first(count: int, where: str = "first") -> str:
    return f"the {where} element" if count == 1 else f"the {where} {count} elements"


def map_step(draw: ParameterSampler) -> Step:
    """Draw a step that replaces each element separately."""
    code, says, constants = draw_arithmetic(draw)
    if_code, if_says, if_constants = draw_predicate(draw)
    k, other = draw.sample_element(), draw.sample_constant()
    plain = Step("map", f"[{code} for v in x]", f"replace each element by {says}", constants)
    return _choose(
        draw,
        (5, plain),
        (
            2,
            Step(
                "map",
                f"[{code} if {if_code} else v for v in x]",
                f"replace the elements that {if_says} by {_plural(says)}",
                if_constants,
            ),
        ),
        (
            1,
            Step(
                "map",
                f"[{other} if {if_code} else v for v in x]",
                f"replace the elements that {if_says} by {other}",
                if_constants,
            ),
        ),
        (
            1,
            Step(
                "map",
                f"[{other} if v == {k} else v for v in x]",
                f"replace each {k} by {other}",
                (k,),
            ),
        ),
        (
            1,
            Step(
                "map",
                "[v + i for i, v in enumerate(x)]",
                "add to each element its position, from 0",
            ),
        ),
        (
            1,
            Step(
                "map",
                "[v * (i + 1) for i, v in enumerate(x)]",
                "multiply each element by its position, from 1",
            ),
        ),
        (
            1,
            Step(
                "map",
                f"[{code} if i % 2 == 0 else v for i, v in enumerate(x)]",
                f"replace the elements at even positions, from 0, by {_plural(says)}",
            ),
        ),
    )


def filter_step(draw: ParameterSampler) -> Step:
    """Draw a step that keeps the elements for which a condition holds."""
    if draw.rng.random() < 0.65:
        code, says, constants = draw_predicate(draw)
        return Step(
            "filter", f"[v for v in x if {code}]", f"keep the elements that {says}", constants
        )
    code, says, constants = draw_indexed_predicate(draw)
    return Step(
        "filter",
        f"[v for i, v in enumerate(x) if {code}]",
        f"keep the elements that {says}",
        constants,
    )


def scan_step(draw: ParameterSampler) -> Step:
    """Draw a step that computes running values or values of neighbouring elements."""
    return _choose(
        draw,
        (2, _scan("[sum(x[: i + 1]) for i in range(len(x))]", "give the running sums")),
        (1, _scan("[max(x[: i + 1]) for i in range(len(x))]", "give the running maxima")),
        (1, _scan("[min(x[: i + 1]) for i in range(len(x))]", "give the running minima")),
        (2, _scan("[abs(b - a) for a, b in zip(x, x[1:])]", "give the distances of neighbours")),
        (2, _scan("[a + b for a, b in zip(x, x[1:])]", "give the sums of neighbours")),
        (
            1,
            _scan(
                "[max(a, b) for a, b in zip(x, x[1:])]", "give the larger of each two neighbours"
            ),
        ),
        (1, _scan("[a + b for a, b in zip(x, x[::-1])]", "add the list and its reverse")),
        (
            1,
            _scan(
                "[abs(a - b) for a, b in zip(x, sorted(x))]",
                "give the distances to the sorted list",
            ),
        ),
    )


def _scan(code: str, says: str) -> Step:
    return Step("scan", code, says)


def slice_step(draw: ParameterSampler) -> Step:
    """Draw a step that keeps or drops a contiguous section of the list or every second element."""
    k, start = draw.randint(1, 4), draw.randint(1, 3)
    ordinal = ("first", "second", "third", "fourth", "fifth")[k - 1]
    return _choose(
        draw,
        (2, _slice(f"x[{k}:]", f"drop {_first(k)}")),
        (2, _slice(f"x[:{k + 1}]", f"keep {_first(k + 1)}")),
        (2, _slice(f"x[:-{k}]", f"drop {_first(k, 'last')}")),
        (2, _slice(f"x[-{k + 1}:]", f"keep {_first(k + 1, 'last')}")),
        (1, _slice(f"x[{start}:{start + k + 1}]", f"keep {k + 1} elements after {_first(start)}")),
        (1, _slice("x[::2]", "keep every second element, from the first")),
        (1, _slice("x[1::2]", "keep every second element, from the second")),
        (1, _slice("x[1:-1]", "drop the first and the last")),
        (2, _slice(f"x[:{k - 1}] + x[{k}:]" if k > 1 else "x[1:]", f"delete the {ordinal} element")),
        (1, _slice("x[: len(x) // 2]", "keep the first half, rounded down")),
        (1, _slice("x[len(x) // 2 :]", "drop the first half, rounded down")),
        (1, _slice("x[: x.index(max(x))]", "keep what stands before the maximum")),
        (1, _slice("x[x.index(min(x)) :]", "drop what stands before the minimum")),
        (1, _slice("x[: x[0]]", "keep as many as the first element says")),
        (1, _while(draw, "[: next((i for i, v in enumerate(x) if {0}), len(x))]", "stop before the first of those that {}")),
        (1, _while(draw, "[next((i for i, v in enumerate(x) if {0}), len(x)) :]", "start at the first of those that {}")),
    )  # fmt: skip


def _slice(code: str, says: str) -> Step:
    return Step("slice", code, says)


def _while(draw: ParameterSampler, code: str, says: str) -> Step:
    condition, phrase, constants = draw_predicate(draw)
    return Step("slice", "x" + code.format(condition), says.format(phrase), constants)


def order_step(draw: ParameterSampler) -> Step:
    """Draw a step that sorts, reverses, rotates or removes repeated elements."""
    k = draw.sample_element()
    return _choose(
        draw,
        (3, _order("sorted(x)", "sort in ascending order")),
        (2, _order("sorted(x, reverse=True)", "sort in descending order")),
        (3, _order("x[::-1]", "reverse the list")),
        (2, _order("list(dict.fromkeys(x))", "remove repeated elements, keeping the first")),
        (1, _order("sorted(set(x))", "sort the distinct elements in ascending order")),
        (1, _order("sorted(x, key=lambda v: v % 10)", "sort by the last digit")),
        (1, _order("sorted(x, key=lambda v: v % 2)", "put the even elements before the odd ones")),
        (1, _order(f"sorted(x, key=lambda v: abs(v - {k}))", f"sort by the distance from {k}")),
        (1, _order("sorted(x, key=x.count)", "sort by the number of occurrences")),
        (2, _order("x[1:] + x[:1]", "move the first element to the end")),
        (2, _order("x[-1:] + x[:-1]", "move the last element to the front")),
        (1, _order("x[len(x) // 2 :] + x[: len(x) // 2]", "exchange the two halves")),
        (1, _order("x[::2] + x[1::2]", "put the even positions before the odd ones")),
    )


def _order(code: str, says: str) -> Step:
    return Step("order", code, says)


def structure_step(draw: ParameterSampler) -> Step:
    """Draw a step that adds or repeats elements, or replaces elements by positions, counts or
    ranks.
    """
    k, other, times = draw.sample_constant(), draw.sample_constant(), draw.randint(2, 3)
    at = draw.randint(1, 3)
    if_code, if_says, constants = draw_predicate(draw)
    return _choose(
        draw,
        (2, _structure(f"x + [{k}]", f"append {k}")),
        (2, _structure(f"[{k}] + x", f"put {k} in front")),
        (1, _structure(f"[{k}] + x + [{other}]", f"put {k} in front and {other} at the end")),
        (1, _structure(f"x[:{at}] + [{k}] + x[{at}:]", f"insert {k} after {_first(at)}")),
        (1, _structure(f"x[:{at}] + [{k}] + x[{at + 1}:]", f"replace the element after {_first(at)} by {k}")),
        (1, _structure("x + x", "put two copies in a row")),
        (1, _structure("x + x[::-1]", "append the reverse")),
        (1, _structure(f"[v for v in x for _ in range({times})]", f"repeat each element {times} times")),
        (1, _structure(f"[w for v in x for w in (v, {k})]", f"put {k} after each element")),
        (1, _structure("x + [len(x)]", "append the length")),
        (1, _structure("x + [sum(x)]", "append the sum")),
        (1, _structure("[max(x)] + x", "put the maximum in front")),
        (1, _structure("x + [min(x)]", "append the minimum")),
        (1, _structure("x[:1] + x", "repeat the first element")),
        (1, _structure("[x.count(v) for v in x]", "replace each element by its number of occurrences")),
        (1, _structure("[sorted(x).index(v) for v in x]", "replace each element by its rank, from 0")),
        (2, Step("structure", f"[i for i, v in enumerate(x) if {if_code}]", f"give the positions, from 0, of the elements that {if_says}", constants)),
        (1, _structure("[w for v in x for w in (v, 2 * v)]", "put its double after each element")),
        (1, _structure("list(range(min(x), max(x) + 1))", "count from the minimum to the maximum")),
        (1, _structure("[v for v in x for _ in range(min(v, 3))]", "repeat each element as often as it says, at most 3 times")),
    )  # fmt: skip


def _structure(code: str, says: str) -> Step:
    return Step("structure", code, says)


def reduction_step(draw: ParameterSampler) -> Step:
    """Draw a step that turns the list into a short list of integers."""
    k, at = draw.sample_element(), draw.randint(1, 3)
    code, says, constants = draw_predicate(draw)
    ordinal = ("first", "second", "third", "fourth")[at]
    return _choose(
        draw,
        (2, _reduce("[len(x)]", "give the length")),
        (2, _reduce("[sum(x)]", "give the sum")),
        (2, _reduce("[max(x)]", "give the maximum")),
        (2, _reduce("[min(x)]", "give the minimum")),
        (2, _reduce(f"[x[{at}]]", f"give the {ordinal} element")),
        (1, _reduce(f"[x[-{at + 1}]]", f"give the {ordinal} element from the end")),
        (1, _reduce("[x[-1]]", "give the last element")),
        (1, _reduce("[max(x) - min(x)]", "give the difference of maximum and minimum")),
        (1, _reduce("[len(set(x))]", "count the distinct elements")),
        (2, Step("reduction", f"[sum(1 for v in x if {code})]", f"count the elements that {says}", constants)),
        (1, Step("reduction", f"[sum(v for v in x if {code})]", f"add up the elements that {says}", constants)),
        (1, _reduce("[x.index(max(x))]", "give the position of the maximum, from 0")),
        (1, _reduce("[sorted(x)[len(x) // 2]]", "give the median, the upper of two")),
        (1, _reduce("[sum(x) // len(x)]", "give the mean, rounded down")),
        (1, _reduce("[x[0] + x[-1]]", "add the first and the last element")),
        (1, _reduce("[x[len(x) // 2]]", "give the element in the middle")),
        (1, _reduce("[min(x), max(x)]", "give the minimum and the maximum")),
        (1, Step("reduction", f"[x.count({k})]", f"count the occurrences of {k}", (k,))),
        (1, _reduce("[max(x, key=x.count)]", "give the most frequent element")),
        (1, _reduce("[x[x[0] % len(x)]]", "give the element whose position, modulo the length, the first element says")),
    )  # fmt: skip


def _reduce(code: str, says: str) -> Step:
    return Step("reduction", code, says)


def guard_step(draw: ParameterSampler) -> Step:
    """Draw a condition on the complete list, which decides between two chains of steps."""
    k, length, total = draw.sample_element(), draw.randint(3, 6), 4 * draw.sample_element()
    return _choose(
        draw,
        (3, _guard(f"len(x) > {length}", f"there are more than {length} elements")),
        (2, _guard("len(x) % 2 == 0", "the length is even")),
        (3, Step("guard", f"{k} in x", f"the list holds {k}", (k,))),
        (2, _guard("x[0] > x[-1]", "the first element is greater than the last")),
        (1, _guard(f"sum(x) > {total}", f"the sum is greater than {total}")),
        (1, _guard("sum(x) % 2 == 0", "the sum is even")),
        (1, _guard("x[0] % 2 == 0", "the first element is even")),
        (1, _guard(f"max(x) > {k}", f"the maximum is greater than {k}")),
        (1, _guard("len(set(x)) == len(x)", "no element occurs twice")),
        (1, _guard(f"x[0] < {k}", f"the first element is less than {k}")),
        (1, _guard("len(x) in x", "the length is one of the elements")),
    )


def _guard(code: str, says: str) -> Step:
    return Step("guard", code, says)


LIST_STEP_KINDS: tuple[tuple[int, Callable[[ParameterSampler], Step]], ...] = (
    (6, map_step),
    (6, filter_step),
    (3, scan_step),
    (5, slice_step),
    (5, order_step),
    (5, structure_step),
)


def list_step(draw: ParameterSampler) -> Step:
    """Draw a step from lists to lists; the kind is drawn with the weights in `LIST_STEP_KINDS`."""
    return _choose(draw, *LIST_STEP_KINDS)(draw)


def _choose(draw: ParameterSampler, *weighted: tuple[int, T]) -> T:
    """Return one of the choices, drawn by weight.

    Only `Random.random` is used, because Python keeps its stream stable across versions.
    """
    at = draw.rng.random() * sum(weight for weight, _ in weighted)
    for weight, choice in weighted:
        at -= weight
        if at < 0:
            return choice
    return weighted[-1][1]
