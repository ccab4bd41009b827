"""The part of the source analysis (walk.py) that handles statements which bind names.

It covers imports, functions, classes and all forms of assignment. If a node alone shows that the
source may affect anything outside itself, the analysis raises `BeyondReach` at once. All other
facts are collected in the attributes of `Bindings`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .allowlist import PERMITTED, SUBMODULES, split_names
    from .top_level import LAMBDA, Binds, Place, Scope, TopLevel
else:
    from allowlist import PERMITTED, SUBMODULES, split_names
    from top_level import LAMBDA, Binds, Place, Scope, TopLevel

_METHODS = split_names(
    """init post_init repr str bool len iter next reversed contains getitem setitem delitem missing call
    eq ne lt le gt ge hash index int float abs neg pos invert round add radd iadd sub rsub
    isub mul rmul imul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and or xor lshift rshift
    matmul""",
    "__{}__",
)
_COMPARISONS = split_names("contains eq ne lt le gt ge hash", "__{}__")
_PLAIN_DUNDERS = split_names("all author doc slots version", "__{}__")
_ADDRESSED = split_names("enumerate filter iter map memoryview object reversed zip")


class BeyondReach(Exception):
    """Raised when the analysis cannot prove that a source keeps its state to itself."""


class Bindings:
    """Facts about the names in a source, with a method for each type of node that binds names."""

    def __init__(self) -> None:
        self.keeps_state = False  # whether it may keep state in its own objects
        self.module = self.scope = Scope("module", None)
        self.scopes = [self.module]
        self.stack: list[Any] = []
        self.pending: list[tuple[Scope, list[Any]]] = []
        self.loads: list[tuple[str, Scope, ast.Name]] = []
        self.place: dict[int, int] = {}
        # by a name or attribute: the attribute read from it
        self.base_of: dict[int, ast.Attribute] = {}
        self.call_of: dict[int, ast.Call] = {}  # by the function of the call
        self.reads: dict[int, str] = {}  # harmless uses of a table: the builtin they rely on, or ""
        self.times: dict[str, int] = {}  # how often a name is bound anywhere
        self.top_level = TopLevel(self.module, self.place, self.times)
        self.shown: list[tuple[str, Scope]] = []
        self.private: list[tuple[str, Scope]] = []
        self.imports: set[str] = set()
        self.trusted: set[str] = set()  # builtins that must keep their meaning
        self.stores = self.foreign_values = self.compares = False
        self.records = self.classes_seen = self.fills_caches = False
        self.functions = {LAMBDA}  # the names of all functions
        self.unnamed: list[Scope] = []  # where a function without a name is made or called
        self.methods: list[Scope] = []  # where an attribute is called

    def record_state(self) -> None:
        """Record that the source may keep state in objects that it creates."""
        self.keeps_state = True

    def record_read(self, node: Any, reader: str = "") -> None:
        """Record that `node`, if it is a name, is only read here.

        `reader` is the builtin function that reads it, or "" if there is none.
        """
        if type(node) is ast.Name:
            self.reads[id(node)] = reader

    def bind(self, name: str, how: int) -> None:
        """Record that a name is bound in the current scope.

        `how` holds flags of `Binds`.

        Raises:
            BeyondReach: The name is special, such as `__builtins__`.
        """
        if name[:2] == "__" and name.strip("_"):
            if self.scope.kind == "class" and name in _METHODS:
                self.compares |= name in _COMPARISONS
            elif name not in _PLAIN_DUNDERS:
                raise BeyondReach  # `__builtins__`, or a name that is mangled inside a class.
        bound = self.scope.bound
        bound[name] = bound.get(name, 0) | how
        self.times[name] = self.times.get(name, 0) + 1
        if self.scope is self.module and how & (Binds.OTHER | Binds.CLASS | Binds.ADDRESS):
            self.top_level.opaque.add(name)

    def visit_import(self, node: ast.Import) -> None:
        """Check and bind the modules of an `import`."""
        for alias in node.names:
            if alias.name not in PERMITTED:
                raise BeyondReach
            self.bind_foreign(alias.asname, alias.name, None)

    def visit_import_from(self, node: ast.ImportFrom) -> None:
        """Check and bind the names of a `from … import`."""
        module = node.module
        if node.level or module not in PERMITTED:
            raise BeyondReach
        for alias in node.names:
            if (module, alias.name) in SUBMODULES:
                self.bind_foreign(alias.asname or alias.name, SUBMODULES[module, alias.name], None)
            elif alias.name in PERMITTED[module]:
                self.bind_foreign(alias.asname or alias.name, module, alias.name)
            else:
                raise BeyondReach

    def bind_foreign(self, bound: str | None, module: str, name: str | None) -> None:
        """Record that an import binds a name in the current scope.

        Args:
            bound: The name after "as"; None if `import` is used without "as".
            module: The imported module.
            name: The name that is imported from the module; None if the module itself is imported.
        """
        self.imports.add(module)
        if module == "random":
            self.record_state()
        if bound is None:  # `import a.b` binds a.
            bound = module = module.split(".")[0]
        elif module == "__future__" and name:
            return
        self.bind(bound, Binds.FOREIGN)
        self.scope.foreign.setdefault(bound, []).append((module, name))

    # --- Scopes ---

    def visit_function(self, node: ast.FunctionDef) -> None:
        """Bind the name of a function, and queue its body for the walk."""
        if getattr(node, "type_params", None):
            raise BeyondReach
        at_top = self.scope is self.module
        self.bind(node.name, Binds.FUNCTION)
        if at_top:
            if node.decorator_list or not self.top_level.has_fixed_defaults(node.args):
                self.record_state()
                self.top_level.opaque.add(node.name)
            self.top_level.functions.add(node.name)
            self.top_level.fixed.add(node.name)
        self.visit_decorators(node.decorator_list)
        if node.returns is not None:
            self.visit_annotation(node.returns)
        inner = self.open_parameters(node.args)
        inner.function = node.name
        self.functions.add(node.name)
        if self.scope.kind == "class":
            first = node.args.posonlyargs or node.args.args
            inner.self_name = first[0].arg if first else None
        self.pending.append((inner, node.body[::-1]))

    def visit_lambda(self, node: ast.Lambda) -> None:
        """Queue the body of a lambda for the walk."""
        inner = self.open_parameters(node.args)
        inner.function = LAMBDA
        self.unnamed.append(self.scope)
        self.pending.append((inner, [node.body]))

    def open_parameters(self, args: ast.arguments) -> Scope:
        """Return a new scope that binds the parameters of a function."""
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
                self.visit_annotation(one.annotation)
        return inner

    def new_scope(self, kind: str) -> Scope:
        """Return a new scope inside the current one."""
        scope = Scope(kind, self.scope)
        self.scopes.append(scope)
        return scope

    def visit_decorators(self, nodes: list[ast.expr]) -> None:
        """Queue the decorators of a function or class for the walk."""
        for node in nodes:
            self.place[id(node)] = Place.DECORATES
        self.stack += nodes

    def visit_class(self, node: ast.ClassDef) -> None:
        """Bind the name of a class, check its bases, and queue its body for the walk."""
        if node.keywords or getattr(node, "type_params", None):
            raise BeyondReach
        self.record_state()
        self.bind(node.name, Binds.CLASS)
        self.visit_decorators(node.decorator_list)
        for base in node.bases:
            at: Any = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(at, ast.Call):
                maker = at.func
                if (maker.attr if type(maker) is ast.Attribute else name_of(maker)) != "namedtuple":
                    raise BeyondReach
            elif isinstance(at, ast.Name):
                self.place[id(at)] = Place.INHERITED
            elif isinstance(at, ast.Attribute) and (name := _root(at)) is not None:
                self.place[id(at)] = Place.INHERITED
                self.place[id(name)] = Place.FOREIGN
            else:
                raise BeyondReach
        self.stack += node.bases
        self.pending.append((self.new_scope("class"), node.body[::-1]))

    def visit_comprehension(self, node: Any) -> None:
        """Queue the child nodes of a comprehension for the walk, in a new scope."""
        first, *others = node.generators
        self.record_read(first.iter)
        self.stack.append(first.iter)
        nodes = [node.key, node.value] if type(node) is ast.DictComp else [node.elt]
        for one in node.generators:
            if one.is_async:
                raise BeyondReach
            nodes.append(one.target)
            nodes += one.ifs
        for one in others:
            self.record_read(one.iter)
            nodes.append(one.iter)
        self.pending.append((self.new_scope("comprehension"), nodes))

    # --- Types ---

    def visit_annotation(self, node: ast.expr) -> None:
        """Queue the names in an annotation for the walk, and record that they are used as types."""
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
                    self.record_state()
                self.place[id(at)] = Place.TYPE
                self.stack.append(at)

    def record_type(self, node: ast.expr) -> None:
        """Record that a node is used only as a type, or as a tuple of types."""
        for one in node.elts if isinstance(node, ast.Tuple) else [node]:
            self.place[id(one)] = Place.TYPE

    # --- Statements and patterns, in any scope ---

    def visit_assign(self, node: ast.Assign) -> None:
        """Record what an assignment binds and reads."""
        targets, value = node.targets, node.value
        for target in targets:
            if type(target) is ast.Name:
                self.bind(target.id, Binds.ADDRESS if is_addressed(value) else Binds.OTHER)
            else:
                self.stack.append(target)
                if isinstance(target, ast.Tuple | ast.List):
                    self.record_read(value)
        self.stack.append(value)

    def visit_annotated(self, node: ast.AnnAssign) -> None:
        """Record what an annotated assignment binds and reads."""
        if self.scope.kind == "class":  # A function does not evaluate it.
            self.visit_annotation(node.annotation)
        self.stack.append(node.target)
        if node.value is not None:
            self.stack.append(node.value)

    def visit_augmented(self, node: ast.AugAssign) -> None:
        """Record what an augmented assignment (`+=`) binds and reads."""
        self.record_read(node.value)
        if type(node.target) is ast.Name:  # Outside of functions this reads the builtin.
            self.loads.append((node.target.id, self.scope, node.target))
        self.stack += (node.target, node.value)

    def visit_loop(self, node: ast.For) -> None:
        """Record what a `for` loop binds and reads."""
        self.record_read(node.iter)
        self.stack += (node.target, node.iter, *node.orelse, *node.body)

    def visit_yields(self, node: Any) -> None:
        """Record that the current scope is a generator."""
        self.scope.yields = True
        if node.value is not None:
            if type(node) is ast.YieldFrom:
                self.record_read(node.value)
            self.stack.append(node.value)

    def visit_handler(self, node: ast.ExceptHandler) -> None:
        """Bind the name of an exception handler, and queue its body for the walk."""
        if node.name is not None:
            self.bind(node.name, Binds.OTHER)
        if node.type is not None:
            self.record_type(node.type)
            self.stack.append(node.type)
        self.stack += node.body

    def visit_global(self, node: ast.Global) -> None:
        """Record the names of a `global` statement."""
        self.record_state()
        for name in node.names:
            self.scope.outer[name] = True
            self.bind(name, 0)

    def visit_nonlocal(self, node: ast.Nonlocal) -> None:
        """Record the names of a `nonlocal` statement."""
        for name in node.names:
            self.scope.outer[name] = False
            self.bind(name, 0)

    def visit_walrus(self, node: ast.NamedExpr) -> None:
        """Bind the target of `:=` in the scope that surrounds all comprehensions."""
        inside = self.scope
        while self.scope.kind == "comprehension":
            assert self.scope.parent is not None
            self.scope = self.scope.parent
        if self.scope is self.module:
            self.record_state()
        self.bind(node.target.id, Binds.OTHER)
        self.scope = inside
        self.stack.append(node.value)

    def visit_match_name(self, node: Any) -> None:
        """Bind the name of a capture pattern in a `match` statement."""
        if node.name is not None:
            self.bind(node.name, Binds.OTHER)
        if getattr(node, "pattern", None) is not None:
            self.stack.append(node.pattern)

    def visit_match_mapping(self, node: ast.MatchMapping) -> None:
        """Record what a mapping pattern in a `match` statement binds."""
        if node.rest is not None:
            self.bind(node.rest, Binds.OTHER)
        self.stack += node.keys
        self.stack += node.patterns


# --- Parts of a tree ---


def name_of(node: ast.expr) -> str | None:
    """Return the identifier of a name node, or None for any other node."""
    return node.id if isinstance(node, ast.Name) else None


def _root(node: ast.Attribute) -> ast.Name | None:
    """Return the name before the one or two attributes of `module.name`."""
    base = node.value.value if isinstance(node.value, ast.Attribute) else node.value
    return base if isinstance(base, ast.Name) else None


def is_addressed(node: Any) -> bool:
    """Return whether `repr` of the value of this expression would contain a memory address."""
    kind = type(node)
    if kind is ast.Call:
        return type(node.func) is ast.Name and node.func.id in _ADDRESSED
    return kind is ast.Lambda or kind is ast.GeneratorExp
