"""An interpreter for a subset of Python, for programs that a model wrote.

A program is compiled to closures over its syntax tree. Nothing of it reaches Python's own `exec`: a
program has only the values and operations of operations.py, no attributes but listed methods, and no
imports but listed functions. Each run has a limit of steps. A program outside the subset is refused
before it runs (`NotInterpreted`); a run that exceeds a limit or raises an exception has no value.

Scopes differ from Python's in one point: a name that a function assigns later is found in the outer
scope before.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .expressions import (
    Expression,
    ExpressionCompiler,
    Function,
    NotInterpreted,
    Return,
    Scope,
    Statement,
)
from .metering import Halt, Meter, iterate
from .operations import BINARY, ERRORS, MODULES, call_method

MAX_DEPTH = 60  # of a syntax tree
MAX_NODES = 1_500

# What an interpreted program may raise. Other exceptions are faults of the interpreter.
RAISED = (
    ArithmeticError, AttributeError, LookupError, NameError, RecursionError, RuntimeError,
    StopIteration, TypeError, ValueError,
)  # fmt: skip

_BREAK, _CONTINUE = object(), object()


class Program:
    """An interpreted function.

    Args:
        tree: The syntax tree of the source. It is not changed.
        entry: The name of the function at its top level.
        counts_tests: Whether to count how often the test of each `if` held (`tests`).

    Raises:
        NotInterpreted: The program is outside the subset.
    """

    def __init__(self, tree: ast.Module, entry: str, counts_tests: bool = False) -> None:
        self.meter = Meter()
        self.entry = entry
        self.tests: Counter[tuple[int, bool]] = Counter()
        self._tree = tree
        self._compiler = _Compiler(self.meter, self.tests if counts_tests else None)
        self._body = self._compiler.block(tree.body)

    def recompile(self, changed: frozenset[int]) -> None:
        """Compile the program again after a change of its tree.

        The compiled form of all other nodes is used again, and that of the first compilation stays
        as it is: the tree must be restored before the next call.

        Args:
            changed: The ids of the nodes that contain the change. The new nodes need not be listed.

        Raises:
            NotInterpreted: The program is outside the subset.
        """
        compiler = self._compiler
        compiler.kept.update(compiler.compiled)
        compiler.compiled = {}
        compiler.changed = changed
        self._body = compiler.block(self._tree.body)
        compiler.compiled = {}  # ids of new nodes may be used again

    def run(self, value: Any, steps: int) -> Any:
        """Return the result for an input, which must be a copy of its own.

        Raises:
            Halt: The run exceeds `steps` steps or another limit.
            Exception: One of `RAISED`, as the program raised it.
        """
        meter = self.meter
        meter.left, meter.calls = steps, 0
        scope = Scope(None)
        self._body(scope)
        function = scope.names.get(self.entry)
        if not isinstance(function, Function):
            raise Halt
        result = function(value)
        meter.measure(result)
        return result


def check_size(tree: ast.AST) -> int:
    """Return the number of nodes of a tree.

    Raises:
        NotInterpreted: The tree is too large or too deep.
    """
    count, level = 0, [tree]
    for _ in range(MAX_DEPTH):
        count += len(level)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return count
        if count + len(level) > MAX_NODES:
            break
    raise NotInterpreted("the program is too long or nested too deeply")


class _Compiler(ExpressionCompiler):
    """Compile a whole program."""

    def block(self, body: Sequence[ast.stmt]) -> Statement:
        steps = [self.statement(one) for one in body]
        meter = self.meter

        def run(scope: Scope) -> Any:
            for step in steps:
                meter.left -= 1
                if meter.left < 0:
                    raise Halt
                found = step(scope)
                if found is not None:
                    return found
            return None

        return run

    def statement(self, node: ast.stmt) -> Statement:
        compiled: Statement = self._compile(node)
        return compiled

    def _Pass(self, node: ast.Pass) -> Statement:
        return lambda scope: None

    def _Break(self, node: ast.Break) -> Statement:
        return lambda scope: _BREAK

    def _Continue(self, node: ast.Continue) -> Statement:
        return lambda scope: _CONTINUE

    def _Expr(self, node: ast.Expr) -> Statement:
        value = self.expression(node.value)

        def run(scope: Scope) -> None:
            value(scope)

        return run

    def _Return(self, node: ast.Return) -> Statement:
        if node.value is None:
            return lambda scope: Return(None)
        value = self.expression(node.value)
        return lambda scope: Return(value(scope))

    def _Assign(self, node: ast.Assign) -> Statement:
        value, setters = self.expression(node.value), [self.setter(one) for one in node.targets]

        def run(scope: Scope) -> None:
            found = value(scope)
            for put in setters:
                put(scope, found)

        return run

    def _AnnAssign(self, node: ast.AnnAssign) -> Statement:
        if node.value is None:
            return lambda scope: None
        value, put = self.expression(node.value), self.setter(node.target)
        return lambda scope: put(scope, value(scope))

    def _AugAssign(self, node: ast.AugAssign) -> Statement:
        operation = BINARY.get(type(node.op).__name__)
        if operation is None:
            raise NotInterpreted(type(node.op).__name__)
        read, put = self.expression(_as_load(node.target)), self.setter(node.target)
        value, meter, adds = self.expression(node.value), self.meter, isinstance(node.op, ast.Add)

        def run(scope: Scope) -> None:
            before, found = read(scope), value(scope)
            if adds and type(before) is list:  # the list itself changes
                call_method(meter, before, "extend", [found], {})
            else:
                put(scope, operation(meter, before, found))

        return run

    def _Delete(self, node: ast.Delete) -> Statement:
        deleters: list[tuple[Expression, Expression]] = []
        for target in node.targets:
            if not isinstance(target, ast.Subscript):
                raise NotInterpreted("del of a name")
            deleters.append((self.expression(target.value), self.expression(target.slice)))

        def run(scope: Scope) -> None:
            for value, place in deleters:
                del value(scope)[place(scope)]

        return run

    def _If(self, node: ast.If) -> Statement:
        test = self.test(node.test)
        body, other = self.block(node.body), self.block(node.orelse)
        return lambda scope: body(scope) if test(scope) else other(scope)

    def _While(self, node: ast.While) -> Statement:
        test, body, other = (
            self.expression(node.test),
            self.block(node.body),
            self.block(node.orelse),
        )
        meter = self.meter

        def run(scope: Scope) -> Any:
            while test(scope):
                meter.spend(1)
                found = body(scope)
                if found is _BREAK:
                    return None
                if type(found) is Return:
                    return found
            return other(scope)

        return run

    def _For(self, node: ast.For) -> Statement:
        values, put = self.expression(node.iter), self.setter(node.target)
        body, other, meter = self.block(node.body), self.block(node.orelse), self.meter

        def run(scope: Scope) -> Any:
            for value in iterate(meter, values(scope)):
                meter.spend(1)
                put(scope, value)
                found = body(scope)
                if found is _BREAK:
                    return None
                if type(found) is Return:
                    return found
            return other(scope)

        return run

    def _Try(self, node: ast.Try) -> Statement:
        body, other = self.block(node.body), self.block(node.orelse)
        last = self.block(node.finalbody)
        handlers: list[tuple[tuple[type[Exception], ...], Statement]] = []
        for one in node.handlers:
            kinds = one.type.elts if isinstance(one.type, ast.Tuple) else [one.type]
            names = [kind.id if isinstance(kind, ast.Name) else "" for kind in kinds if kind]
            caught = tuple(ERRORS[name] for name in names if name in ERRORS)
            if one.name is not None or (names and not caught):
                raise NotInterpreted("except")
            handlers.append((caught or (Exception,), self.block(one.body)))

        def run(scope: Scope) -> Any:
            try:
                found = body(scope)
                if found is None:
                    found = other(scope)
            except RAISED as error:
                for caught, handle in handlers:
                    if isinstance(error, caught):
                        found = handle(scope)
                        break
                else:
                    raise
            ended = last(scope)
            return found if ended is None else ended

        return run

    def _Raise(self, node: ast.Raise) -> Statement:
        def run(scope: Scope) -> None:
            raise ValueError("raised by the program")

        return run

    def _Assert(self, node: ast.Assert) -> Statement:
        test = self.expression(node.test)

        def run(scope: Scope) -> None:
            if not test(scope):
                raise ValueError("assertion")

        return run

    def _FunctionDef(self, node: ast.FunctionDef) -> Statement:
        if node.decorator_list:
            raise NotInterpreted("decorator")
        make = self._function(node.args, self.block(node.body))
        name = node.name

        def run(scope: Scope) -> None:
            scope.names[name] = make(scope)

        return run

    def _Nonlocal(self, node: ast.Nonlocal) -> Statement:
        raise NotInterpreted("nonlocal")

    def _Import(self, node: ast.Import) -> Statement:
        for one in node.names:
            if one.name not in MODULES or one.asname is not None:
                raise NotInterpreted(f"import {one.name}")
        return lambda scope: None

    def _ImportFrom(self, node: ast.ImportFrom) -> Statement:
        module = MODULES.get(node.module or "", {})
        found: dict[str, Any] = {}
        for one in node.names:
            if node.module == "typing":
                continue
            if one.name not in module:
                raise NotInterpreted(f"from {node.module} import {one.name}")
            found[one.asname or one.name] = self._as_value(one.name, module[one.name])

        def run(scope: Scope) -> None:
            scope.names.update(found)

        return run


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    if isinstance(node, ast.Subscript):
        return ast.Subscript(node.value, node.slice, ast.Load())
    raise NotInterpreted(type(node).__name__)


def find_entry(tree: ast.Module, names: frozenset[str]) -> str:
    """Return the name of the function that a source defines.

    It is the last function at the top level with one of `names`, or else the last function.

    Raises:
        NotInterpreted: There is no function.
    """
    with suppress(IndexError):
        functions = [name for one in tree.body if (name := _function_name(one))]
        return ([name for name in functions if name in names] or functions)[-1]
    raise NotInterpreted("no function")


def _function_name(statement: ast.stmt) -> str:
    if isinstance(statement, ast.FunctionDef):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""
