"""The walk over the syntax tree of a source, which collects the names that it binds and reads.

The results serve the analysis in state.py. bindings.py handles nodes that bind names. This module
handles the top level of the module, expressions, and the table that maps types of nodes to methods.
The walk uses an explicit stack, so that deep trees cannot exceed the recursion limit.
"""

from __future__ import annotations

import ast
import string
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .allowlist import BUILTINS, split_names
    from .bindings import BeyondReach, Bindings, is_addressed, name_of
    from .top_level import Binds, Place
else:
    from allowlist import BUILTINS, split_names
    from bindings import BeyondReach, Bindings, is_addressed, name_of
    from top_level import Binds, Place

_FRAME_PREFIXES = ("co_", "f_", "gi_", "tb_")
_FRAMES = (types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType)
_ATTRIBUTES_DENIED = {n for kind in _FRAMES for n in dir(kind) if n.startswith(_FRAME_PREFIXES)}
_ATTRIBUTES_DENIED |= split_names("mro now obj register today utcnow with_traceback")
_READABLE = split_names("init repr str eq lt len iter next getitem contains call", "__{}__")
_OF_NAMED_TUPLES = split_names("_asdict _fields _make _replace")

# These only read a table of constants, and their result does not hold the table.
_READERS = split_names("""all any bool bytes dict enumerate filter frozenset iter len list map max min range
    reversed set sorted sum tuple zip""")
_GIVING_AN_ARGUMENT = split_names("max min sum")
_TABLE_METHODS = split_names("""copy count difference get index intersection isdisjoint issubset issuperset
    items keys symmetric_difference union values""")
_MERGING_METHODS = split_names("""difference difference_update extend intersection intersection_update
    isdisjoint issubset issuperset join symmetric_difference union update""")
_SHOWING = split_names("ascii format repr str")


class Walk(Bindings):
    """The walk over a syntax tree: methods for names that are read, attributes and calls."""

    def walk_module(self, tree: ast.Module) -> None:
        """Walk over all nodes of a module.

        Raises:
            BeyondReach: The source may affect anything outside itself.
        """
        if type(tree) is not ast.Module:
            raise BeyondReach
        for statement in tree.body:
            self.visit_top(statement)
        while self.pending:
            self.scope, nodes = self.pending.pop()
            self.stack += nodes
            self.drain()

    def drain(self) -> None:
        """Visit all nodes on the stack in the current scope."""
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
                    self.bind(node.id, Binds.OTHER)
                continue
            handler = handlers.get(kind)
            if handler is None:
                raise BeyondReach
            handler(self, node)

    # --- The top level ---

    def visit_top(self, node: ast.stmt) -> None:
        """Visit a statement at the top level, whose bindings decide whether state can be kept."""
        kind = type(node)
        if kind is ast.If and _is_main_guard(node):
            for statement in node.orelse:  # type: ignore[attr-defined]
                self.visit_top(statement)
            return
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.bind_top_target(target, node.value)
            self.stack.append(node.value)
        elif isinstance(node, ast.AnnAssign):
            self.visit_annotation(node.annotation)
            if node.value is not None:
                self.bind_top_target(node.target, node.value)
                self.stack.append(node.value)
        else:
            if kind not in _HARMLESS_AT_TOP:
                self.record_state()
            self.stack.append(node)
        self.drain()

    def bind_top_target(self, target: ast.expr, value: ast.expr) -> None:
        """Bind the target of an assignment at the top level, classified by the assigned value."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            ones, its = target.elts, value.elts
            if len(ones) == len(its) and not any(isinstance(v, ast.Starred) for v in ones + its):
                for one, value in zip(ones, its, strict=True):
                    self.bind_top_target(one, value)
                return
        if not isinstance(target, ast.Name):
            self.stack.append(target)
            return
        name = target.id
        if self.top_level.is_fixed(value):
            self.bind(name, Binds.FUNCTION if type(value) is ast.Lambda else Binds.FIXED)
            self.top_level.fixed.add(name)
            if type(value) is ast.Lambda:
                self.top_level.functions.add(name)
        elif self.top_level.is_table(value):
            self.bind(name, Binds.FIXED)
            self.top_level.tables.add(name)
        elif self.top_level.is_alias(value):
            self.bind(name, Binds.FIXED)
            self.top_level.aliases.add(name)
        else:
            self.bind(name, Binds.ADDRESS if is_addressed(value) else Binds.OTHER)

    # --- Expressions, in any scope ---

    def visit_guarded(self, node: Any) -> None:
        """Record that the scope has a `with` or `try` statement, and queue its child nodes."""
        self.scope.guarded = True
        _PUSH[type(node)](self, node)

    def visit_binary(self, node: ast.BinOp) -> None:
        """Record what a binary operation does to its operands, and queue the operands for a visit.

        Both operands are recorded as read. If the operation formats a text literal (`"..." %
        value`), its values are also recorded as shown, because their text may contain a memory
        address.
        """
        left, right = node.left, node.right
        self.record_read(left)
        self.record_read(right)
        if type(node.op) is ast.Mod and type(left) is ast.Constant and type(left.value) is str:
            for one in right.elts if isinstance(right, ast.Tuple) else [right]:
                self.record_shown(one)
        self.stack += (left, right)

    def visit_compare(self, node: ast.Compare) -> None:
        """Record the operands of a comparison as read and compared, and queue them for a visit.

        Raises BeyondReach for `is` and `is not`, unless an operand is a singleton such as None.
        """
        operands = [node.left, *node.comparators]
        for operand in operands:
            self.record_read(operand)
            self.place[id(operand)] = self.place.get(id(operand), 0) | Place.COMPARED
        if any(type(op) in (ast.Is, ast.IsNot) for op in node.ops) and not any(
            self.is_singleton(one) for one in operands
        ):
            raise BeyondReach  # Whether two equal texts are one object depends on what ran before.
        self.stack += operands

    def is_singleton(self, node: Any) -> bool:
        """Return whether a node is None, `...`, a bool, or a type."""
        if type(node) is ast.Constant:
            return node.value is None or node.value is ... or type(node.value) is bool
        name = name_of(node.func) if type(node) is ast.Call else name_of(node)
        if name is None or (name != "type" if type(node) is ast.Call else name not in BUILTINS):
            return False
        self.trusted.add(name)
        return True

    def visit_subscript(self, node: ast.Subscript) -> None:
        """Record what a subscript expression reads, and queue its child nodes for a visit."""
        if type(node.ctx) is ast.Load:
            self.record_read(node.value)
        self.stack += (node.value, node.slice)

    def visit_starred(self, node: ast.Starred) -> None:
        """Record what a starred expression reads, and queue it for a visit."""
        self.record_read(node.value)
        self.stack.append(node.value)

    def visit_dict(self, node: ast.Dict) -> None:
        """Record what a dict display reads, and queue its child nodes for a visit."""
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.record_read(value)
            else:
                self.stack.append(key)
            self.stack.append(value)

    def visit_formatted(self, node: ast.FormattedValue) -> None:
        """Record what a field of an f-string shows and reads, and queue its child nodes."""
        self.record_shown(node.value)
        self.record_read(node.value)
        self.stack.append(node.value)
        if node.format_spec is not None:
            self.stack.append(node.format_spec)

    def record_shown(self, node: ast.expr) -> None:
        """Record that `node` is converted to text, so its value must not contain an address."""
        stack: list[Any] = [node]
        while stack:
            at = stack.pop()
            if is_addressed(at):
                raise BeyondReach
            if type(at) is ast.Name:
                self.shown.append((at.id, self.scope))
            elif isinstance(at, ast.List | ast.Tuple | ast.Set):
                stack += at.elts
            elif isinstance(at, ast.Dict):
                stack += at.keys
                stack += at.values
            elif isinstance(at, ast.ListComp | ast.SetComp):
                stack.append(at.elt)
            elif isinstance(at, ast.IfExp):
                stack += (at.body, at.orelse)
        self.place[id(node)] = self.place.get(id(node), 0) | Place.COMPARED

    def visit_call(self, node: ast.Call) -> None:
        """Record what a call reads and may change, and queue its child nodes for a visit."""
        func, args = node.func, node.args
        self.place[id(func)] = self.place.get(id(node), 0) & Place.DECORATES | Place.CALLED
        self.call_of[id(func)] = node
        if type(func) is ast.Name:
            name = func.id
            if name in _READERS:
                if name in _GIVING_AN_ARGUMENT and (len(args) > 1 or node.keywords):
                    args = []  # `max(t, u)` returns t or u, and `sum([], t)` returns t.
                for one in args:
                    self.record_read(one, name)
                args = node.args
            elif name in ("isinstance", "issubclass") and len(args) == 2:
                self.record_type(args[1])
                kinds = args[1].elts if isinstance(args[1], ast.Tuple) else [args[1]]
                self.fills_caches |= any(name_of(one) not in BUILTINS for one in kinds)
                self.trusted.add(name)
            if name in _SHOWING and args:
                self.record_shown(args[0])
                if type(args[0]) is ast.Call and name_of(args[0].func) == "type":
                    self.trusted.add(name)
        elif type(func) is ast.Attribute and func.attr in _MERGING_METHODS:
            for one in args:
                self.record_read(one, ".")
        if type(func) is not ast.Name:
            (self.methods if type(func) is ast.Attribute else self.unnamed).append(self.scope)
        self.stack.append(func)
        self.stack += args
        for keyword in node.keywords:
            if keyword.arg is None:
                self.record_read(keyword.value)
            self.stack.append(keyword.value)

    def visit_attribute(self, node: ast.Attribute) -> None:
        """Visit an attribute access.

        Raises:
            BeyondReach: The attribute may give access to something outside the source.
        """
        base, name = node.value, node.attr
        place = self.place.get(id(node), 0)
        self.base_of[id(base)] = node
        if type(node.ctx) is not ast.Load:
            self.record_state()
            self.stores = True
        elif name in _TABLE_METHODS and place & Place.CALLED:
            self.record_read(base)
        if name[0] == "_":
            self.visit_underscored(node, place)
        elif name in _ATTRIBUTES_DENIED:
            raise BeyondReach
        elif name in ("format", "format_map"):
            if type(base) is not ast.Constant or not _plain_template(base.value):
                raise BeyondReach
            if place & Place.CALLED:
                for one in self.call_of[id(node)].args:
                    self.record_shown(one)
        elif name in ("decode", "encode"):
            self.fills_caches = True  # that of codecs
        elif name == "seed" and not self.is_seeded(node):
            raise BeyondReach
        self.stack.append(base)

    def visit_underscored(self, node: ast.Attribute, place: int) -> None:
        """Visit an access to an attribute whose name begins with an underscore.

        Raises:
            BeyondReach: The attribute may give access to something outside the source.
        """
        base, name = node.value, node.attr
        loaded = type(node.ctx) is ast.Load
        if name == "__name__" and loaded:
            self.place[id(base)] = self.place.get(id(base), 0) | Place.NAMED
        elif name in _READABLE and loaded:
            if name in ("__repr__", "__str__"):
                self.record_shown(base)
            if not place & Place.CALLED:
                self.foreign_values = True  # `__repr__` of an enumeration belongs to Enum.
        elif name in _OF_NAMED_TUPLES and loaded:
            pass
        elif name[-2:] != "__" and type(base) is ast.Name:
            self.private.append((base.id, self.scope))
        else:
            raise BeyondReach

    def is_seeded(self, func: ast.expr) -> bool:
        """Return whether `func` is called with a seed that is the same in every run.

        The seed None does not count, because it means the clock.
        """
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

    def visit_match_class(self, node: ast.MatchClass) -> None:
        """Check a class pattern in a `match` statement, and queue its child nodes for a visit.

        Raises:
            BeyondReach: The pattern uses an attribute name that is not allowed.
        """
        for name in node.kwd_attrs:
            if name[0] == "_" or name in _ATTRIBUTES_DENIED or name in ("format", "format_map"):
                raise BeyondReach
        self.place[id(node.cls)] = Place.TYPE
        self.stack.append(node.cls)
        self.stack += node.patterns
        self.stack += node.kwd_patterns


# --- Parts of a tree ---


def _is_main_guard(node: Any) -> bool:
    test = node.test
    return (
        type(test) is ast.Compare
        and name_of(test.left) == "__name__"
        and type(test.ops[0]) is ast.Eq
        and len(test.ops) == 1
        and type(test.comparators[0]) is ast.Constant
        and test.comparators[0].value == "__main__"
    )


def _plain_template(template: Any) -> bool:
    """Return whether the fields of a `str.format` template name arguments, not their attributes."""
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


# --- Methods for each kind of node ---


def _pusher(*fields: str) -> Callable[[Walk, Any], None]:
    def push(self: Walk, node: Any) -> None:
        for field in fields:
            value = getattr(node, field)
            if type(value) is list:
                self.stack += value
            elif value is not None:
                self.stack.append(value)

    return push


_PUSH: dict[type, Callable[[Walk, Any], None]] = {
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
_HANDLERS: dict[type, Callable[[Walk, Any], None]] = {
    **_PUSH,
    ast.FunctionDef: Walk.visit_function,
    ast.ClassDef: Walk.visit_class,
    ast.Assign: Walk.visit_assign,
    ast.AnnAssign: Walk.visit_annotated,
    ast.AugAssign: Walk.visit_augmented,
    ast.For: Walk.visit_loop,
    ast.With: Walk.visit_guarded,
    ast.Try: Walk.visit_guarded,
    ast.TryStar: Walk.visit_guarded,
    ast.ExceptHandler: Walk.visit_handler,
    ast.Import: Walk.visit_import,
    ast.ImportFrom: Walk.visit_import_from,
    ast.Global: Walk.visit_global,
    ast.Nonlocal: Walk.visit_nonlocal,
    ast.Lambda: Walk.visit_lambda,
    ast.NamedExpr: Walk.visit_walrus,
    ast.ListComp: Walk.visit_comprehension,
    ast.SetComp: Walk.visit_comprehension,
    ast.DictComp: Walk.visit_comprehension,
    ast.GeneratorExp: Walk.visit_comprehension,
    ast.Yield: Walk.visit_yields,
    ast.YieldFrom: Walk.visit_yields,
    ast.BinOp: Walk.visit_binary,
    ast.Compare: Walk.visit_compare,
    ast.Call: Walk.visit_call,
    ast.Dict: Walk.visit_dict,
    ast.FormattedValue: Walk.visit_formatted,
    ast.Attribute: Walk.visit_attribute,
    ast.Subscript: Walk.visit_subscript,
    ast.Starred: Walk.visit_starred,
    ast.MatchAs: Walk.visit_match_name,
    ast.MatchStar: Walk.visit_match_name,
    ast.MatchMapping: Walk.visit_match_mapping,
    ast.MatchClass: Walk.visit_match_class,
}
_HARMLESS_AT_TOP = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Expr, ast.Assert, ast.Pass)
