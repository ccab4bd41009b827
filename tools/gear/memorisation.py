"""Detection of hypotheses that memorise the shown pairs (GEAR's trivial hypothesis, section 3.2).

A hypothesis memorises if it meets both criteria:
- Behaviour: on at least 95% of the inputs of the sample space S that were not shown, the hypothesis
  is undefined or makes its most frequent prediction.
- Source: every shown input and output occurs in the source code as a literal. Values are compared
  by the equality rule for predictions. A literal inside a larger literal counts (a table), and so
  does a literal inside a string (`{"[1, 2]": [3]}[str(x)]`).

The first criterion alone would flag a rule that is rightly constant. The second criterion alone
would flag a general rule with an example in its docstring. A flag does not change a verdict or a
score. Two forms of memorisation are not detected: a table whose pairs are computed or tested
element by element (`len(x) == 2 and x[0] == 1`), and a table whose default value is not constant.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Observation, Predictions
from ...sandbox.inside.canonical import Unrepresentable, canonical_bytes, make_coder
from ..python_parser import parse_python

MEMORISATION_THRESHOLD = Fraction(95, 100)
MAX_NESTED_STRINGS = 3  # levels of literals within strings


def is_memorising(
    source: str,
    shown: Sequence[Observation],
    predictions: Predictions,
    unshown: NDArray[np.bool_],
) -> bool:
    """Return whether a hypothesis memorises the shown pairs; False if no pair was shown.

    Args:
        source: Source code of the hypothesis.
        shown: The shown observations, which are pairs of input and output.
        predictions: Predictions of the hypothesis for the n inputs of the sample space S.
        unshown: For each input of S, whether it was not shown, bool of shape (n,)
            (`Inputs.mask_unshown`).
    """
    return (
        bool(shown) and is_mostly_constant(predictions, unshown) and contains_pairs(source, shown)
    )


class Inputs:
    """The inputs of the sample space S, in a form that makes it fast to find the shown inputs."""

    def __init__(self, inputs: Sequence[Json]) -> None:
        self._inputs = inputs
        self._codes: NDArray[np.int64] | None = None

    def mask_unshown(self, shown: Sequence[Observation]) -> NDArray[np.bool_]:
        """Return which inputs of S are not among the shown inputs, as bool of shape (n,)."""
        if self._codes is None:
            self._codes = np.array(_codes(self._inputs), np.int64)
        return ~np.isin(self._codes, _codes([pair.input for pair in shown]))


def is_mostly_constant(predictions: Predictions, mask: NDArray[np.bool_]) -> bool:
    """Return whether at least 95% of the selected inputs are undefined or share one prediction.

    Args:
        predictions: Predictions of one hypothesis for n inputs.
        mask: The selected inputs, bool of shape (n,). If no input is selected, the result is False.
    """
    total = int(np.count_nonzero(mask))
    needed = math.ceil(MEMORISATION_THRESHOLD * total)
    if not total or _changes_often(predictions, 2 * (len(mask) - needed)):
        return False
    codes = predictions.codes[mask & predictions.defined]
    needed -= total - len(codes)
    if needed <= 0:
        return True
    return len(codes) >= needed and int(np.unique(codes, return_counts=True)[1].max()) >= needed


def _changes_often(predictions: Predictions, most: int) -> bool:
    """Return whether neighbouring predictions differ more than `most` times.

    An input without the shared prediction causes at most two such changes, so this rules most
    hypotheses out in a tenth of the time of a full count.
    """
    codes, defined = predictions.codes, predictions.defined
    changes = codes[1:] != codes[:-1]
    if not defined.all():
        changes &= defined[1:] & defined[:-1]
    return int(np.count_nonzero(changes)) > most


def contains_pairs(source: str, shown: Sequence[Observation]) -> bool:
    """Return whether every shown input and output occurs in the source code as a literal.

    The result is False if the source is not valid Python, or if nothing was shown.
    """
    wanted = {_form(value) for pair in shown for value in (pair.input, pair.output)}
    return bool(wanted) and wanted <= find_literals(source)


def find_literals(source: str) -> set[bytes | None]:
    """Return the canonical forms of all literals in the source code.

    Parts of a literal, such as the elements of a list, are included. The result is empty if the
    source is not valid Python.
    """
    found: set[bytes | None] = set()
    tree = _parsed(source, "exec")
    if tree is not None:
        _collect(tree, found, MAX_NESTED_STRINGS)
    return found


# --- Literals of a source ----------------------------------------------------


class _NoLiteral(Exception):
    pass


def _parsed(text: str, mode: Literal["exec", "eval"]) -> ast.AST | None:
    try:
        return parse_python(text, mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _collect(tree: ast.AST, found: set[bytes | None], nested: int) -> None:
    """Add the literals of a tree to `found`, without recursion into deeply nested expressions."""
    values: dict[int, Any] = {}
    for node in _children_first(tree):
        try:
            value = values[id(node)] = _value(node, values)
        except _NoLiteral:
            continue
        found.add(_form(value))
        if isinstance(value, str) and nested:
            inner = _parsed(value.strip(), "eval")
            if inner is not None and not isinstance(getattr(inner, "body", None), ast.Name):
                _collect(inner, found, nested - 1)
    found.discard(None)


def _children_first(tree: ast.AST) -> Iterator[ast.AST]:
    nodes = [tree]
    for node in nodes:  # The list grows during the loop.
        nodes.extend(ast.iter_child_nodes(node))
    return reversed(nodes)


def _value(node: ast.AST, values: Mapping[int, Any]) -> Any:
    """Return the value of a literal whose parts are in `values`. Raises _NoLiteral."""
    try:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [values[id(part)] for part in parts]
            case ast.UnaryOp(op=ast.USub(), operand=part):
                value = values[id(part)]
                if type(value) in (int, float):
                    return -value
            case ast.Expression(body=part):
                return values[id(part)]
            case ast.Dict(keys=keys, values=parts) if None not in keys:
                pairs = [(values[id(k)], values[id(v)]) for k, v in zip(keys, parts, strict=True)]
                return {_hashable(key): value for key, value in pairs}
    except (KeyError, TypeError):
        pass
    raise _NoLiteral


def _hashable(key: Any) -> Any:
    return tuple(_hashable(part) for part in key) if isinstance(key, list) else key


def _form(value: Any) -> bytes | None:
    """Return the canonical form of a value, or None if it has none."""
    try:
        return canonical_bytes(value)
    except Unrepresentable:
        return None


def _codes(values: Sequence[Json]) -> list[int]:
    """Return the codes of values, or 0 for each value that cannot be represented.

    A value without a code equals nothing: no list or grid that can be shown is such an input.
    """
    code, found = make_coder(), []
    for value in values:
        try:
            found.append(int.from_bytes(code(value), "little", signed=True))
        except Unrepresentable:
            found.append(0)
    return found
