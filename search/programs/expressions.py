"""Compile the expressions of an interpreted program to closures over its syntax tree.

A closure takes the scope in which it is evaluated. Compiled nodes are kept by their identity, so that
a program of which one node changed is compiled anew only along the way to this node.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .metering import MAX_CALLS, MAX_LENGTH, PER_ITERATOR, Halt, Meter, iterate
from .operations import (
    BINARY,
    BUILTINS,
    CLASS_METHODS,
    COMPARE,
    METHODS,
    MODULES,
    TYPES,
    UNARY,
    Builtin,
    call_method,
)


class NotInterpreted(Exception):
    """Raised for a program outside the subset."""


class Scope:
    """The variables of a call, of a comprehension or of the module."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: Scope | None) -> None:
        self.names: dict[str, Any] = {}
        self.outer = outer


Expression = Callable[[Scope], Any]
Statement = Callable[[Scope], Any]
Setter = Callable[[Scope, Any], None]


class Return(NamedTuple):
    """The signal of a statement that ends a function, with the result."""

    value: Any


class Function:
    """A function of an interpreted program."""

    __slots__ = ("body", "defaults", "meter", "parameters", "scope")

    def __init__(
        self, parameters: Sequence[str], defaults: Sequence[Any], body: Statement, scope: Scope,
        meter: Meter,
    ) -> None:  # fmt: skip
        self.parameters, self.defaults, self.body = parameters, defaults, body
        self.scope, self.meter = scope, meter

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function, in a new scope."""
        scope, meter = Scope(self.scope), self.meter
        if len(args) > len(self.parameters):
            raise TypeError("too many arguments")
        scope.names.update(zip(self.parameters, args, strict=False))
        for name, value in options.items():
            if name not in self.parameters or name in scope.names:
                raise TypeError(f"argument {name}")
            scope.names[name] = value
        for name, value in zip(reversed(self.parameters), reversed(self.defaults), strict=False):
            scope.names.setdefault(name, value)
        if len(scope.names) < len(self.parameters):
            raise TypeError("too few arguments")
        meter.spend(1)
        meter.calls += 1
        if meter.calls > MAX_CALLS:
            raise Halt
        try:
            found = self.body(scope)
        finally:
            meter.calls -= 1
        return found.value if type(found) is Return else None


class ExpressionCompiler:
    """Compile expressions to closures that share one meter."""

    def __init__(self, meter: Meter, tests: Counter[tuple[int, bool]] | None) -> None:
        self.meter, self.tests, self.count = meter, tests, 0
        self.kept: dict[int, tuple[ast.AST, Any]] = {}
        self.compiled: dict[int, tuple[ast.AST, Any]] = {}
        self.changed: frozenset[int] = frozenset()

    def _compile(self, node: ast.stmt | ast.expr) -> Any:
        place = id(node)
        if place in self.kept and place not in self.changed:
            return self.kept[place][1]
        compile_it = getattr(self, f"_{type(node).__name__}", None)
        if compile_it is None:
            raise NotInterpreted(type(node).__name__)
        found = compile_it(node)
        self.compiled[place] = node, found  # with the node, so that its id is not used again
        return found

    # --- Targets of assignments.

    def setter(self, node: ast.expr) -> Setter:
        """Return a closure that assigns a value to a target.

        Raises:
            NotInterpreted: The target is outside the subset.
        """
        if isinstance(node, ast.Name):
            name = node.id

            def put(scope: Scope, value: Any) -> None:
                scope.names[name] = value

            return put
        if isinstance(node, ast.Subscript):
            base, place, meter = (
                self.expression(node.value),
                self.expression(node.slice),
                self.meter,
            )

            def put_item(scope: Scope, value: Any) -> None:
                target, at = base(scope), place(scope)
                if type(at) is slice:
                    value = list(iterate(meter, value))
                    if len(value) + len(target) > MAX_LENGTH:
                        raise Halt
                meter.measure(at)
                target[at] = value

            return put_item
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._unpack(node.elts)
        raise NotInterpreted(f"assignment to {type(node).__name__}")

    def _unpack(self, parts: Sequence[ast.expr]) -> Setter:
        star = next((k for k, one in enumerate(parts) if isinstance(one, ast.Starred)), None)
        plain = [one.value if isinstance(one, ast.Starred) else one for one in parts]
        setters, meter, count = [self.setter(one) for one in plain], self.meter, len(parts)

        def put(scope: Scope, value: Any) -> None:
            found = list(iterate(meter, value))
            if star is not None:
                after = count - star - 1
                if len(found) < count - 1:
                    raise ValueError("too few values")
                end = len(found) - after
                found = [*found[:star], found[star:end], *found[end:]]
            if len(found) != count:
                raise ValueError("wrong number of values")
            for one, part in zip(setters, found, strict=True):
                one(scope, part)

        return put

    # --- Expressions.

    def expression(self, node: ast.expr) -> Expression:
        """Return a closure that evaluates an expression.

        Raises:
            NotInterpreted: The expression is outside the subset.
        """
        compiled: Expression = self._compile(node)
        return compiled

    def test(self, node: ast.expr) -> Expression:
        """Return a closure that evaluates the test of an `if`, and counts whether it held."""
        value, tests = self.expression(node), self.tests
        if tests is None:
            return value
        self.count += 1
        number = self.count

        def run(scope: Scope) -> bool:
            held = bool(value(scope))
            tests[number, held] += 1
            return held

        return run

    def _Constant(self, node: ast.Constant) -> Expression:
        value = node.value
        if type(value) not in (int, float, bool, str, type(None)):
            raise NotInterpreted("constant")
        return lambda scope: value

    def _Name(self, node: ast.Name) -> Expression:
        name, builtin = node.id, None
        if name in BUILTINS:
            builtin = Builtin(self.meter, name, BUILTINS[name])

        def run(scope: Scope) -> Any:
            here: Scope | None = scope
            while here is not None:
                names = here.names
                if name in names:
                    return names[name]
                here = here.outer
            if builtin is None:
                raise NameError(name)
            return builtin

        return run

    def _NamedExpr(self, node: ast.NamedExpr) -> Expression:
        value, put = self.expression(node.value), self.setter(node.target)

        def run(scope: Scope) -> Any:
            found = value(scope)
            put(scope, found)
            return found

        return run

    def _BinOp(self, node: ast.BinOp) -> Expression:
        operation = BINARY.get(type(node.op).__name__)
        if operation is None:
            raise NotInterpreted(type(node.op).__name__)
        left, right, meter = self.expression(node.left), self.expression(node.right), self.meter
        return lambda scope: operation(meter, left(scope), right(scope))

    def _UnaryOp(self, node: ast.UnaryOp) -> Expression:
        operation, value = UNARY[type(node.op).__name__], self.expression(node.operand)
        return lambda scope: operation(value(scope))

    def _BoolOp(self, node: ast.BoolOp) -> Expression:
        parts, ends_at = [self.expression(one) for one in node.values], isinstance(node.op, ast.Or)

        def run(scope: Scope) -> Any:
            found = None
            for part in parts:
                found = part(scope)
                if bool(found) is ends_at:
                    return found
            return found

        return run

    def _Compare(self, node: ast.Compare) -> Expression:
        first = self.expression(node.left)
        parts = [
            (COMPARE[type(op).__name__], self.expression(one))
            for op, one in zip(node.ops, node.comparators, strict=True)
        ]
        meter = self.meter

        def run(scope: Scope) -> Any:
            left, held = first(scope), True
            for compare, part in parts:
                right = part(scope)
                meter.measure(left)
                meter.measure(right)
                held = compare(left, right)
                if not held:
                    return held
                left = right
            return held

        return run

    def _IfExp(self, node: ast.IfExp) -> Expression:
        test = self.test(node.test)
        body, other = self.expression(node.body), self.expression(node.orelse)
        return lambda scope: body(scope) if test(scope) else other(scope)

    def _Subscript(self, node: ast.Subscript) -> Expression:
        value, place, meter = self.expression(node.value), self.expression(node.slice), self.meter

        def run(scope: Scope) -> Any:
            found, at = value(scope), place(scope)
            if type(at) is slice:
                return meter.check(found[at])
            meter.measure(at)
            return found[at]

        return run

    def _Slice(self, node: ast.Slice) -> Expression:
        parts = [None if one is None else self.expression(one)
                 for one in (node.lower, node.upper, node.step)]  # fmt: skip
        return lambda scope: slice(*(None if one is None else one(scope) for one in parts))

    def _elements(self, nodes: Sequence[ast.expr]) -> Callable[[Scope], list[Any]]:
        meter = self.meter
        parts = [
            (isinstance(one, ast.Starred), self.expression(one.value if isinstance(one, ast.Starred) else one))
            for one in nodes
        ]  # fmt: skip

        def run(scope: Scope) -> list[Any]:
            found: list[Any] = []
            for star, part in parts:
                if star:
                    for value in iterate(meter, part(scope)):
                        meter.spend(1)
                        found.append(value)
                else:
                    found.append(part(scope))
            return found

        return run

    def _List(self, node: ast.List) -> Expression:
        return self._elements(node.elts)

    def _Tuple(self, node: ast.Tuple) -> Expression:
        values = self._elements(node.elts)
        return lambda scope: tuple(values(scope))

    def _Set(self, node: ast.Set) -> Expression:
        values, meter = self._elements(node.elts), self.meter

        def run(scope: Scope) -> Any:
            found = values(scope)
            meter.measure(found)
            return set(found)

        return run

    def _Dict(self, node: ast.Dict) -> Expression:
        if any(key is None for key in node.keys):
            raise NotInterpreted("** in a dictionary")
        keys = self._elements([key for key in node.keys if key is not None])
        values, meter = self._elements(node.values), self.meter

        def run(scope: Scope) -> Any:
            found = keys(scope)
            meter.measure(found)
            return dict(zip(found, values(scope), strict=True))

        return run

    def _JoinedStr(self, node: ast.JoinedStr) -> Expression:
        text = Builtin(self.meter, "str", BUILTINS["str"])
        parts: list[Expression] = []
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                if one.format_spec is not None or one.conversion not in (-1, ord("s")):
                    raise NotInterpreted("format")
                value = self.expression(one.value)
                parts.append(lambda scope, value=value: text(value(scope)))  # type: ignore[misc]
            else:
                parts.append(self.expression(one))
        meter = self.meter
        return lambda scope: meter.check("".join([part(scope) for part in parts]))

    def _Lambda(self, node: ast.Lambda) -> Expression:
        value = self.expression(node.body)
        return self._function(node.args, lambda scope: Return(value(scope)))

    def _Attribute(self, node: ast.Attribute) -> Expression:
        """Compile a method as a value, or a constant or function of a module."""
        name, meter = node.attr, self.meter
        if isinstance(node.value, ast.Name) and node.value.id in MODULES:
            module = MODULES[node.value.id]
            if name not in module:
                raise NotInterpreted(f"{node.value.id}.{name}")
            found = self._as_value(name, module[name])
            return lambda scope: found
        value = self.expression(node.value)

        def run(scope: Scope) -> Any:
            owner = value(scope)
            if isinstance(owner, Builtin):
                if (owner.name, name) in CLASS_METHODS:
                    return Builtin(meter, name, CLASS_METHODS[owner.name, name])
                if name not in METHODS.get(TYPES.get(owner.name, Builtin), ()):
                    raise AttributeError(name)
                # a method of a type, such as str.lower
                return lambda first, *args: call_method(meter, first, name, args, {})
            if name not in METHODS.get(type(owner), ()):
                raise AttributeError(name)
            return lambda *args, **options: call_method(meter, owner, name, args, options)

        return run

    def _Call(self, node: ast.Call) -> Expression:
        if any(one.arg is None for one in node.keywords):
            raise NotInterpreted("** in a call")
        args, meter = self._elements(node.args), self.meter
        options = [(str(one.arg), self.expression(one.value)) for one in node.keywords]
        function = self.expression(node.func)

        def run(scope: Scope) -> Any:
            called = function(scope)
            if not callable(called):
                raise TypeError("not callable")
            meter.spend(1)
            if options:
                return called(*args(scope), **{name: one(scope) for name, one in options})
            return called(*args(scope))

        return run

    def _loops(self, generators: Sequence[ast.comprehension]) -> Callable[[Scope], Iterator[Scope]]:
        meter = self.meter
        loops: list[tuple[Expression, Setter, list[Expression]]] = []
        for one in generators:
            if one.is_async:
                raise NotInterpreted("async")
            tests = [self.expression(test) for test in one.ifs]
            loops.append((self.expression(one.iter), self.setter(one.target), tests))

        def walk(scope: Scope, depth: int) -> Iterator[Scope]:
            if depth == len(loops):
                yield scope
                return
            values, put, tests = loops[depth]
            for value in iterate(meter, values(scope)):
                meter.spend(1)
                put(scope, value)
                if all(test(scope) for test in tests):
                    yield from walk(scope, depth + 1)

        return lambda scope: walk(Scope(scope), 0)

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Expression:
        loops, value = self._loops(node.generators), self.expression(node.elt)
        meter = self.meter

        def run(scope: Scope) -> Any:
            meter.spend(PER_ITERATOR)
            return (value(one) for one in loops(scope))

        return run

    def _ListComp(self, node: ast.ListComp) -> Expression:
        loops, value = self._loops(node.generators), self.expression(node.elt)
        return lambda scope: [value(one) for one in loops(scope)]

    def _SetComp(self, node: ast.SetComp) -> Expression:
        loops, value, meter = self._loops(node.generators), self.expression(node.elt), self.meter

        def run(scope: Scope) -> Any:
            found = [value(one) for one in loops(scope)]
            meter.measure(found)
            return set(found)

        return run

    def _DictComp(self, node: ast.DictComp) -> Expression:
        loops, key = self._loops(node.generators), self.expression(node.key)
        value, meter = self.expression(node.value), self.meter

        def run(scope: Scope) -> Any:
            found = [(key(one), value(one)) for one in loops(scope)]
            meter.measure([first for first, _ in found])
            return dict(found)

        return run

    def _function(self, args: ast.arguments, body: Statement) -> Expression:
        if args.vararg or args.kwarg or args.posonlyargs or args.kwonlyargs:
            raise NotInterpreted("arguments")
        parameters, meter = [one.arg for one in args.args], self.meter
        defaults = [self.expression(one) for one in args.defaults]
        return lambda scope: Function(
            parameters, [one(scope) for one in defaults], body, scope, meter
        )

    def _as_value(self, name: str, value: Any) -> Any:
        return Builtin(self.meter, name, value) if callable(value) else value
