"""Laws that gplearn finds: genetic programming with protected functions, without fitting of constants.

The settings are those of SRBench's comparison, with a population of 1,000. gplearn has no limit of
time, so a timer interrupts it, and the last complete generation counts.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gplearn.genetic import SymbolicRegressor

from ...tools.formulas import Expression, Number, Operation, format_formula
from ...tools.formulas.parsing import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES
from .table import Floats, Untranslatable

FUNCTIONS = ("add", "sub", "mul", "div", "log", "sqrt", "sin", "cos")
MAX_GENERATIONS = 10**6
PROTECTED = 0.001  # gplearn replaces quotients and logarithms of values that are not larger

_OPERATORS = {"add": "+", "sub": "-", "mul": "*"}


class _TimeIsUp(Exception):
    pass


def find_laws(
    table: Floats, target: Floats, features: Sequence[Expression], seconds: float, seed: int
) -> Iterator[Callable[[], Expression]]:
    """Yield functions that return a law: the program that gplearn chooses, which has the smallest mean
    absolute error in the last generation, and then that generation's Pareto front of size and error,
    the smallest error first.

    Args:
        table: The values of the features, of shape (n, k).
        target: The values to explain, of shape (n,).
        features: An expression for each of the k features.
        seconds: Time limit.
        seed: Seed of the search.
    """
    regressor = SymbolicRegressor(
        population_size=1_000, generations=MAX_GENERATIONS, tournament_size=20,
        function_set=FUNCTIONS, init_depth=(2, 6), init_method="half and half",
        metric="mean absolute error", parsimony_coefficient=0.001, low_memory=True,
        random_state=seed % 2**32,
    )  # fmt: skip

    def interrupt(*_: Any) -> None:
        raise _TimeIsUp

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            regressor.fit(table, target)
    except _TimeIsUp:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    generations = getattr(regressor, "_programs", [])  # gplearn documents it, under this name
    population = [one for one in (generations[-1] if generations else ()) if one is not None]
    for program in _front(population):
        yield partial(translate_program, program.program, features, table)


def _front(population: list[Any]) -> list[Any]:
    """Return the programs that no other program of their size or smaller surpasses, the best first."""
    front: list[Any] = []
    for one in sorted(population, key=lambda one: (one.length_, one.raw_fitness_)):
        if np.isfinite(one.raw_fitness_) and (
            not front or one.raw_fitness_ < front[-1].raw_fitness_
        ):
            front.append(one)
    return front[::-1]


def translate_program(
    program: Sequence[Any], features: Sequence[Expression], table: Floats
) -> Expression:
    """Return a program of gplearn as an expression.

    The protected functions become conditions. Where the formula would be too long with them, the
    conditions that hold for all rows are left out.

    Args:
        program: The functions, places of features and constants, in prefix order.
        features: The expression of each of the k features.
        table: The values of the features, of shape (n, k).

    Raises:
        Untranslatable: The formula is too long even then, or a function is not in `FUNCTIONS`.
    """
    for leave_out in (False, True):
        with suppress(Untranslatable):
            found = _translate(program, features, table, leave_out)
            if len(format_formula(found)) <= MAX_CHARACTERS:
                return found
    raise Untranslatable("it is too long")


class _Part(NamedTuple):
    expression: Expression
    values: Any


def _translate(
    program: Sequence[Any], features: Sequence[Expression], table: Floats, leave_out: bool
) -> Expression:
    stack: list[_Part] = []
    for one in reversed(program):  # so that the operands come before their function
        if isinstance(one, int | np.integer):
            stack.append(_Part(features[int(one)], table[:, int(one)]))
        elif isinstance(one, float):
            stack.append(_Part(Number(float(one)), one))
        else:
            operands = [stack.pop() for _ in range(one.arity)]
            with np.errstate(all="ignore"):
                values = one(*(part.values for part in operands))
            expression = _operation(one.name, operands, leave_out)
            # At each step, because a condition repeats its operand, so that sizes grow exponentially.
            if _count_nodes(expression) > MAX_NODES:
                raise Untranslatable("it is too long")
            stack.append(_Part(expression, values))
    return stack.pop().expression


def _count_nodes(expression: Expression, depth: int = 1) -> int:
    if depth > MAX_DEPTH:
        raise Untranslatable("it is nested too deeply")
    if not isinstance(expression, Operation):
        return 1
    return 1 + sum(_count_nodes(one, depth + 1) for one in expression.operands)


def _operation(name: str, operands: Sequence[_Part], leave_out: bool) -> Expression:
    parts = tuple(one.expression for one in operands)
    if name in _OPERATORS:
        return Operation(_OPERATORS[name], parts)
    if name in ("sin", "cos"):
        return Operation(name, parts)
    if name == "sqrt":
        return Operation("sqrt", (Operation("abs", parts),))
    if name == "div":
        return _protect(operands[1], Operation("/", parts), 1.0, leave_out)
    if name == "log":
        logarithm = Operation("log", (Operation("abs", parts),))
        return _protect(operands[0], logarithm, 0.0, leave_out)
    raise Untranslatable(name)


def _protect(part: _Part, usual: Expression, otherwise: float, leave_out: bool) -> Expression:
    """Return an expression that is `otherwise` where a part is nearly 0."""
    holds = np.abs(part.values) > PROTECTED
    if isinstance(part.expression, Number) or (leave_out and np.all(holds)):
        return usual if np.all(holds) else Number(otherwise)
    size = Operation("abs", (part.expression,))
    condition = Operation(">", (size, Number(PROTECTED)))
    return Operation("where", (condition, usual, Number(otherwise)))
