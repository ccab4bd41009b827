"""Description lengths: the number of bits needed to write down a hypothesis.

If two hypotheses explain the same evidence, the hypothesis with the shorter description is the
better explanation (minimum description length; Rissanen, 1978). The encoding is fixed, so lengths
can be compared between hypotheses and between task families. A choice among n alternatives takes
log2(n) bits. An integer takes the bits of its Elias gamma code and of its sign.

- For a Python program, the syntax tree is encoded: the type of each node, names, operators and
  constants. Annotations and docstrings are not counted.
- For a logical formula, the syntax tree is encoded: the type of each node, predicates and
  variables.
- For a sentence about labelled rows, the conditions and labels of the rule compiled from the
  sentence are encoded. If the sentence cannot be compiled into an exact rule, each of its words is
  encoded.
- For a law of numbers, the expression tree is encoded: the type of each node, columns and numbers
  with the digits that are written. Its residuals can be encoded in addition
  (tools/formulas/residuals.py).
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import lru_cache

from ..records import Json
from .formulas.dimensions import Dimension, Dimensions, missing_dimensions
from .formulas.expressions import (
    Column,
    Constant,
    Expression,
    Number,
    Operation,
    Text,
    iter_nodes,
)
from .logic.formula import Formula
from .python_parser import parse_python
from .sentence_rules import NotExact, compile_sentence
from .sentence_rules.terms import Term

NODE_KINDS = 32  # kinds of nodes that short programs are made of
CALLABLE_NAMES = 64  # builtins and methods that a program may call
OPERATORS = 8  # arithmetic operators, or comparisons
FORMULA_KINDS = 9  # `tools.logic.formula.Kind`
CONDITION_KINDS = 8  # kinds of conditions and quantities in an exact rule
BASE_DIMENSIONS = 8  # length, mass, time and so on, and none
LAW_NAMES = 8  # functions and numbers that a law may use besides the columns
LAW_OPERATOR_BITS, LAW_CONSTANT_BITS, LAW_DECIMAL_BITS = 2.0, 3.0, 9.0
LAW_CHANCE_BITS = 8.0  # of a law with columns: in noise, one of very many may save some bits
LAW_FUNCTION_BITS = {
    "sqrt": 2.0, "negate": 1.0, "exp": 5.0, "log": 5.0, "sin": 8.0, "cos": 8.0, "tan": 10.0, "tanh": 10.0,
    "arcsin": 9.0, "arccos": 9.0, "arctan": 9.0, "abs": 8.0,
}  # fmt: skip
DICTIONARY_WORDS = 8_192  # words that sentences are made of
CHARACTER_BITS = 5.0

# Nodes that only hold other nodes, or that name the choice which their parent counts.
_UNCOUNTED = (
    ast.Module, ast.Expr, ast.Return, ast.FunctionDef, ast.arguments, ast.arg, ast.comprehension,
    ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop,
)  # fmt: skip

_UNREAD = frozenset({"annotation", "returns", "ctx"})  # fields whose nodes are not counted


def choice_bits(alternatives: int) -> float:
    """Return the number of bits that encode one choice among equally likely alternatives."""
    return math.log2(max(alternatives, 1))


def integer_bits(value: int) -> float:
    """Return the length in bits of the Elias gamma code of `value`, including its sign."""
    return 2 * math.floor(math.log2(abs(value) + 1)) + 1 + (value < 0)


def number_bits(value: float) -> float:
    """Return the number of bits that encode `value`, rounded to at most six decimal places.

    Infinity and NaN take as many bits as the largest finite float.
    """
    if isinstance(value, int):
        return integer_bits(value)
    if not math.isfinite(value):
        value = math.copysign(sys.float_info.max, value)
    places = 0
    while places < 6 and not float(value).is_integer():
        value, places = round(value * 10, 6), places + 1
    return integer_bits(int(value)) + places


def text_bits(text: str) -> float:
    """Return the number of bits that encode `text` character by character."""
    return CHARACTER_BITS * (len(text) + 1)


def program_bits(source: str) -> float:
    """Return the description length of a Python program, in bits.

    Raises:
        SyntaxError: `source` is not valid Python.
    """
    nodes = _list_nodes(parse_python(source, "exec"))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    own_bits, name_bits = choice_bits(1 + len(own)), choice_bits(CALLABLE_NAMES)
    kind_bits, operator_bits = choice_bits(NODE_KINDS), choice_bits(OPERATORS)
    bits = 0.0
    for node in nodes:
        if isinstance(node, _UNCOUNTED):
            continue
        bits += kind_bits
        if isinstance(node, ast.Name):
            bits += own_bits if node.id in own else name_bits
        elif isinstance(node, ast.Constant):
            bits += _constant_bits(node.value)
        elif isinstance(node, ast.Attribute):
            bits += name_bits
        elif isinstance(node, ast.BinOp | ast.Compare | ast.AugAssign):
            bits += operator_bits
    return bits


def _list_nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes of a tree, without annotations, texts that stand alone, and contexts of names."""
    found: list[ast.AST] = []
    left = [tree]
    while left:
        node = left.pop()
        found.append(node)
        for name in node._fields:
            if name in _UNREAD:
                continue
            part = getattr(node, name, None)
            if isinstance(part, list):
                left += [o for o in part if isinstance(o, ast.AST) and not _is_docstring(o)]
            elif isinstance(part, ast.AST) and not _is_docstring(part):
                left.append(part)
    return found


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _constant_bits(value: object) -> float:
    if value is None or isinstance(value, bool):
        return 1.0
    if isinstance(value, int | float):
        return integer_bits(value) if isinstance(value, int) else number_bits(value)
    return text_bits(str(value))


def formula_bits(formula: Formula, predicates: int) -> float:
    """Return the description length of a logical formula, in bits.

    Args:
        formula: The formula.
        predicates: The number of predicates that a formula of this theory may use.
    """
    variable = choice_bits(1 + formula.depth)
    lengths: list[float] = []
    for node in formula.nodes:
        own = choice_bits(FORMULA_KINDS) + variable * len(node.terms)
        own += choice_bits(predicates) if node.kind == "atom" else 0.0
        lengths.append(own + sum(lengths[part] for part in node.parts))
    return lengths[-1]


def law_bits(law: Expression, columns: int, dimensions: Dimensions | None = None) -> float:
    """Return the description length of a law of numbers, in bits.

    Functions that laws of nature rarely have cost more (`LAW_FUNCTION_BITS`). Free constants cost
    nothing. A law with columns costs `LAW_CHANCE_BITS` more than a constant.

    Args:
        law: The formula.
        columns: The number of columns that a law of this table may use.
        dimensions: Those of the columns. Each constant of the law that must have a dimension, so that
            the dimensions agree, costs the bits of this dimension in addition.
    """
    name_bits = choice_bits(columns + LAW_NAMES)
    bits = LAW_CHANCE_BITS if any(isinstance(one, Column) for one in iter_nodes(law)) else 0.0
    for node in iter_nodes(law):
        match node:
            case Number(value):
                bits += decimal_bits(value)
            case Constant():
                bits += LAW_CONSTANT_BITS
            case Column() | Text():
                bits += name_bits
            case Operation(name):
                bits += LAW_FUNCTION_BITS.get(name, LAW_OPERATOR_BITS)
    if dimensions is not None:
        bits += sum(map(dimension_bits, missing_dimensions(law, dimensions)))
    return bits


def dimension_bits(dimension: Dimension) -> float:
    """Return the bits of the dimension of a constant: of its exponents, as quotients of integers."""
    return 1.0 + sum(
        choice_bits(BASE_DIMENSIONS) + integer_bits(e.numerator) + integer_bits(e.denominator - 1)
        for e in dimension.values()
    )


@lru_cache(maxsize=4096)
def decimal_bits(value: float) -> float:
    """Return the bits of a finite number in a law: of a whole number by its size, of others by their
    decimal digits.
    """
    size = abs(float(value))
    written = Decimal(repr(size)).normalize()  # the shortest decimal that reads as the same float
    digits = math.log2(10) * len(written.as_tuple().digits) + LAW_DECIMAL_BITS
    ten = abs(written.adjusted())
    of_size = 2 * math.log2(ten + 1)  # units of measurement bring about far powers of ten
    if size.is_integer():
        return min(2.0 * math.floor(math.log2(max(size, 1.0))) + 1, digits + min(ten / 2, of_size))
    return digits + min(ten, of_size)


def sentence_bits(sentence: str, public: Mapping[str, Json]) -> float:
    """Return the description length of a sentence about labelled rows, in bits.

    Args:
        sentence: The sentence.
        public: A mapping with the keys "labels" (the possible labels) and "columns" (the columns of
            the rows).
    """
    rule = compile_sentence(sentence, public)
    if isinstance(rule, NotExact):
        return choice_bits(DICTIONARY_WORDS) * len(sentence.split())
    return _rule_bits(rule, len(public["labels"]), max(len(public["columns"]), 2))


def _rule_bits(part: object, labels: int, columns: int) -> float:
    """Return the description length of a part of an exact rule (tools/sentence_rules/rules.py)."""
    match part:
        case None | bool():
            return 1.0
        case int() | float():
            return number_bits(part)
        case Term(text, kind):
            return choice_bits(DICTIONARY_WORDS) * len(text.split()) + CHARACTER_BITS * bool(kind)
        case tuple():
            return integer_bits(len(part)) + sum(_rule_bits(one, labels, columns) for one in part)
        case str():
            return CHARACTER_BITS
    bits = choice_bits(CONDITION_KINDS)
    for one in fields(part) if is_dataclass(part) else ():
        value = getattr(part, one.name)
        if one.name in ("label", "otherwise"):
            bits += choice_bits(labels + 1)
        elif one.name in ("column", "text"):
            bits += choice_bits(columns) if value else 0.0
        elif one.name in ("relation", "unit"):
            bits += 2.0
        else:
            bits += _rule_bits(value, labels, columns)
    return bits
