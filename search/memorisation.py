"""Detect programs that memorise examples: programs with a branch that only one case reaches.

Such a branch was written for one case, and its predictions for other inputs are arbitrary. A rule
with such a branch is therefore no discovery. A case is one evaluation of a condition. For a
condition on the input, a case is one example pair. For a condition on an element or a grid cell, a
case is one element or one cell. A branch that no case reaches is allowed, because such a branch
guards against inputs like an empty list. A condition that is only a variable name is not checked.
Helper functions inside the program are not checked.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Any

_SEEN = "_taken"
# Exceptions that a generated program can raise.
_RAISED = (
    ArithmeticError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError,
)  # fmt: skip


class _Counting(ast.NodeTransformer):
    """Transformer that makes every test of a condition report whether it held."""

    def __init__(self) -> None:
        self.tests = 0
        self.inside = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Visit the outermost function only; helpers defined inside it are left as they are."""
        self.inside += 1
        if self.inside == 1:
            self.generic_visit(node)
        self.inside -= 1
        return node

    def visit_If(self, node: ast.If) -> ast.If:
        """Instrument the test of an `if` statement."""
        self.generic_visit(node)
        node.test = self._record_test(node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        """Instrument the test of a conditional expression."""
        self.generic_visit(node)
        node.test = self._record_test(node.test)
        return node

    def _record_test(self, test: ast.expr) -> ast.expr:
        plain = test.operand if isinstance(test, ast.UnaryOp) else test
        if isinstance(plain, ast.Name):
            return test
        self.tests += 1
        told = ast.Call(ast.Name(_SEEN, ast.Load()), [ast.Constant(self.tests), test], [])
        return ast.copy_location(told, test)


def memorises_case(text: str, inputs: Sequence[Any]) -> bool:
    """Return whether a program has a branch that only one case reaches (see the module docstring).

    Args:
        text: Source of one Python function. The function must give the right output for each of
            `inputs` and must not modify the inputs.
        inputs: The example inputs. With fewer than two inputs the result is False, since all
            evaluations then belong to one case.
    """
    if len(inputs) < 2 or "if " not in text:
        return False
    counting = _Counting()
    tree = ast.fix_missing_locations(counting.visit(ast.parse(text)))
    if not counting.tests:
        return False
    taken: Counter[tuple[int, bool]] = Counter()

    def tell(test: int, held: Any) -> Any:
        taken[test, bool(held)] += 1
        return held

    names: dict[str, Any] = {_SEEN: tell}
    exec(compile(tree, "<counted>", "exec"), names)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef)).name
    for given in inputs:
        try:
            names[function](given)
        except _RAISED:
            return False
    return 1 in taken.values()
