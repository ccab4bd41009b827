"""What a source costs to compile, told from its tree before the compiler sees it.

A short text can ask much of CPython's compiler. A `finally` block is compiled again at every
`return`, `break` and `continue` that leaves its `try`, so nested ones multiply: 904 characters took
over 3 GB. The names that a pattern binds are put in order by code that grows with their square,
between alternatives with their cube: 17,000 characters took 640 MB. And how deep a tree may be
depends on how deep the caller's stack is, unless a bound well below decides first.

The parser itself needs no bound beside the size of the source: within 20,000 characters no text of
some millions tried (tests/tasks/test_program_bounds.py has the worst) took it 0.1 s or 20 MB.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

COMPILED_NODES = 100_000  # of the tree, as often as each is compiled; about 100 bytes each
DEPTH = 200  # of the tree; CPython's own limit is near 1,000 less the depth of the caller
TOO_DEEP = "nested too deeply"

_LEAVES = (ast.Return, ast.Break, ast.Continue)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def too_costly(tree: ast.AST) -> str | None:
    """Why `tree` is not to be compiled; None where it may be."""
    nodes = _with_parents_first(tree)
    if nodes is None:
        return TOO_DEEP
    compiled: dict[int, tuple[int, int]] = {}  # of each node: nodes, and exits from it
    for node in reversed(nodes):
        compiled[id(node)] = _compiled(node, compiled)
    count = compiled[id(tree)][0]
    if count > COMPILED_NODES:
        return f"it would compile to over {COMPILED_NODES:,} parts, by its try or match statements"
    return None


def _with_parents_first(tree: ast.AST) -> list[ast.AST] | None:
    found: list[ast.AST] = []
    stack = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > DEPTH:
            return None
        found.append(node)
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return found


def _compiled(node: ast.AST, below: dict[int, tuple[int, int]]) -> tuple[int, int]:
    if isinstance(node, (ast.Try, ast.TryStar)) and node.finalbody:
        inside, out = _sum([*node.body, *node.handlers, *node.orelse], below)
        again, leaving = _sum(node.finalbody, below)
        copies = out + 2  # at the end, at an exception, and at each exit
        return 1 + inside + copies * again, out + copies * leaving
    count, exits = _sum(ast.iter_child_nodes(node), below)
    if isinstance(node, ast.match_case):
        count += _ordering(node.pattern)
    if isinstance(node, _SCOPES):
        exits = 0
    return count + 1, exits + isinstance(node, _LEAVES)


def _sum(nodes: Iterable[ast.AST], below: dict[int, tuple[int, int]]) -> tuple[int, int]:
    pairs = [below[id(node)] for node in nodes]
    return sum(count for count, _ in pairs), sum(exits for _, exits in pairs)


def _ordering(pattern: ast.pattern) -> int:
    """At most so many instructions bring the names that a pattern binds into their order."""
    size = 0
    bound: list[str] = []
    choice = False
    for part in ast.walk(pattern):
        size += 1
        choice = choice or isinstance(part, ast.MatchOr)
        name = part.rest if isinstance(part, ast.MatchMapping) else getattr(part, "name", None)
        if isinstance(name, str):
            bound.append(name)
    return len(bound) * (size + (len(set(bound)) ** 2 if choice else 0))
