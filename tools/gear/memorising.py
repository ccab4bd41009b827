"""Hypotheses that memorise what they were shown (GEAR's trivial hypothesis, section 3.2), flagged
by what they do.

A hypothesis memorises where both hold:
- behaviour: of the inputs of S that were not shown, at least 95% are undefined or get one and the
  same prediction (the most frequent; both kinds together);
- source: every shown input and every shown output stands in it as a literal, under the rule of
  equality of predictions. A literal may be a part of a larger one (a table), and a string may
  hold one (`{"[1, 2]": [3]}[str(x)]`).

Behaviour alone would flag an honest constant, the source alone an honest rule with an example in
its docstring. A flag changes no verdict and no score. Not found: a table whose pairs are computed
or tested element by element (`len(x) == 2 and x[0] == 1`), and one that falls back on something
that is not constant.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records import Json, Observation, Predictions
from ...sandbox.inside.canonical import Unrepresentable, canonical_bytes, code_of

MEMORISING_FROM = Fraction(95, 100)
NESTED = 3  # literals within strings within strings


def is_memorising(
    source: str,
    shown: Sequence[Observation],
    predictions: Predictions,
    other: NDArray[np.bool_],
) -> bool:
    """predictions: over S (n,). other: where (n,) an input of S is none of the shown ones
    (`Inputs.other_than`). Nobody memorises where nothing is shown."""
    return bool(shown) and is_unvaried(predictions, other) and holds_pairs(source, shown)


class Inputs:
    """The inputs of S, found by their value; their codes are computed when first needed."""

    def __init__(self, inputs: Sequence[Json]) -> None:
        self._inputs = inputs
        self._codes: NDArray[np.int64] | None = None

    def other_than(self, shown: Sequence[Observation]) -> NDArray[np.bool_]:
        """Where (n,) an input of S is none of the shown ones."""
        if self._codes is None:
            self._codes = np.array([_code(value) for value in self._inputs], np.int64)
        return ~np.isin(self._codes, [_code(pair.input) for pair in shown])


def is_unvaried(predictions: Predictions, among: NDArray[np.bool_]) -> bool:
    """Whether at least 95% of the inputs `among` (n,) are undefined or get the prediction that is
    the most frequent there; False where there are none."""
    total = int(np.count_nonzero(among))
    needed = math.ceil(MEMORISING_FROM * total)
    if not total or _changes_often(predictions, 2 * (len(among) - needed)):
        return False
    codes = predictions.codes[among & predictions.defined]
    needed -= total - len(codes)
    if needed <= 0:
        return True
    return len(codes) >= needed and int(np.unique(codes, return_counts=True)[1].max()) >= needed


def _changes_often(predictions: Predictions, most: int) -> bool:
    """Whether the prediction differs from that before it more often than `most`: each input that
    does not get the one prediction makes at most two such places. Told in a tenth of the time."""
    codes, defined = predictions.codes, predictions.defined
    changes = codes[1:] != codes[:-1]
    if not defined.all():
        changes &= defined[1:] & defined[:-1]
    return int(np.count_nonzero(changes)) > most


def holds_pairs(source: str, shown: Sequence[Observation]) -> bool:
    """Whether every input and every output of the shown pairs is a literal of the source; False
    where this is no Python."""
    wanted = {_form(value) for pair in shown for value in (pair.input, pair.output)}
    return bool(wanted) and wanted <= literals(source)


def literals(source: str) -> set[bytes | None]:
    """The canonical forms of all literals of the source, parts of larger ones too."""
    found: set[bytes | None] = set()
    tree = _parsed(source, "exec")
    if tree is not None:
        _collect(tree, found, NESTED)
    return found


# --- inside ------------------------------------------------------------------


class _NoLiteral(Exception):
    pass


def _parsed(text: str, mode: str) -> ast.AST | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes of a model's source
            return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _collect(tree: ast.AST, found: set[bytes | None], nested: int) -> None:
    """By a list of what is left to visit: a model's expression may be nested deeply."""
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
    for node in nodes:  # grows while it is read
        nodes.extend(ast.iter_child_nodes(node))
    return reversed(nodes)


def _value(node: ast.AST, values: Mapping[int, Any]) -> Any:
    """The value of a literal whose parts are in `values`. Raises _NoLiteral."""
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
    """The canonical form; None where there is none."""
    try:
        return canonical_bytes(value)
    except Unrepresentable:
        return None


def _code(value: Json) -> int:
    """0 for what has none, which is equal to nothing: such an input is no list or grid anybody
    could show."""
    try:
        return code_of(value)
    except Unrepresentable:
        return 0
