"""What state a hypothesis could keep between two calls, read from its source before any of it runs.

A prediction must depend on code and input alone. A source that can hold nothing is run over all
inputs in one namespace; one that can hold state in objects of its own gets a fresh namespace for
each input; one that could reach further is run twice, in two orders. A wrong step upwards costs
time, a wrong step downwards a wrong result: whatever is not understood is `BEYOND`.

The argument. Persistent are the objects of the module's namespace, of the imported modules, and of
the interpreter. Modules never become values, only the names of harmless.py are read from them, and
no name or attribute that walks to frames, globals, classes or dictionaries is allowed; so the second
and third kind can only change by a store to an attribute of a foreign function or class, and where a
source stores attributes at all, none of these may be a value. With nothing but functions, constants
and tables of constants in the first kind, where each use of a table is one that cannot change it or
pass it on, a source is `STATELESS`. Caches count as state though they look pure: 1, 1.0 and True are
one key, and a filled cache needs less recursion.

Relied on: `__name__` is not "__main__"; for `OWN`, `random` is seeded anew before the module is
executed. Not covered, because they are no state but addresses and limits: hashes of NaN and of
functions as they order a set, texts with an address where it is not written on the spot (`str(f)` is
seen, `str(g(f))` is not), how much memory is free, and the local time zone.

Standard library only: the harness loads this file inside the sandbox.
"""

from __future__ import annotations

import ast
import builtins
import string
import types
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .harmless import BUILTINS, CONSTANTS, HARMLESS, PERMITTED, PRELOADED, SUBMODULES, names
else:
    from harmless import BUILTINS, CONSTANTS, HARMLESS, PERMITTED, PRELOADED, SUBMODULES, names

__all__ = ["HARMLESS", "PRELOADED", "Reach", "reach"]


class Reach(IntEnum):
    """How far the effects of a call can reach."""

    STATELESS = 0  # no later call can see anything of an earlier one
    OWN = 1  # objects of the module's own namespace, which executing it again resets
    BEYOND = 2  # possibly further


def reach(tree: ast.Module, entry: str) -> Reach:
    """How far a call of the top-level function `entry` of the module `tree` can reach. Nothing is
    run and `tree` is not changed; deep trees are walked without recursion."""
    try:
        return _Reading().read(tree, entry)
    except (_Beyond, RecursionError, MemoryError):
        return Reach.BEYOND


class _Beyond(Exception):
    """Something that is not known to stay within the namespace."""


# --- names ---

_DENIED = frozenset(dir(builtins)) | names("copyright credits exit help license quit")
_DENIED -= BUILTINS | names("True False None type __name__")
_FRAMES = (types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType)
_ATTRIBUTES_DENIED = {name for kind in _FRAMES for name in dir(kind) if name[0] != "_"}
_ATTRIBUTES_DENIED -= names("close replace send throw")
_ATTRIBUTES_DENIED |= names("mro now obj register today utcnow with_traceback")
_METHODS = names(
    """init post_init repr str bool len iter next reversed contains getitem setitem delitem missing call
    enter exit eq ne lt le gt ge hash index int float abs neg pos invert round add radd iadd sub rsub
    isub mul rmul imul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and or xor lshift rshift
    matmul""",
    "__{}__",
)
_READABLE = names("init repr str eq lt len iter next getitem contains call", "__{}__")
_OF_NAMED_TUPLES = names("_asdict _fields _make _replace")
_PLAIN_DUNDERS = names("all author doc slots version", "__{}__")

# What only reads a table of constants, and whose result does not hold it.
_READERS = names("""all any bool bytes dict enumerate filter frozenset iter len list map max min range
    reversed set sorted sum tuple zip""")
_GIVING_AN_ARGUMENT = names("max min sum")
_TABLE_METHODS = names("""copy count difference get index intersection isdisjoint issubset issuperset
    items keys symmetric_difference union values""")
_MERGING_METHODS = names("""difference difference_update extend intersection intersection_update
    isdisjoint issubset issuperset join symmetric_difference union update""")
_ALWAYS_FIXED = names("bin bool chr complex float hex int len oct ord range repr str")
_NUMERIC = names("abs divmod max min pow round")
_STRING_METHODS = names("""capitalize casefold count endswith find index isalpha isdigit join lower
    lstrip replace rstrip startswith strip swapcase title upper zfill""")
_SHOWING = names("ascii format repr str")
_ADDRESSED = names("enumerate filter iter map memoryview object reversed zip")
_GENERIC = names("dict frozenset list set tuple")

_DECORATORS = names("""abc.abstractmethod dataclasses.dataclass enum.unique functools.cached_property
    functools.total_ordering functools.wraps""")
_BASES = names("""abc.ABC enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.StrEnum typing.Generic
    typing.NamedTuple typing.Protocol""")
# Makers of objects whose attributes, hence methods, are the source's own.
_RECORDS = names("collections.namedtuple types.SimpleNamespace typing.NamedTuple")
# Modules without a cache that could keep an object with its own idea of equality.
_WITHOUT_CACHES = names("""__future__ abc bisect cmath collections copy dataclasses enum functools heapq
    itertools math operator random string""")

# Where a name stands, as its parent says.
_CALLED, _TYPE, _DECORATES, _INHERITED, _COMPARED = 1, 2, 4, 8, 16
# What binds a name.
_OTHER, _FUNCTION, _CLASS, _FOREIGN, _ADDRESS, _FIXED = 1, 2, 4, 8, 16, 32


class _Scope:
    """A module, class, function or comprehension with the names it binds, and how."""

    __slots__ = ("bound", "foreign", "guarded", "kind", "outer", "parent", "self_name", "yields")

    def __init__(self, kind: str, parent: _Scope | None) -> None:
        self.kind, self.parent = kind, parent
        self.bound: dict[str, int] = {}
        self.foreign: dict[str, list[tuple[str, str | None]]] = {}
        self.outer: dict[str, bool] = {}  # `global` names, True, and `nonlocal` ones
        self.self_name: str | None = None
        self.yields = self.guarded = False


class _Reading:
    """One walk over a tree. Judges at once what needs no names, then each name in its scope."""

    def __init__(self) -> None:
        self.level = Reach.STATELESS
        self.module = self.scope = _Scope("module", None)
        self.scopes = [self.module]
        self.stack: list[Any] = []
        self.pending: list[tuple[_Scope, list[Any]]] = []
        self.loads: list[tuple[str, _Scope, ast.Name]] = []
        self.place: dict[int, int] = {}
        self.base_of: dict[int, ast.Attribute] = {}  # by a name or attribute: what is read from it
        self.call_of: dict[int, ast.Call] = {}  # by its function
        self.reads: dict[int, str] = {}  # harmless uses of a table: the builtin relied on, or ""
        self.times: dict[str, int] = {}  # how often a name is bound anywhere
        self.shown: list[tuple[str, _Scope]] = []
        self.private: list[tuple[str, _Scope]] = []
        self.imports: set[str] = set()
        self.functions: set[str] = set()  # at the top level
        self.fixed: set[str] = set()  # top-level names of constants and functions
        self.tables: set[str] = set()
        self.aliases: set[str] = set()  # of types
        self.opaque: set[str] = set()
        self.relied: set[str] = set()  # builtins whose meaning a table's value rests on
        self.stores = self.foreign_values = self.compares = self.records = False

    def read(self, tree: ast.Module, entry: str) -> Reach:
        if type(tree) is not ast.Module:
            raise _Beyond
        for statement in tree.body:
            self.top(statement)
        while self.pending:
            self.scope, nodes = self.pending.pop()
            self.stack += nodes
            self.drain()
        self.judge(entry)
        return self.level

    def drain(self) -> None:
        stack, handlers, loads, scope = self.stack, _HANDLERS, self.loads, self.scope
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Constant:
                continue
            if kind is ast.Name:
                if type(node.ctx) is ast.Load:
                    loads.append((node.id, scope, node))
                else:
                    self.bind(node.id, _OTHER)
                continue
            handler = handlers.get(kind)
            if handler is None:
                raise _Beyond
            handler(self, node)

    def own(self) -> None:
        self.level = Reach.OWN

    # --- binding ---

    def bind(self, name: str, how: int) -> None:
        if name[:2] == "__" and name.strip("_"):
            if self.scope.kind == "class" and name in _METHODS:
                self.compares |= name in ("__eq__", "__hash__")
            elif name not in _PLAIN_DUNDERS:
                raise _Beyond  # `__builtins__`, or mangled inside a class
        bound = self.scope.bound
        bound[name] = bound.get(name, 0) | how
        self.times[name] = self.times.get(name, 0) + 1
        if self.scope is self.module and how & (_OTHER | _CLASS | _ADDRESS):
            self.opaque.add(name)

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in PERMITTED:
                raise _Beyond
            self.foreign(alias.asname, alias.name, None)

    def import_from(self, node: ast.ImportFrom) -> None:
        module = node.module
        if node.level or module not in PERMITTED:
            raise _Beyond
        for alias in node.names:
            if (module, alias.name) in SUBMODULES:
                self.foreign(alias.asname or alias.name, SUBMODULES[module, alias.name], None)
            elif alias.name in PERMITTED[module]:
                self.foreign(alias.asname or alias.name, module, alias.name)
            else:
                raise _Beyond

    def foreign(self, bound: str | None, module: str, name: str | None) -> None:
        """`bound` is a module (`name` is None) or something of it."""
        self.imports.add(module)
        if module == "random":
            self.own()
        if bound is None:  # `import a.b` binds a
            bound = module = module.split(".")[0]
        elif module == "__future__" and name:
            return
        self.bind(bound, _FOREIGN)
        self.scope.foreign.setdefault(bound, []).append((module, name))

    # --- the top level ---

    def top(self, node: ast.stmt) -> None:
        """A statement of the module: what it binds decides whether state can be held at all."""
        kind = type(node)
        if kind is ast.If and _is_main_guard(node):
            for statement in node.orelse:  # type: ignore[attr-defined]
                self.top(statement)
            return
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.top_target(target, node.value)
            self.stack.append(node.value)
        elif isinstance(node, ast.AnnAssign):
            self.annotation(node.annotation)
            if node.value is not None:
                self.top_target(node.target, node.value)
                self.stack.append(node.value)
        else:
            if kind not in _HARMLESS_AT_TOP:
                self.own()
            self.stack.append(node)
        self.drain()

    def top_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            ones, its = target.elts, value.elts
            if len(ones) == len(its) and not any(isinstance(v, ast.Starred) for v in ones + its):
                for one, value in zip(ones, its, strict=True):
                    self.top_target(one, value)
                return
        if not isinstance(target, ast.Name):
            self.stack.append(target)
            return
        name = target.id
        if self.is_fixed(value):
            self.bind(name, _FUNCTION if type(value) is ast.Lambda else _FIXED)
            self.fixed.add(name)
            if type(value) is ast.Lambda:
                self.functions.add(name)
        elif self.is_table(value):
            self.bind(name, _FIXED)
            self.tables.add(name)
        elif self.is_alias(value):
            self.bind(name, _FIXED)
            self.aliases.add(name)
        else:
            self.bind(name, _ADDRESS if _addressed(value) else _OTHER)

    def constant_name(self, name: str) -> bool:
        return name in self.fixed and name not in self.opaque and name not in self.tables

    def is_fixed(self, node: Any, local: frozenset[str] = frozenset(), depth: int = 12) -> bool:
        """Whether an expression of the top level gives nothing that can change. local: names of a
        comprehension that stand for such."""
        kind = type(node)
        if kind is ast.Constant or kind is ast.JoinedStr or kind is ast.Compare:
            return True
        if depth == 0:
            return False

        def every(nodes: list[Any]) -> bool:
            return all(self.is_fixed(one, local, depth - 1) for one in nodes)

        if kind is ast.Name:
            if node.id in local or self.constant_name(node.id):
                return True
            self.relied.add(node.id)
            return node.id in BUILTINS and node.id not in self.module.bound
        if kind is ast.UnaryOp:
            return every([node.operand])
        if kind is ast.BinOp:
            return every([node.left, node.right])
        if kind is ast.Tuple:
            return every(node.elts)
        if kind is ast.BoolOp:
            return every(node.values)
        if kind is ast.IfExp:
            return every([node.body, node.orelse])
        if kind is ast.Lambda:
            return self.fixed_defaults(node.args)
        if kind is ast.Subscript:
            base = node.value
            return every([base, node.slice]) or (
                type(base) is ast.Name and self.is_table_name(base.id) and every([node.slice])
            )
        if kind is ast.Attribute:
            return self.foreign_name(node) in CONSTANTS
        return kind is ast.Call and self.is_fixed_call(node, local, depth)

    def is_fixed_call(self, node: ast.Call, local: frozenset[str], depth: int) -> bool:
        func, args = node.func, node.args
        if isinstance(func, ast.Name) and func.id in BUILTINS:
            self.relied.add(func.id)
            if node.keywords:
                return False
            if func.id in _ALWAYS_FIXED:
                return True
            if func.id in _NUMERIC:
                return all(self.is_fixed(one, local, depth - 1) for one in args)
            return func.id in ("tuple", "frozenset", "sum") and all(
                self.gives_fixed(one, local, depth - 1) for one in args[:1]
            )
        if type(func) is ast.Attribute and type(func.value) is ast.Constant:
            return func.attr in _STRING_METHODS and type(func.value.value) is str
        name = self.foreign_name(func)
        if name in ("re.compile", "collections.namedtuple"):
            return not node.keywords and all(
                _is_literal(one) or (self.foreign_name(one) or "").startswith("re.") for one in args
            )
        return name is not None and name.startswith("math.")

    def is_table_name(self, name: str) -> bool:
        return name in self.tables and self.times.get(name) == 1

    def is_table(self, node: Any, local: frozenset[str] = frozenset(), depth: int = 12) -> bool:
        """Whether an expression of the top level gives a new list, set or dict of fixed elements."""
        kind = type(node)
        if depth == 0:
            return False
        if kind is ast.List or kind is ast.Set:
            return all(self.is_fixed(one, local, depth - 1) for one in node.elts)
        if kind is ast.Dict:
            both = [*node.keys, *node.values]
            return all(one is not None and self.is_fixed(one, local, depth - 1) for one in both)
        if kind is ast.BinOp:
            return self.is_table(node.left, local, depth - 1) and (
                self.is_table(node.right, local, depth - 1)
                or self.is_fixed(node.right, local, depth - 1)
            )
        if kind in (ast.ListComp, ast.SetComp, ast.DictComp):
            return self.gives_fixed(node, local, depth)
        if kind is ast.Call and not node.keywords:
            func = node.func
            if type(func) is ast.Name and func.id in ("list", "set", "dict", "sorted"):
                self.relied.add(func.id)
                return all(self.gives_fixed(one, local, depth - 1) for one in node.args)
            if type(func) is ast.Attribute and func.attr == "split":
                return type(func.value) is ast.Constant and type(func.value.value) is str
        return False

    def gives_fixed(self, node: Any, local: frozenset[str], depth: int) -> bool:
        """Whether iterating over an expression gives only what can not change."""
        kind = type(node)
        if depth == 0:
            return False
        if kind in (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp):
            for one in node.generators:
                names = _plain_targets(one.target)
                if names is None or not self.gives_fixed(one.iter, local, depth - 1):
                    return False
                local = local | names
            elements = [node.key, node.value] if kind is ast.DictComp else [node.elt]
            return all(self.is_fixed(one, local, depth - 1) for one in elements)
        if kind is ast.Name and self.is_table_name(node.id):
            return True
        if kind is ast.Call and not node.keywords:
            func = node.func
            if type(func) is ast.Name and func.id in ("enumerate", "reversed", "sorted", "zip"):
                self.relied.add(func.id)
                return all(self.gives_fixed(one, local, depth - 1) for one in node.args)
            if type(func) is ast.Attribute and func.attr in ("items", "keys", "values"):
                return not node.args and self.gives_fixed(func.value, local, depth - 1)
        return self.is_table(node, local, depth - 1) or self.is_fixed(node, local, depth - 1)

    def is_alias(self, node: Any) -> bool:
        """`List[int]` and the like: of use in annotations alone."""
        if type(node) is not ast.Subscript:
            return False
        base = node.value
        if type(base) is ast.Name and base.id in _GENERIC:
            self.relied.add(base.id)
        elif (self.foreign_name(base) or "").split(".")[0] != "typing":
            return False
        stack: list[Any] = [node]
        while stack:
            at = stack.pop()
            self.place[id(at)] = _TYPE
            if isinstance(at, ast.Subscript):
                stack += (at.value, at.slice)
            elif isinstance(at, ast.Tuple | ast.List):
                stack += at.elts
            elif not isinstance(at, ast.Name | ast.Attribute | ast.Constant):
                return False
        return True

    def foreign_name(self, node: Any) -> str | None:
        """ "module.name" where a name or attribute of the top level plainly is that."""
        base, attr = (node.value, node.attr) if type(node) is ast.Attribute else (node, None)
        if type(base) is not ast.Name or self.times.get(base.id) != 1:
            return None
        ((module, name),) = self.module.foreign.get(base.id) or (("", ""),)
        if (name is None) is (attr is None):
            return None
        return f"{module}.{attr or name}"

    def fixed_defaults(self, args: ast.arguments) -> bool:
        return all(one is None or self.is_fixed(one) for one in (*args.defaults, *args.kw_defaults))

    # --- statements and expressions, in any scope ---

    def function(self, node: ast.FunctionDef) -> None:
        if getattr(node, "type_params", None):
            raise _Beyond
        at_top = self.scope is self.module
        self.bind(node.name, _FUNCTION)
        if at_top:
            if node.decorator_list or not self.fixed_defaults(node.args):
                self.own()
                self.opaque.add(node.name)
            self.functions.add(node.name)
            self.fixed.add(node.name)
        self.decorators(node.decorator_list)
        if node.returns is not None:
            self.annotation(node.returns)
        inner = self.parameters(node.args)
        if self.scope.kind == "class":
            first = node.args.posonlyargs or node.args.args
            inner.self_name = first[0].arg if first else None
        self.pending.append((inner, node.body[::-1]))

    def lambda_(self, node: ast.Lambda) -> None:
        self.pending.append((self.parameters(node.args), [node.body]))

    def parameters(self, args: ast.arguments) -> _Scope:
        self.stack += args.defaults
        self.stack += [one for one in args.kw_defaults if one is not None]
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [one for one in (args.vararg, args.kwarg) if one is not None]
        inner = self.new_scope("function")
        outside, self.scope = self.scope, inner
        for one in every:
            self.bind(one.arg, _OTHER)
        self.scope = outside
        for one in every:
            if one.annotation is not None:
                self.annotation(one.annotation)
        return inner

    def new_scope(self, kind: str) -> _Scope:
        scope = _Scope(kind, self.scope)
        self.scopes.append(scope)
        return scope

    def decorators(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            self.place[id(node)] = _DECORATES
        self.stack += nodes

    def class_(self, node: ast.ClassDef) -> None:
        if node.keywords or getattr(node, "type_params", None):
            raise _Beyond
        self.own()
        self.bind(node.name, _CLASS)
        self.decorators(node.decorator_list)
        for base in node.bases:
            at: Any = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(at, ast.Call):
                maker = at.func
                if (maker.attr if type(maker) is ast.Attribute else _name(maker)) != "namedtuple":
                    raise _Beyond
            elif not isinstance(at, ast.Name | ast.Attribute):
                raise _Beyond
            else:
                self.place[id(at)] = _INHERITED
        self.stack += node.bases
        self.pending.append((self.new_scope("class"), node.body[::-1]))

    def annotation(self, node: ast.expr) -> None:
        stack: list[ast.expr] = [node]
        while stack:
            at = stack.pop()
            if isinstance(at, ast.Subscript):
                stack += (at.value, at.slice)
            elif isinstance(at, ast.Tuple | ast.List):
                stack += at.elts
            elif isinstance(at, ast.BinOp):
                stack += (at.left, at.right)
            elif not isinstance(at, ast.Constant):
                if not isinstance(at, ast.Name | ast.Attribute):
                    self.own()
                self.place[id(at)] = _TYPE
                self.stack.append(at)

    def assign(self, node: ast.Assign) -> None:
        targets, value = node.targets, node.value
        for target in targets:
            if type(target) is ast.Name:
                self.bind(target.id, _ADDRESS if _addressed(value) else _OTHER)
            else:
                self.stack.append(target)
                if isinstance(target, ast.Tuple | ast.List):
                    self.read_only(value)
        self.stack.append(value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if self.scope.kind == "class":  # in a function it is not evaluated
            self.annotation(node.annotation)
        self.stack.append(node.target)
        if node.value is not None:
            self.stack.append(node.value)

    def augmented(self, node: ast.AugAssign) -> None:
        self.read_only(node.value)
        self.stack += (node.target, node.value)

    def loop(self, node: ast.For) -> None:
        self.read_only(node.iter)
        self.stack += (node.target, node.iter, *node.orelse, *node.body)

    def guarded(self, node: Any) -> None:
        self.scope.guarded = True
        _PUSH[type(node)](self, node)

    def yields(self, node: Any) -> None:
        self.scope.yields = True
        if node.value is not None:
            if type(node) is ast.YieldFrom:
                self.read_only(node.value)
            self.stack.append(node.value)

    def handler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self.bind(node.name, _OTHER)
        if node.type is not None:
            self.is_type(node.type)
            self.stack.append(node.type)
        self.stack += node.body

    def is_type(self, node: ast.expr) -> None:
        for one in node.elts if isinstance(node, ast.Tuple) else [node]:
            self.place[id(one)] = _TYPE

    def global_(self, node: ast.Global) -> None:
        self.own()
        for name in node.names:
            self.scope.outer[name] = True
            self.bind(name, 0)

    def nonlocal_(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            self.scope.outer[name] = False
            self.bind(name, 0)

    def walrus(self, node: ast.NamedExpr) -> None:
        inside = self.scope
        while self.scope.kind == "comprehension":
            assert self.scope.parent is not None
            self.scope = self.scope.parent
        if self.scope is self.module:
            self.own()
        self.bind(node.target.id, _OTHER)
        self.scope = inside
        self.stack.append(node.value)

    def comprehension(self, node: Any) -> None:
        first, *others = node.generators
        self.read_only(first.iter)
        self.stack.append(first.iter)
        nodes = [node.key, node.value] if type(node) is ast.DictComp else [node.elt]
        for one in node.generators:
            if one.is_async:
                raise _Beyond
            nodes.append(one.target)
            nodes += one.ifs
        for one in others:
            self.read_only(one.iter)
            nodes.append(one.iter)
        self.pending.append((self.new_scope("comprehension"), nodes))

    def read_only(self, node: Any, reader: str = "") -> None:
        if type(node) is ast.Name:
            self.reads[id(node)] = reader

    def binary(self, node: ast.BinOp) -> None:
        left, right = node.left, node.right
        self.read_only(left)
        self.read_only(right)
        if type(node.op) is ast.Mod and type(left) is ast.Constant and type(left.value) is str:
            for one in right.elts if isinstance(right, ast.Tuple) else [right]:
                self.shows(one)
        self.stack += (left, right)

    def compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for operand in operands:
            self.read_only(operand)
            self.place[id(operand)] = self.place.get(id(operand), 0) | _COMPARED
        if any(type(op) in (ast.Is, ast.IsNot) for op in node.ops) and not any(
            _is_singleton(one) for one in operands
        ):
            raise _Beyond  # whether two equal texts are one object depends on what ran before
        self.stack += operands

    def subscript(self, node: ast.Subscript) -> None:
        if type(node.ctx) is ast.Load:
            self.read_only(node.value)
        self.stack += (node.value, node.slice)

    def starred(self, node: ast.Starred) -> None:
        self.read_only(node.value)
        self.stack.append(node.value)

    def dict_(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.read_only(value)
            else:
                self.stack.append(key)
            self.stack.append(value)

    def formatted(self, node: ast.FormattedValue) -> None:
        self.shows(node.value)
        self.read_only(node.value)
        self.stack.append(node.value)
        if node.format_spec is not None:
            self.stack.append(node.format_spec)

    def shows(self, node: ast.expr) -> None:
        """The text of `node` becomes a value: it must not hold an address."""
        if _addressed(node):
            raise _Beyond
        if type(node) is ast.Name:
            self.shown.append((node.id, self.scope))
        self.place[id(node)] = self.place.get(id(node), 0) | _COMPARED

    def call(self, node: ast.Call) -> None:
        func, args = node.func, node.args
        self.place[id(func)] = self.place.get(id(node), 0) & _DECORATES | _CALLED
        self.call_of[id(func)] = node
        if type(func) is ast.Name:
            name = func.id
            if name in _READERS:
                if name in _GIVING_AN_ARGUMENT and (len(args) > 1 or node.keywords):
                    args = []  # `max(t, u)` is t or u, `sum([], t)` is t
                for one in args:
                    self.read_only(one, name)
                args = node.args
            elif name in ("isinstance", "issubclass") and len(args) == 2:
                self.is_type(args[1])
            if name in _SHOWING and args:
                self.shows(args[0])
        elif type(func) is ast.Attribute and func.attr in _MERGING_METHODS:
            for one in args:
                self.read_only(one, ".")
        self.stack.append(func)
        self.stack += args
        for keyword in node.keywords:
            if keyword.arg is None:
                self.read_only(keyword.value)
            self.stack.append(keyword.value)

    def attribute(self, node: ast.Attribute) -> None:
        base, name = node.value, node.attr
        place = self.place.get(id(node), 0)
        self.base_of[id(base)] = node
        if type(node.ctx) is not ast.Load:
            self.own()
            self.stores = True
        elif name in _TABLE_METHODS and place & _CALLED:
            self.read_only(base)
        if name[0] == "_":
            self.underscored(node, place)
        elif name in _ATTRIBUTES_DENIED:
            raise _Beyond
        elif name in ("format", "format_map"):
            if type(base) is not ast.Constant or not _plain_template(base.value):
                raise _Beyond
            if place & _CALLED:
                for one in self.call_of[id(node)].args:
                    self.shows(one)
        elif name == "seed" and not self.is_seeded(node):
            raise _Beyond
        self.stack.append(base)

    def underscored(self, node: ast.Attribute, place: int) -> None:
        base, name = node.value, node.attr
        loaded = type(node.ctx) is ast.Load
        if name == "__name__" and loaded:
            self.place[id(base)] = self.place.get(id(base), 0) | _COMPARED
        elif name in _READABLE and loaded:
            if not place & _CALLED:
                self.foreign_values = True  # `__repr__` of an enumeration is Enum's
        elif name in _OF_NAMED_TUPLES and loaded:
            pass
        elif name[-2:] != "__" and type(base) is ast.Name:
            self.private.append((base.id, self.scope))
        else:
            raise _Beyond

    def is_seeded(self, func: ast.expr) -> bool:
        """Whether a function is called with a seed that is surely there: None means the clock."""
        call = self.call_of.get(id(func))
        if call is None or call.keywords or len(call.args) != 1:
            return False
        seed = call.args[0]
        return (isinstance(seed, ast.Constant) and seed.value is not None) or (
            isinstance(seed, ast.Call)
            and isinstance(seed.func, ast.Name)
            and seed.func.id in ("len", "sum", "int", "str")
            and not self.times.get(seed.func.id)
        )

    def match_name(self, node: Any) -> None:
        if node.name is not None:
            self.bind(node.name, _OTHER)
        if getattr(node, "pattern", None) is not None:
            self.stack.append(node.pattern)

    def match_mapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.bind(node.rest, _OTHER)
        self.stack += node.keys
        self.stack += node.patterns

    def match_class(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            if name[0] == "_" or name in _ATTRIBUTES_DENIED or name in ("format", "format_map"):
                raise _Beyond
        self.place[id(node.cls)] = _TYPE
        self.stack.append(node.cls)
        self.stack += node.patterns
        self.stack += node.kwd_patterns

    # --- names in their scopes ---

    def judge(self, entry: str) -> None:
        self.judge_scopes()
        foreign = {name for scope in self.scopes for name in scope.foreign}
        for name, scope, node in self.loads:
            if name in foreign:
                self.judge_foreign(name, scope, node)
            elif name == "type":
                self.judge_type(node, scope)
            elif name in _DENIED:
                if not self.is_local(name, scope):
                    raise _Beyond
            elif (name[:2] == "__" and name.strip("_") and name != "__name__") or (
                name in self.aliases and not self.place.get(id(node), 0) & _TYPE
            ):
                raise _Beyond
            if self.place.get(id(node), 0) & _INHERITED:
                self.judge_base(name, scope)
        for name, scope in self.shown:
            where = self.resolve(name, scope)[-1:]
            if where and where[0].bound[name] in (_FUNCTION, _ADDRESS):
                raise _Beyond
        for name, scope in self.private:
            if not any(where.self_name == name for where in self.resolve(name, scope)):
                raise _Beyond
            self.stores = True
        if self.stores and self.foreign_values:
            raise _Beyond
        if self.compares and not self.imports <= _WITHOUT_CACHES:
            raise _Beyond
        if self.level is Reach.STATELESS and self.keeps(entry):
            self.own()

    def judge_scopes(self) -> None:
        for scope in self.scopes:
            if scope.yields and scope.guarded:
                raise _Beyond  # its clean-up runs whenever the garbage is collected
            for name in scope.outer:
                if name in scope.foreign:
                    raise _Beyond
                scope.bound.pop(name, None)
                if scope.outer[name]:
                    self.module.bound.setdefault(name, _OTHER)

    def resolve(self, name: str, scope: _Scope) -> list[_Scope]:
        """The scopes that may give the name its value; a class's may or may not."""
        found = [scope] if scope.kind == "class" and name in scope.bound else []
        at: _Scope | None = scope
        while at is not None:
            if at.outer.get(name) and (at.kind != "class" or at is scope):
                return [self.module]
            if at.kind != "class" and name in at.bound:
                return [*found, at]
            at = at.parent
        return found

    def is_local(self, name: str, scope: _Scope) -> bool:
        """Whether a name is surely not the builtin: bound by a function around it."""
        where = self.resolve(name, scope)
        return bool(where) and where[-1].kind in ("function", "comprehension")

    def judge_type(self, node: ast.Name, scope: _Scope) -> None:
        """The builtin `type` makes classes, so that neither it nor what it gives may be a value."""
        if self.is_local("type", scope):
            return
        place = self.place.get(id(node), 0)
        if place & _CALLED:
            call = self.call_of[id(node)]
            if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
                raise _Beyond
            place = self.place.get(id(call), 0)
        if not place & (_COMPARED | _TYPE):
            raise _Beyond

    def judge_base(self, name: str, scope: _Scope) -> None:
        where = self.resolve(name, scope)
        if not where and name in BUILTINS and name != "type":
            return
        if not where or any(one.bound[name] not in (_CLASS, _FOREIGN) for one in where):
            raise _Beyond

    def judge_foreign(self, name: str, scope: _Scope, node: ast.Name) -> None:
        for where in self.resolve(name, scope):
            for module, what in where.foreign.get(name, ()):
                at: ast.expr = node
                while what is None:
                    outer = self.base_of.get(id(at))
                    if outer is None or type(outer.ctx) is not ast.Load:
                        raise _Beyond
                    at = outer
                    if (module, outer.attr) in SUBMODULES:
                        module = SUBMODULES[module, outer.attr]
                    else:
                        what = outer.attr
                if what not in PERMITTED[module]:
                    raise _Beyond
                self.judge_use(module, f"{module}.{what}", at, scope)

    def judge_use(self, module: str, name: str, node: ast.expr, scope: _Scope) -> None:
        place = self.place.get(id(node), 0)
        inner = self.base_of.get(id(node))
        if inner is not None and type(inner.ctx) is not ast.Load:
            raise _Beyond
        if name in CONSTANTS:
            return
        self.records |= name in _RECORDS
        if name in ("random.Random", "random.seed") and not self.is_seeded(node):
            raise _Beyond
        if name in _DECORATORS:
            if not place & _DECORATES:
                raise _Beyond
            self.stores = True
        if module == "enum" and place & _CALLED and name != "enum.auto":
            raise _Beyond  # a class whose special methods are given as texts
        if place & _INHERITED:
            self.foreign_values |= name not in _BASES
        elif module == "typing" and not place & _TYPE:
            if not place & _CALLED or (
                scope.kind not in ("module", "class") and name != "typing.cast"
            ):
                raise _Beyond  # its caches take 0.0 for -0.0
        elif not place & (_CALLED | _TYPE | _DECORATES):
            called = inner is not None and self.place.get(id(inner), 0) & _CALLED
            self.foreign_values |= not called

    def keeps(self, entry: str) -> bool:
        """Whether a top-level name that functions read can hold state."""
        if entry not in self.functions or entry in self.opaque or entry in self.tables:
            return True
        if any(self.times.get(name) for name in self.relied & BUILTINS):
            return True
        for name, scope, node in self.loads:
            if name in self.tables:
                reader = self.reads.get(id(node))
                if reader is None or self.times[name] > 1 or self.times.get(reader):
                    return True
                if reader == "." and self.records:
                    return True
            elif name in self.opaque and scope is not self.module:
                where = self.resolve(name, scope)
                if where and where[-1] is self.module and where[-1].bound[name] & ~_FOREIGN:
                    return True
        return False


# --- parts of a tree ---


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _is_main_guard(node: Any) -> bool:
    test = node.test
    return (
        type(test) is ast.Compare
        and _name(test.left) == "__name__"
        and type(test.ops[0]) is ast.Eq
        and len(test.ops) == 1
        and type(test.comparators[0]) is ast.Constant
        and test.comparators[0].value == "__main__"
    )


def _addressed(node: Any) -> bool:
    """Whether the text of this object would be an address."""
    kind = type(node)
    if kind is ast.Call:
        return type(node.func) is ast.Name and node.func.id in _ADDRESSED
    return kind is ast.Lambda or kind is ast.GeneratorExp


def _is_singleton(node: Any) -> bool:
    if type(node) is ast.Constant:
        return node.value is None or node.value is True or node.value is False
    if type(node) is ast.Call:
        return _name(node.func) == "type"
    return type(node) is ast.Name and node.id in BUILTINS


def _is_literal(node: Any) -> bool:
    if type(node) is ast.List or type(node) is ast.Tuple:
        return all(type(one) is ast.Constant for one in node.elts)
    return type(node) is ast.Constant


def _plain_targets(node: Any) -> frozenset[str] | None:
    nodes = node.elts if type(node) is ast.Tuple else [node]
    found = [one.id for one in nodes if isinstance(one, ast.Name)]
    return frozenset(found) if len(found) == len(nodes) else None


def _plain_template(template: Any) -> bool:
    """Whether the fields of a `str.format` template name arguments and nothing of theirs."""
    if type(template) is not str:
        return False
    texts = [template]
    try:
        while texts:
            for _, field, spec, _ in string.Formatter().parse(texts.pop()):
                if field is not None and ("." in field or "[" in field):
                    return False
                if spec and "{" in spec:
                    texts.append(spec)
    except ValueError:
        return False
    return True


# --- what is done with each kind of node ---


def _pusher(*fields: str) -> Callable[[_Reading, Any], None]:
    def push(self: _Reading, node: Any) -> None:
        for field in fields:
            value = getattr(node, field)
            if type(value) is list:
                self.stack += value
            elif value is not None:
                self.stack.append(value)

    return push


_PUSH: dict[type, Callable[[_Reading, Any], None]] = {
    ast.Return: _pusher("value"),
    ast.Delete: _pusher("targets"),
    ast.While: _pusher("test", "body", "orelse"),
    ast.If: _pusher("test", "body", "orelse"),
    ast.With: _pusher("items", "body"),
    ast.withitem: _pusher("context_expr", "optional_vars"),
    ast.Match: _pusher("subject", "cases"),
    ast.match_case: _pusher("pattern", "guard", "body"),
    ast.MatchValue: _pusher("value"),
    ast.MatchSingleton: _pusher(),
    ast.MatchSequence: _pusher("patterns"),
    ast.MatchOr: _pusher("patterns"),
    ast.Raise: _pusher("exc", "cause"),
    ast.Try: _pusher("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: _pusher("body", "handlers", "orelse", "finalbody"),
    ast.Assert: _pusher("test", "msg"),
    ast.Expr: _pusher("value"),
    ast.Pass: _pusher(),
    ast.Break: _pusher(),
    ast.Continue: _pusher(),
    ast.BoolOp: _pusher("values"),
    ast.UnaryOp: _pusher("operand"),
    ast.IfExp: _pusher("test", "body", "orelse"),
    ast.Set: _pusher("elts"),
    ast.List: _pusher("elts"),
    ast.Tuple: _pusher("elts"),
    ast.Slice: _pusher("lower", "upper", "step"),
    ast.JoinedStr: _pusher("values"),
}
_HANDLERS: dict[type, Callable[[_Reading, Any], None]] = {
    **_PUSH,
    ast.FunctionDef: _Reading.function,
    ast.ClassDef: _Reading.class_,
    ast.Assign: _Reading.assign,
    ast.AnnAssign: _Reading.annotated,
    ast.AugAssign: _Reading.augmented,
    ast.For: _Reading.loop,
    ast.With: _Reading.guarded,
    ast.Try: _Reading.guarded,
    ast.TryStar: _Reading.guarded,
    ast.ExceptHandler: _Reading.handler,
    ast.Import: _Reading.import_,
    ast.ImportFrom: _Reading.import_from,
    ast.Global: _Reading.global_,
    ast.Nonlocal: _Reading.nonlocal_,
    ast.Lambda: _Reading.lambda_,
    ast.NamedExpr: _Reading.walrus,
    ast.ListComp: _Reading.comprehension,
    ast.SetComp: _Reading.comprehension,
    ast.DictComp: _Reading.comprehension,
    ast.GeneratorExp: _Reading.comprehension,
    ast.Yield: _Reading.yields,
    ast.YieldFrom: _Reading.yields,
    ast.BinOp: _Reading.binary,
    ast.Compare: _Reading.compare,
    ast.Call: _Reading.call,
    ast.Dict: _Reading.dict_,
    ast.FormattedValue: _Reading.formatted,
    ast.Attribute: _Reading.attribute,
    ast.Subscript: _Reading.subscript,
    ast.Starred: _Reading.starred,
    ast.MatchAs: _Reading.match_name,
    ast.MatchStar: _Reading.match_name,
    ast.MatchMapping: _Reading.match_mapping,
    ast.MatchClass: _Reading.match_class,
}
_HARMLESS_AT_TOP = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Expr, ast.Assert, ast.Pass)
