"""One walk over the tree of a source, for state.py: the names it binds and reads, and where.

What needs no names is judged on the spot, by raising `Beyond`. The rest is facts, in the attributes
of `Walk`, which state.py judges when all is read. An explicit stack, so that depth costs nothing.

One module, though long: a short method a kind of node, all of which write the same facts.
"""

from __future__ import annotations

import ast
import string
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .harmless import BUILTINS, PERMITTED, SUBMODULES, names
    from .top_level import Binds, Place, Scope, TopLevel
else:
    from harmless import BUILTINS, PERMITTED, SUBMODULES, names
    from top_level import Binds, Place, Scope, TopLevel

_FRAME_PREFIXES = ("co_", "f_", "gi_", "tb_")
_FRAMES = (types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType)
_ATTRIBUTES_DENIED = {n for kind in _FRAMES for n in dir(kind) if n.startswith(_FRAME_PREFIXES)}
_ATTRIBUTES_DENIED |= names("mro now obj register today utcnow with_traceback")
_METHODS = names(
    """init post_init repr str bool len iter next reversed contains getitem setitem delitem missing call
    eq ne lt le gt ge hash index int float abs neg pos invert round add radd iadd sub rsub
    isub mul rmul imul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and or xor lshift rshift
    matmul""",
    "__{}__",
)
_COMPARISONS = names("contains eq ne lt le gt ge hash", "__{}__")
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
_SHOWING = names("ascii format repr str")
_ADDRESSED = names("enumerate filter iter map memoryview object reversed zip")


class Beyond(Exception):
    """Something that is not known to stay within the namespace."""


class Walk:
    """What one walk over a tree finds."""

    def __init__(self) -> None:
        self.keeps = False  # state, at least possibly, in objects of its own
        self.module = self.scope = Scope("module", None)
        self.scopes = [self.module]
        self.stack: list[Any] = []
        self.pending: list[tuple[Scope, list[Any]]] = []
        self.loads: list[tuple[str, Scope, ast.Name]] = []
        self.place: dict[int, int] = {}
        self.base_of: dict[int, ast.Attribute] = {}  # by a name or attribute: what is read from it
        self.call_of: dict[int, ast.Call] = {}  # by its function
        self.reads: dict[int, str] = {}  # harmless uses of a table: the builtin relied on, or ""
        self.times: dict[str, int] = {}  # how often a name is bound anywhere
        self.top_level = TopLevel(self.module, self.place, self.times)
        self.shown: list[tuple[str, Scope]] = []
        self.private: list[tuple[str, Scope]] = []
        self.imports: set[str] = set()
        self.trusted: set[str] = set()  # builtins without whose meaning all is lost
        self.stores = self.foreign_values = self.compares = False
        self.records = self.classes_seen = False

    def read(self, tree: ast.Module) -> None:
        if type(tree) is not ast.Module:
            raise Beyond
        for statement in tree.body:
            self.top(statement)
        while self.pending:
            self.scope, nodes = self.pending.pop()
            self.stack += nodes
            self.drain()

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
                    self.bind(node.id, Binds.OTHER)
                continue
            handler = handlers.get(kind)
            if handler is None:
                raise Beyond
            handler(self, node)

    def own(self) -> None:
        self.keeps = True

    # --- binding ---

    def bind(self, name: str, how: int) -> None:
        if name[:2] == "__" and name.strip("_"):
            if self.scope.kind == "class" and name in _METHODS:
                self.compares |= name in _COMPARISONS
            elif name not in _PLAIN_DUNDERS:
                raise Beyond  # `__builtins__`, or mangled inside a class
        bound = self.scope.bound
        bound[name] = bound.get(name, 0) | how
        self.times[name] = self.times.get(name, 0) + 1
        if self.scope is self.module and how & (Binds.OTHER | Binds.CLASS | Binds.ADDRESS):
            self.top_level.opaque.add(name)

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in PERMITTED:
                raise Beyond
            self.foreign(alias.asname, alias.name, None)

    def import_from(self, node: ast.ImportFrom) -> None:
        module = node.module
        if node.level or module not in PERMITTED:
            raise Beyond
        for alias in node.names:
            if (module, alias.name) in SUBMODULES:
                self.foreign(alias.asname or alias.name, SUBMODULES[module, alias.name], None)
            elif alias.name in PERMITTED[module]:
                self.foreign(alias.asname or alias.name, module, alias.name)
            else:
                raise Beyond

    def foreign(self, bound: str | None, module: str, name: str | None) -> None:
        """`bound` is a module (`name` is None) or something of it."""
        self.imports.add(module)
        if module == "random":
            self.own()
        if bound is None:  # `import a.b` binds a
            bound = module = module.split(".")[0]
        elif module == "__future__" and name:
            return
        self.bind(bound, Binds.FOREIGN)
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
            self.bind(name, Binds.ADDRESS if _addressed(value) else Binds.OTHER)

    # --- statements and expressions, in any scope ---

    def function(self, node: ast.FunctionDef) -> None:
        if getattr(node, "type_params", None):
            raise Beyond
        at_top = self.scope is self.module
        self.bind(node.name, Binds.FUNCTION)
        if at_top:
            if node.decorator_list or not self.top_level.fixed_defaults(node.args):
                self.own()
                self.top_level.opaque.add(node.name)
            self.top_level.functions.add(node.name)
            self.top_level.fixed.add(node.name)
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

    def parameters(self, args: ast.arguments) -> Scope:
        self.stack += args.defaults
        self.stack += [one for one in args.kw_defaults if one is not None]
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [one for one in (args.vararg, args.kwarg) if one is not None]
        inner = self.new_scope("function")
        outside, self.scope = self.scope, inner
        for one in every:
            self.bind(one.arg, Binds.OTHER)
        self.scope = outside
        for one in every:
            if one.annotation is not None:
                self.annotation(one.annotation)
        return inner

    def new_scope(self, kind: str) -> Scope:
        scope = Scope(kind, self.scope)
        self.scopes.append(scope)
        return scope

    def decorators(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            self.place[id(node)] = Place.DECORATES
        self.stack += nodes

    def class_(self, node: ast.ClassDef) -> None:
        if node.keywords or getattr(node, "type_params", None):
            raise Beyond
        self.own()
        self.bind(node.name, Binds.CLASS)
        self.decorators(node.decorator_list)
        for base in node.bases:
            at: Any = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(at, ast.Call):
                maker = at.func
                if (maker.attr if type(maker) is ast.Attribute else name_of(maker)) != "namedtuple":
                    raise Beyond
            elif isinstance(at, ast.Name):
                self.place[id(at)] = Place.INHERITED
            elif isinstance(at, ast.Attribute) and (name := _root(at)) is not None:
                self.place[id(at)] = Place.INHERITED
                self.place[id(name)] = Place.FOREIGN
            else:
                raise Beyond
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
                self.place[id(at)] = Place.TYPE
                self.stack.append(at)

    def assign(self, node: ast.Assign) -> None:
        targets, value = node.targets, node.value
        for target in targets:
            if type(target) is ast.Name:
                self.bind(target.id, Binds.ADDRESS if _addressed(value) else Binds.OTHER)
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
        if type(node.target) is ast.Name:  # outside of functions this reads the builtin
            self.loads.append((node.target.id, self.scope, node.target))
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
            self.bind(node.name, Binds.OTHER)
        if node.type is not None:
            self.is_type(node.type)
            self.stack.append(node.type)
        self.stack += node.body

    def is_type(self, node: ast.expr) -> None:
        for one in node.elts if isinstance(node, ast.Tuple) else [node]:
            self.place[id(one)] = Place.TYPE

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
        self.bind(node.target.id, Binds.OTHER)
        self.scope = inside
        self.stack.append(node.value)

    def comprehension(self, node: Any) -> None:
        first, *others = node.generators
        self.read_only(first.iter)
        self.stack.append(first.iter)
        nodes = [node.key, node.value] if type(node) is ast.DictComp else [node.elt]
        for one in node.generators:
            if one.is_async:
                raise Beyond
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
            self.place[id(operand)] = self.place.get(id(operand), 0) | Place.COMPARED
        if any(type(op) in (ast.Is, ast.IsNot) for op in node.ops) and not any(
            self.is_singleton(one) for one in operands
        ):
            raise Beyond  # whether two equal texts are one object depends on what ran before
        self.stack += operands

    def is_singleton(self, node: Any) -> bool:
        if type(node) is ast.Constant:
            return node.value is None or node.value is ... or type(node.value) is bool
        name = name_of(node.func) if type(node) is ast.Call else name_of(node)
        if name is None or (name != "type" if type(node) is ast.Call else name not in BUILTINS):
            return False
        self.trusted.add(name)
        return True

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
            raise Beyond
        if type(node) is ast.Name:
            self.shown.append((node.id, self.scope))
        self.place[id(node)] = self.place.get(id(node), 0) | Place.COMPARED

    def call(self, node: ast.Call) -> None:
        func, args = node.func, node.args
        self.place[id(func)] = self.place.get(id(node), 0) & Place.DECORATES | Place.CALLED
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
                self.trusted.add(name)
            if name in _SHOWING and args:
                self.shows(args[0])
                if type(args[0]) is ast.Call and name_of(args[0].func) == "type":
                    self.trusted.add(name)
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
        elif name in _TABLE_METHODS and place & Place.CALLED:
            self.read_only(base)
        if name[0] == "_":
            self.underscored(node, place)
        elif name in _ATTRIBUTES_DENIED:
            raise Beyond
        elif name in ("format", "format_map"):
            if type(base) is not ast.Constant or not _plain_template(base.value):
                raise Beyond
            if place & Place.CALLED:
                for one in self.call_of[id(node)].args:
                    self.shows(one)
        elif name == "seed" and not self.is_seeded(node):
            raise Beyond
        self.stack.append(base)

    def underscored(self, node: ast.Attribute, place: int) -> None:
        base, name = node.value, node.attr
        loaded = type(node.ctx) is ast.Load
        if name == "__name__" and loaded:
            self.place[id(base)] = self.place.get(id(base), 0) | Place.NAMED
        elif name in _READABLE and loaded:
            if name in ("__repr__", "__str__"):
                self.shows(base)
            if not place & Place.CALLED:
                self.foreign_values = True  # `__repr__` of an enumeration is Enum's
        elif name in _OF_NAMED_TUPLES and loaded:
            pass
        elif name[-2:] != "__" and type(base) is ast.Name:
            self.private.append((base.id, self.scope))
        else:
            raise Beyond

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
            self.bind(node.name, Binds.OTHER)
        if getattr(node, "pattern", None) is not None:
            self.stack.append(node.pattern)

    def match_mapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.bind(node.rest, Binds.OTHER)
        self.stack += node.keys
        self.stack += node.patterns

    def match_class(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            if name[0] == "_" or name in _ATTRIBUTES_DENIED or name in ("format", "format_map"):
                raise Beyond
        self.place[id(node.cls)] = Place.TYPE
        self.stack.append(node.cls)
        self.stack += node.patterns
        self.stack += node.kwd_patterns


# --- parts of a tree ---


def name_of(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _root(node: ast.Attribute) -> ast.Name | None:
    """The name before the one or two attributes of `module.name`."""
    base = node.value.value if isinstance(node.value, ast.Attribute) else node.value
    return base if isinstance(base, ast.Name) else None


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


def _addressed(node: Any) -> bool:
    """Whether the text of this object would be an address."""
    kind = type(node)
    if kind is ast.Call:
        return type(node.func) is ast.Name and node.func.id in _ADDRESSED
    return kind is ast.Lambda or kind is ast.GeneratorExp


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
    ast.FunctionDef: Walk.function,
    ast.ClassDef: Walk.class_,
    ast.Assign: Walk.assign,
    ast.AnnAssign: Walk.annotated,
    ast.AugAssign: Walk.augmented,
    ast.For: Walk.loop,
    ast.With: Walk.guarded,
    ast.Try: Walk.guarded,
    ast.TryStar: Walk.guarded,
    ast.ExceptHandler: Walk.handler,
    ast.Import: Walk.import_,
    ast.ImportFrom: Walk.import_from,
    ast.Global: Walk.global_,
    ast.Nonlocal: Walk.nonlocal_,
    ast.Lambda: Walk.lambda_,
    ast.NamedExpr: Walk.walrus,
    ast.ListComp: Walk.comprehension,
    ast.SetComp: Walk.comprehension,
    ast.DictComp: Walk.comprehension,
    ast.GeneratorExp: Walk.comprehension,
    ast.Yield: Walk.yields,
    ast.YieldFrom: Walk.yields,
    ast.BinOp: Walk.binary,
    ast.Compare: Walk.compare,
    ast.Call: Walk.call,
    ast.Dict: Walk.dict_,
    ast.FormattedValue: Walk.formatted,
    ast.Attribute: Walk.attribute,
    ast.Subscript: Walk.subscript,
    ast.Starred: Walk.starred,
    ast.MatchAs: Walk.match_name,
    ast.MatchStar: Walk.match_name,
    ast.MatchMapping: Walk.match_mapping,
    ast.MatchClass: Walk.match_class,
}
_HARMLESS_AT_TOP = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Expr, ast.Assert, ast.Pass)
