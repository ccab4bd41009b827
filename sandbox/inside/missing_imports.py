"""Modules that a source uses without importing them, and that the harness imports for the source.

Models forget imports. The harness that evaluated the published GPT-4 answers on List Functions
(lm-inductive-reasoning, Qiu et al., ICLR 2024) has `math`, `collections`, `copy` and the class
`Counter` in the namespace of each program. Published answers use the other modules of `PROVIDED` in
the same way. A name is provided only if the source reads the name and would not find it. Therefore
nothing changes for any other source, and the decision depends only on the source.

This file uses only the standard library, because the harness loads it inside the sandbox.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterable

# For each name: the module that has it, or "" for a module itself. All are permitted (allowlist.py).
PROVIDED = {
    **dict.fromkeys(("bisect", "collections", "copy", "functools", "heapq", "itertools", "math",
                     "operator", "re", "string"), ""),
    "Counter": "collections",
}  # fmt: skip


def missing_imports(source: str, nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """Return the names of `PROVIDED` that a source reads and does not bind, in alphabetical order.

    A name is missing if a scope reads the name, and neither this scope, nor a function around it,
    nor the module binds the name.

    Args:
        source: Source code that Python can compile.
        nodes: All nodes of its syntax tree.
    """
    nodes = list(nodes)
    missing = {one.id for one in nodes if type(one) is ast.Name} & PROVIDED.keys()
    bound: set[str] = set()  # in any scope
    for node in nodes if missing else ():
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return ()
            bound.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.MatchMapping):
            bound.add(node.rest or "")
        else:  # functions, classes, handlers of exceptions, patterns, parameters of types
            bound.add(getattr(node, "name", None) or "")
    if unclear := (missing & bound) - _bound_at_top(nodes):
        bound -= _unbound_somewhere(source, unclear)
    return tuple(sorted(missing - bound))


def _bound_at_top(nodes: list[ast.AST]) -> set[str]:
    """Return the names that plain statements of the module import, as most sources do.

    It spares these sources the second pass of `_unbound_somewhere`.
    """
    module = nodes[0]
    found: set[str] = set()
    for statement in module.body if isinstance(module, ast.Module) else ():
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found.update(one.asname or one.name.split(".")[0] for one in statement.names)
    return found


def _unbound_somewhere(source: str, names: set[str]) -> set[str]:
    """Return those of the names that a scope reads and nothing that it sees binds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `is 1` warns, but is legal
        try:
            top = symtable.symtable(source, "<hypothesis>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set()  # the source does not compile, which its reader reports
    read: set[str] = set()
    bound: set[str] = set()  # in the module, or elsewhere under `global`
    scopes: list[symtable.SymbolTable] = [top]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for name in names.intersection(scope.get_identifiers()):
            symbol = scope.lookup(name)
            at_top = scope is top or symbol.is_global()
            if at_top and symbol.is_referenced():
                read.add(name)
            if at_top and (symbol.is_assigned() or symbol.is_imported()):
                bound.add(name)
    return read - bound


def import_missing(source: str, tree: ast.Module, nodes: Iterable[ast.AST]) -> None:
    """Insert an import of each missing name at the top of the syntax tree `tree`.

    The imports come after a docstring and after imports from `__future__`.
    """
    at = 0
    for statement in tree.body:  # A docstring and imports from the future come first.
        constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not constant and getattr(statement, "module", None) != "__future__":
            break
        at += 1
    for name in missing_imports(source, nodes):
        module, alias = PROVIDED[name], [ast.alias(name)]
        made = ast.ImportFrom(module, alias, 0) if module else ast.Import(alias)
        tree.body.insert(at, ast.fix_missing_locations(made))
