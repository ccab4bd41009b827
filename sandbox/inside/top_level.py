"""Classification of the values that a source binds at the top level of the module.

The module is a part of the analysis in state.py. `is_fixed` is True for values that cannot change:
numbers, texts, tuples of such values, functions, patterns. `is_table` is True for a new list, set
or dict of such values. Both functions look only at the expression, and return False for deeply
nested expressions.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .allowlist import BUILTINS, CONSTANTS, split_names
else:
    from allowlist import BUILTINS, CONSTANTS, split_names

_ALWAYS_FIXED = split_names("bin bool chr complex float hex int len oct ord range repr str")
_NUMERIC = split_names("abs divmod max min pow round")
_STRING_METHODS = split_names("""capitalize casefold count endswith find index isalpha isdigit join lower
    lstrip replace rstrip startswith strip swapcase title upper zfill""")
_GENERIC = split_names("dict frozenset list set tuple")


MODULE, LAMBDA = "<module>", "<lambda>"


class Place:
    """Bit flags for the context of a name, which its parent node determines."""

    CALLED, TYPE, DECORATES, INHERITED, COMPARED, NAMED, FOREIGN = 1, 2, 4, 8, 16, 32, 64


class Binds:
    """Bit flags for the ways in which a name is bound."""

    OTHER, FUNCTION, CLASS, FOREIGN, ADDRESS, FIXED = 1, 2, 4, 8, 16, 32


class Scope:
    """A module, class, function or comprehension, with the names that it binds."""

    __slots__ = ("bound", "foreign", "function", "guarded", "kind", "outer", "parent", "self_name",
                 "yields")  # fmt: skip

    def __init__(self, kind: str, parent: Scope | None) -> None:
        self.kind, self.parent = kind, parent
        self.bound: dict[str, int] = {}
        self.foreign: dict[str, list[tuple[str, str | None]]] = {}
        self.outer: dict[str, bool] = {}  # True for `global` names, False for `nonlocal` ones
        self.self_name: str | None = None
        # the name of the function around it; LAMBDA for one without a name
        self.function: str = parent.function if parent else MODULE
        self.yields = self.guarded = False


class TopLevel:
    """Facts about the names at the top level of a module.

    Args:
        module: The scope of the module.
        place: Context of nodes by their `id`, shared with the walk (walk.py).
        times: How often each name is bound, shared with the walk (walk.py).
    """

    def __init__(self, module: Scope, place: dict[int, int], times: dict[str, int]) -> None:
        self.module, self.place, self.times = module, place, times
        self.functions: set[str] = set()
        self.fixed: set[str] = set()  # constants and functions
        self.tables: set[str] = set()
        self.aliases: set[str] = set()  # aliases of types
        self.opaque: set[str] = set()  # names bound to unknown values
        self.relied: set[str] = set()  # builtins whose meaning the sets above rely on

    def is_constant(self, name: str) -> bool:
        """Return whether a name always has the same immutable value."""
        return name in self.fixed and name not in self.opaque and name not in self.tables

    def is_fixed(self, node: Any, local: frozenset[str] = frozenset(), depth: int = 12) -> bool:
        """Return whether a top-level expression gives a value that cannot change.

        Args:
            node: The expression.
            local: Names of comprehension variables that hold values which cannot change.
            depth: The deepest nesting to examine.
        """
        kind = type(node)
        if kind is ast.Constant or kind is ast.JoinedStr or kind is ast.Compare:
            return True
        if depth == 0:
            return False

        def every(nodes: list[Any]) -> bool:
            return all(self.is_fixed(one, local, depth - 1) for one in nodes)

        if kind is ast.Name:
            if node.id in local or self.is_constant(node.id):
                return True
            self.relied.add(node.id)
            if node.id not in self.module.bound:
                return node.id in BUILTINS
            return self.foreign_name(node) in CONSTANTS
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
            return self.has_fixed_defaults(node.args)
        if kind is ast.Subscript:
            base = node.value
            return every([base, node.slice]) or (
                type(base) is ast.Name and self.is_table_name(base.id) and every([node.slice])
            )
        if kind is ast.Attribute:
            return self.foreign_name(node) in CONSTANTS
        return kind is ast.Call and self.is_fixed_call(node, local, depth)

    def is_fixed_call(self, node: ast.Call, local: frozenset[str], depth: int) -> bool:
        """Return whether a call at the top level gives a value that cannot change.

        The arguments are those of `is_fixed`.
        """
        func, args = node.func, node.args
        if isinstance(func, ast.Name) and func.id in BUILTINS:
            self.relied.add(func.id)
            if node.keywords:
                return False
            if func.id in _ALWAYS_FIXED:
                return True
            if func.id in _NUMERIC:
                return all(self.is_fixed(one, local, depth - 1) for one in args)
            return (  # `sum((), [])` returns that list itself.
                func.id in ("tuple", "frozenset", "sum")
                and len(args) == 1
                and self.gives_fixed(args[0], local, depth - 1)
            )
        if type(func) is ast.Attribute and type(func.value) is ast.Constant:
            return func.attr in _STRING_METHODS and type(func.value.value) is str
        name = self.foreign_name(func)
        if name in ("re.compile", "collections.namedtuple"):
            return not node.keywords and all(
                _is_literal(one) or (self.foreign_name(one) or "").startswith("re.") for one in args
            )
        if name is None or node.keywords or not name.startswith("math."):
            return False
        return all(self.is_fixed(one, local, depth - 1) for one in args)

    def is_table_name(self, name: str) -> bool:
        """Return whether a name is bound exactly once, to a list, set or dict of fixed values."""
        return name in self.tables and self.times.get(name) == 1

    def is_table(self, node: Any, local: frozenset[str] = frozenset(), depth: int = 12) -> bool:
        """Return whether a top-level expression gives a new list, set or dict of fixed values.

        The arguments are those of `is_fixed`.
        """
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
        """Return whether iteration over an expression gives only values that cannot change.

        The arguments are those of `is_fixed`.
        """
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
        """Return whether an expression is a type such as `List[int]`, used only in annotations."""
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
            self.place[id(at)] = Place.TYPE
            if isinstance(at, ast.Subscript):
                stack += (at.value, at.slice)
            elif isinstance(at, ast.Tuple | ast.List):
                stack += at.elts
            elif not isinstance(at, ast.Name | ast.Attribute | ast.Constant):
                return False
        return True

    def foreign_name(self, node: Any) -> str | None:
        """Return "module.name" if a node certainly refers to this imported name, else None."""
        base, attr = (node.value, node.attr) if type(node) is ast.Attribute else (node, None)
        if type(base) is not ast.Name or self.times.get(base.id) != 1:
            return None
        ((module, name),) = self.module.foreign.get(base.id) or (("", ""),)
        if (name is None) is (attr is None):
            return None
        return f"{module}.{attr or name}"

    def has_fixed_defaults(self, args: ast.arguments) -> bool:
        """Return whether all defaults of a function are values that cannot change."""
        return all(one is None or self.is_fixed(one) for one in (*args.defaults, *args.kw_defaults))


def _is_literal(node: Any) -> bool:
    if type(node) is ast.List or type(node) is ast.Tuple:
        return all(type(one) is ast.Constant for one in node.elts)
    return type(node) is ast.Constant


def _plain_targets(node: Any) -> frozenset[str] | None:
    nodes = node.elts if type(node) is ast.Tuple else [node]
    named = frozenset(one.id for one in nodes if type(one) is ast.Name)
    return named if all(type(one) is ast.Name for one in nodes) else None
