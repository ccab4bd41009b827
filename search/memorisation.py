"""Detect programs that memorise: a branch that serves a single case among all shown ones.

Such a branch was made for that case, and its predictions for others are arbitrary, so a rule with a
patch is no discovery. A case is one evaluation of a test: for a test on the whole input this is one
pair, for a test on an element or a cell it is one element or cell. Branches that no shown case
reaches are guards (for an empty list, say) and are allowed, and so are tests of a bare name. Only
the function's own lines count, not helpers defined inside it.
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
    """Return whether some branch of a function serves a single case.

    Args:
        text: Source of one function that is right on the inputs and does not modify them.
        inputs: The shown inputs. With fewer than two the result is False, since all evaluations
            then belong to one case.
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
