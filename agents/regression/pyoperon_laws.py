"""Laws that pyoperon finds: genetic programming with fitted constants, in 32-bit numbers.

The settings are those of the published comparison of the project's notes: all functions of Operon that
the equations of that comparison need, five iterations of Levenberg-Marquardt for each candidate, and
no limit but the time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pyoperon.sklearn import SymbolicRegressor

from ...tools.formulas import Column, Expression, Number, Operation, evaluate_formula
from .table import Floats, Untranslatable

SYMBOLS = "add,sub,mul,div,constant,variable,sin,cos,exp,log,sqrt,square,tanh"
MAX_EVALUATIONS = 10**9
MAX_GENERATIONS = 10**6

_FUNCTIONS = {
    "Sin": "sin",
    "Cos": "cos",
    "Exp": "exp",
    "Log": "log",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}
_OPERATORS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}


def find_laws(
    table: Floats, target: Floats, features: Sequence[Expression], seconds: float, seed: int
) -> Iterator[Callable[[], Expression]]:
    """Yield functions that return a law: the chosen model, and then the Pareto front of size and error
    in the last population, the smallest error first.

    Args:
        table: The values of the features, of shape (n, k).
        target: The values to explain, of shape (n,).
        features: An expression for each of the k features.
        seconds: Time limit. pyoperon takes whole seconds.
        seed: Seed of the search.
    """
    regressor = SymbolicRegressor(
        max_time=max(1, int(seconds)), n_threads=1, generations=MAX_GENERATIONS,
        max_evaluations=MAX_EVALUATIONS, allowed_symbols=SYMBOLS, optimizer_iterations=5,
        random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        regressor.fit(table, target)
    places = {hash_value: int(name[1:]) - 1 for hash_value, name in regressor.variables_.items()}
    named = {hash_value: features[place] for hash_value, place in places.items()}
    yield partial(translate_tree, regressor.model_, named)
    for tree in _front(regressor):
        yield partial(_scaled, tree, places, features, table, target)


def translate_tree(tree: Any, features: Mapping[int, Expression]) -> Expression:
    """Return a tree of pyoperon as an expression.

    Args:
        tree: The tree. Its nodes stand in postfix order, the first operand nearest to its operation.
        features: The expression of each variable, by the variable's hash.

    Raises:
        Untranslatable: The tree has an operation that is not in `SYMBOLS`.
    """
    stack: list[Expression] = []
    for node in tree.Nodes:
        name = node.Type.name
        if name == "Constant":
            stack.append(Number(_shortest(node.Value)))
        elif name == "Variable":
            stack.append(_weighted(node.Value, features[node.HashValue]))
        else:
            operands = [stack.pop() for _ in range(node.Arity)]
            stack.append(_operation(name, operands))
    return stack.pop()


def _operation(name: str, operands: list[Expression]) -> Expression:
    if name == "Square":
        return Operation("**", (operands[0], Number(2.0)))
    if name in _FUNCTIONS:
        return Operation(_FUNCTIONS[name], tuple(operands))
    if name not in _OPERATORS or len(operands) < 2:
        raise Untranslatable(name)
    found = operands[0]
    for one in operands[1:]:
        found = Operation(_OPERATORS[name], (found, one))
    return found


def _weighted(weight: float, variable: Expression) -> Expression:
    return variable if weight == 1 else Operation("*", (Number(_shortest(weight)), variable))


def _shortest(value: float) -> float:
    """Return the number with the fewest digits that is `value` as a 32-bit number."""
    return float(str(np.float32(value)))


def _front(regressor: SymbolicRegressor) -> list[Any]:
    """Return the trees that no other tree of their size or smaller surpasses, the best first."""
    ranked = sorted(regressor.individuals_, key=lambda one: (one.Genotype.Length, one[0]))
    front: list[Any] = []
    for one in ranked:
        if not front or one[0] < front[-1][0]:
            front.append(one)
    return [one.Genotype for one in reversed(front)]


def _scaled(
    tree: Any,
    places: dict[int, int],
    features: Sequence[Expression],
    table: Floats,
    target: Floats,
) -> Expression:
    """Return a tree as an expression, with the slope and intercept of least squares.

    The tree is evaluated by numpy, because `SymbolicRegressor.evaluate_model` of pyoperon 0.6.2 may
    end the process with a segmentation fault.
    """
    columns = {f"x{place}": table[:, place] for place in range(table.shape[1])}
    of_table = {hash_value: Column(f"x{place}") for hash_value, place in places.items()}
    values = np.broadcast_to(
        evaluate_formula(translate_tree(tree, of_table), columns), len(target)
    )  # fmt: skip
    if not np.isfinite(values).all():
        raise Untranslatable("it is not defined for all rows")
    spread = values - values.mean()
    squares = float(spread @ spread)
    slope = float(spread @ target) / squares if squares > 0 else 0.0
    intercept = float(target.mean() - slope * values.mean())
    named = {hash_value: features[place] for hash_value, place in places.items()}
    scaled = Operation("*", (Number(_shortest(slope)), translate_tree(tree, named)))
    return Operation("+", (Number(_shortest(intercept)), scaled))
