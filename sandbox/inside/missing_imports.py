"""Modules that a source uses without importing them, which the harness then imports for it.

Models forget imports. The harness that evaluated the published GPT-4 answers on List Functions
(lm-inductive-reasoning, Qiu et al., ICLR 2024) has `math`, `collections`, `copy` and the class
`Counter` in the namespace of each program. Other modules of `PROVIDED` are used by published
answers in the same way. Only names that a source reads and nowhere binds are provided, so nothing
changes for any other source, and the decision depends on the source alone.

Standard library only: the harness loads this file inside the sandbox.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

# For each name: the module that has it, or "" for a module itself. All are permitted (harmless.py).
PROVIDED = {
    **dict.fromkeys(("bisect", "collections", "copy", "functools", "heapq", "itertools", "math",
                     "operator", "re", "string"), ""),
    "Counter": "collections",
}  # fmt: skip


def missing_imports(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """Return the provided names that a source reads and does not bind, in alphabetical order.

    Args:
        nodes: All nodes of its tree.
    """
    nodes = list(nodes)
    missing = {one.id for one in nodes if type(one) is ast.Name} & PROVIDED.keys()
    for node in nodes if missing else ():
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                missing.discard(node.id)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return ()
            missing.discard(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.Global | ast.Nonlocal):
            missing.difference_update(node.names)
        elif isinstance(node, ast.arg):
            missing.discard(node.arg)
        elif isinstance(node, ast.MatchMapping):
            missing.discard(node.rest or "")
        else:  # functions, classes, handlers of exceptions, patterns, parameters of types
            missing.discard(getattr(node, "name", None) or "")
    return tuple(sorted(missing))


def import_missing(tree: ast.Module, nodes: Iterable[ast.AST]) -> None:
    """Put an import of each missing name at the top of the tree, where the source would have it."""
    at = 0
    for statement in tree.body:  # A docstring and imports from the future come first.
        constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not constant and getattr(statement, "module", None) != "__future__":
            break
        at += 1
    for name in missing_imports(nodes):
        module, alias = PROVIDED[name], [ast.alias(name)]
        made = ast.ImportFrom(module, alias, 0) if module else ast.Import(alias)
        tree.body.insert(at, ast.fix_missing_locations(made))
