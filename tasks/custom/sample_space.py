"""Build the sample space of a task file from a generator, and weights from an expression.

In the task file, a generator is a mapping with one of these keys:

    {range: [0, 10], step: 0.5}          0, 0.5, … 10; step is 1 by default
    {choices: [red, green, 3]}           one of these values
    {text: abc, length: [1, 4]}          a text of 1 to 4 of these characters
    {list: GENERATOR, length: [0, 5]}    a list of 0 to 5 values; length may be one number
    {product: [GENERATOR, …]}            a list with one value of each generator
    {fields: {name: GENERATOR, …}}       an object with one value of each generator
    {any: [GENERATOR, …]}                a value of one of the generators

If a generator has at most `count` different values, the sample space contains all of them, in
order. Otherwise `count` distinct values are drawn; lengths, alternatives and elements are drawn
uniformly. Only `Random.random` is used, because Python keeps its sequence of numbers stable. The
same seed therefore gives the same sample space on all machines.

The weight of an input may be an arithmetic expression in the input `x`. An expression may contain
numbers and texts, `x[0]`, `x["name"]`, `+ - * / // %`, comparisons, `in`, `and or not`, `A if B
else C`, and the functions len, sum, min, max, abs, sqrt. It may not contain `**`, `exp` and `log`,
because the last digit of their results depends on the machine.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...records import Json, is_finite_number
from ...sandbox.inside.tolerance import exact_ratio
from ..io.messages import shorten, warn
from ..io.spaces import drop_repeated, equality_key
from ..io.yaml_file import Key, YamlDocument

DEFAULT_COUNT, MAX_INPUTS = 5_000, 100_000
MAX_LENGTH = 1_000
MAX_ELEMENTS = 10_000  # in one input
MAX_STEPS = 2**50  # of a range; beyond it a float does not draw evenly
DRAWS_PER_INPUT = (
    20  # per requested input; after that the space is taken to have no more distinct inputs
)
MAX_SIZE = 10**18  # larger sizes are capped at this number
MAX_EXPRESSION_CHARACTERS = 500

GENERATOR_KEYS = {"range": ("step",), "choices": (), "text": ("length",), "list": ("length",),
         "product": (), "fields": (), "any": ()}  # fmt: skip


@dataclass(frozen=True)
class Generator:
    """A set of possible inputs of a user's task, from which inputs can be listed or drawn.

    Args:
        size: the number of values, at most `MAX_SIZE`. A value that can be generated in two ways
            counts twice.
        max_elements: the number of elements of the largest value.
        iterate_values: returns an iterator over all values.
        draw_value: draws one value at random.
    """

    size: int
    max_elements: int
    iterate_values: Callable[[], Iterator[Json]]
    draw_value: Callable[[random.Random], Json]


def sample_inputs(generator: Generator, count: int, seed: str) -> list[Json]:
    """Return all values of a generator if there are at most `count`, otherwise `count` random
    values.

    All returned values are distinct. If too few distinct values are found, a warning is issued and
    fewer than `count` are returned.
    """
    found: dict[bytes | str, Json] = {}
    if generator.size <= count:
        return drop_repeated(generator.iterate_values())
    rng = random.Random(seed)
    for _ in range(DRAWS_PER_INPUT * count):
        value = generator.draw_value(rng)
        found.setdefault(equality_key(value), value)
        if len(found) == count:
            break
    else:
        warn(
            f"the sample space has {len(found):,} inputs, because {DRAWS_PER_INPUT * count:,} draws gave no other ones"
        )
    return list(found.values())


def parse_generator(source: YamlDocument, key: Key, value: Json) -> Generator:
    """Return the generator that a mapping in a task file describes.

    Args:
        source: the parsed task file, for the line numbers in error messages.
        key: the location of the mapping in the file.
        value: the mapping.

    Raises:
        DataError: the mapping is invalid; the message names its line.
    """
    made = _generator(source, key, value)
    if made.max_elements > MAX_ELEMENTS:
        raise source.error(key, f"an input may have up to {made.max_elements:,} elements, but the maximum is {MAX_ELEMENTS:,}")  # fmt: skip
    return made


def _generator(source: YamlDocument, key: Key, value: Json) -> Generator:
    source.check_keys(
        key, value, dict.fromkeys(n for f in GENERATOR_KEYS for n in (f, *GENERATOR_KEYS[f]))
    )
    named = [name for name in GENERATOR_KEYS if name in value]
    if len(named) != 1:
        raise source.error(
            key, f"a generator must have exactly one of the keys {', '.join(GENERATOR_KEYS)}"
        )
    (form,) = named
    for name in value:
        if name != form and name not in GENERATOR_KEYS[form]:
            raise source.error(
                (*key, name), f"a generator with the key {form} does not take this key"
            )
    inner, given = (*key, form), value[form]
    if form == "range":
        return _range(source, inner, given, value.get("step", 1), (*key, "step"))
    if form == "choices":
        some = _list(source, inner, given)
        return _one_of([_constant(each) for each in some])
    if form in ("text", "list"):
        low, high = _lengths(source, (*key, "length"), value.get("length"))
        if form == "list":
            return _listed(_generator(source, inner, given), low, high)
        if not isinstance(given, str) or not given:
            raise source.error(
                inner, f"must be a text with the allowed characters, not {shorten(given)}"
            )
        letters = _one_of([_constant(letter) for letter in dict.fromkeys(given)])
        return _mapped(_listed(letters, low, high), "".join)
    if form == "fields":
        if not isinstance(given, dict) or not given:
            raise source.error(
                inner, f"must be a mapping of names to generators, not {shorten(given)}"
            )
        parts = [_generator(source, (*inner, name), part) for name, part in given.items()]
        return _mapped(_product(parts), lambda row: dict(zip(given, row, strict=True)))
    some = _list(source, inner, given)
    parts = [_generator(source, (*inner, i), part) for i, part in enumerate(some)]
    return _product(parts) if form == "product" else _one_of(parts)


def _list(source: YamlDocument, key: Key, value: Json) -> list[Json]:
    if not isinstance(value, list) or not value:
        raise source.error(key, f"must be a nonempty list, not {shorten(value)}")
    return value


def _lengths(source: YamlDocument, key: Key, value: Json) -> tuple[int, int]:
    ends = [value, value] if type(value) is int else value
    if (
        not isinstance(ends, list)
        or [type(end) for end in ends] != [int, int]
        or not 0 <= ends[0] <= ends[1] <= MAX_LENGTH
    ):
        raise source.error(
            key, f"a length must be N or [N, N], from 0 to {MAX_LENGTH:,}, not {shorten(value)}"
        )
    return ends[0], ends[1]


def _range(source: YamlDocument, key: Key, ends: Json, step: Json, step_key: Key) -> Generator:
    numbers = (int, float)
    if (
        not isinstance(ends, list)
        or len(ends) != 2
        or any(type(end) not in numbers for end in ends)
        or ends[0] > ends[1]
        or max(map(abs, ends)) > MAX_STEPS
    ):
        raise source.error(
            key, f"a range must be [lowest, highest], within 2**50 of 0, not {shorten(ends)}"
        )
    if type(step) not in numbers or not step > 0:
        raise source.error(step_key, f"must be a number above 0, not {shorten(step)}")
    (low, below), (high, below_high), (up, down) = (exact_ratio(n) for n in (*ends, step))
    steps = (high * below - low * below_high) * down // (below_high * below * up)
    if steps >= MAX_STEPS:
        raise source.error(key, f"a range must have at most {MAX_STEPS:,} values")
    whole = below == down == 1 and {type(ends[0]), type(step)} == {int}

    def value(place: int) -> Json:
        above, under = low * down + place * up * below, below * down
        return above if whole else above / under

    return Generator(
        steps + 1,
        1,
        lambda: (value(place) for place in range(steps + 1)),
        lambda rng: value(_pick(rng, steps + 1)),
    )


def _pick(rng: random.Random, count: int) -> int:
    return int(rng.random() * count)


def _constant(value: Json) -> Generator:
    return Generator(1, 1, lambda: iter((value,)), lambda rng: value)


def _one_of(parts: list[Generator]) -> Generator:
    return Generator(
        min(sum(part.size for part in parts), MAX_SIZE),
        max(part.max_elements for part in parts),
        lambda: itertools.chain.from_iterable(part.iterate_values() for part in parts),
        lambda rng: parts[_pick(rng, len(parts))].draw_value(rng),
    )


def _product(parts: list[Generator]) -> Generator:
    size = 1
    for part in parts:
        size = min(size * part.size, MAX_SIZE)
    return Generator(
        size,
        sum(part.max_elements for part in parts),
        lambda: (
            list(row) for row in itertools.product(*(part.iterate_values() for part in parts))
        ),
        lambda rng: [part.draw_value(rng) for part in parts],
    )


def _listed(part: Generator, low: int, high: int) -> Generator:
    def all_of() -> Iterator[Json]:
        for length in range(low, high + 1):
            yield from (
                list(row) for row in itertools.product(part.iterate_values(), repeat=length)
            )

    def draw(rng: random.Random) -> Json:
        length = low + _pick(rng, high - low + 1)
        return [part.draw_value(rng) for _ in range(length)]

    sizes = (MAX_SIZE if part.size > 1 and n >= 60 else part.size**n for n in range(low, high + 1))
    return Generator(min(sum(sizes), MAX_SIZE), high * part.max_elements, all_of, draw)


def _mapped(part: Generator, make: Callable[[Any], Json]) -> Generator:
    return Generator(
        part.size,
        part.max_elements,
        lambda: map(make, part.iterate_values()),
        lambda rng: make(part.draw_value(rng)),
    )


# --- weights -------------------------------------------------------------------------


def evaluate_weights(
    text: str, inputs: Iterable[Json], error: Callable[[str], Exception]
) -> list[float]:
    """Return a weight of at least 0 for each input, computed by the expression `text`.

    Args:
        text: an arithmetic expression in `x`, the input.
        inputs: the inputs.
        error: makes the exception to raise from an error message.

    Raises:
        Exception: the exception that `error` made, if the expression is invalid or fails on an
            input.
    """
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        raise error(f"an expression must have at most {MAX_EXPRESSION_CHARACTERS} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
        raise error(f"the expression is not valid: {shorten(str(wrong))}") from None
    for node in ast.walk(tree):
        if unknown := _unknown(node):
            raise error(
                f"an expression cannot contain {unknown}; docs/how-to/write-a-task.md lists what it can"
            )
    weights: list[float] = []
    for one in inputs:
        try:
            weight = _evaluated(tree, one)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as wrong:
            raise error(f"{type(wrong).__name__} for the input {shorten(one)}: {wrong}") from None
        weights.append(check_weight(weight, lambda said, x=one: error(f"{said} for the input {shorten(x)}")))  # type: ignore[misc]  # fmt: skip
    return weights


def check_weight(weight: object, error: Callable[[str], Exception]) -> float:
    """Return a weight as a float after checking that it is a finite number of at least 0.

    Raises:
        Exception: the exception that `error` made from the error message, if `weight` is invalid.
    """
    if not isinstance(weight, bool) and is_finite_number(weight) and weight >= 0:
        return float(weight)
    raise error(f"a weight must be a number of at least 0, not {shorten(weight)}")


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len, "sum": sum, "min": min, "max": max, "abs": abs, "sqrt": math.sqrt,
}  # fmt: skip
_SHAPES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Subscript, ast.Load,
           ast.And, ast.Or, ast.Not, ast.USub)  # fmt: skip


def _unknown(node: ast.AST) -> str:
    """Return the part of an expression that is not supported, or an empty text."""
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
        return "" if known and not node.keywords else shorten(ast.unparse(node))
    if isinstance(node, ast.Name):
        return "" if node.id == "x" or node.id in _FUNCTIONS else node.id
    if isinstance(node, ast.Constant):
        return "" if isinstance(node.value, (int, float, str)) else ast.unparse(node)
    if isinstance(node, _SHAPES) or type(node) in _OPERATORS or type(node) in _COMPARISONS:
        return ""
    return shorten(ast.unparse(node)) or type(node).__name__


def _evaluated(node: ast.expr, x: Json) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id == "x":
            return x
        raise TypeError(f"{node.id} is a function, not a value")
    if isinstance(node, ast.Subscript):
        return _evaluated(node.value, x)[_evaluated(node.slice, x)]
    if isinstance(node, ast.Call):
        return _FUNCTIONS[node.func.id](*(_evaluated(part, x) for part in node.args))  # type: ignore[attr-defined]
    if isinstance(node, ast.IfExp):
        return _evaluated(node.body if _evaluated(node.test, x) else node.orelse, x)
    if isinstance(node, ast.BoolOp):
        ends = isinstance(node.op, ast.Or)
        return ends if any(bool(_evaluated(part, x)) is ends for part in node.values) else not ends
    if isinstance(node, ast.UnaryOp):
        value = _evaluated(node.operand, x)
        return not value if isinstance(node.op, ast.Not) else -value
    if isinstance(node, ast.Compare):
        values = [_evaluated(part, x) for part in (node.left, *node.comparators)]
        return all(
            _COMPARISONS[type(how)](values[i], values[i + 1]) for i, how in enumerate(node.ops)
        )
    assert isinstance(node, ast.BinOp)
    left, right = _evaluated(node.left, x), _evaluated(node.right, x)
    if not all(isinstance(value, (int, float)) for value in (left, right)):
        raise TypeError("arithmetic needs numbers")
    return _OPERATORS[type(node.op)](left, right)
