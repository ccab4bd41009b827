"""Small changes of a program's syntax tree, each with a cost in the order in which to try them.

A change replaces one expression or one block of statements. The costs are those of slips that models
make: an off-by-one constant costs 1, another operator 1, a part that is left out or wrapped 1.5 to 2,
an added filter 2.5. No change adds a literal of a sequence, so a sequence of changes cannot
tabulate shown outputs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

MAX_EDITS = 900  # of one program
_SMALL = (0, 1, 2, 3, -1)
_COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq), ast.LtE: (ast.Lt, ast.GtE, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.Eq), ast.GtE: (ast.Gt, ast.LtE, ast.Lt, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE, ast.Lt, ast.Gt), ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_TWINS = {
    "min": ("max",), "max": ("min",), "any": ("all",), "all": ("any",), "sum": ("len", "max"),
    "len": ("sum", "max"), "sorted": ("list", "reversed"), "set": ("sorted", "list"),
}  # fmt: skip
_METHODS = {
    "upper": ("lower", "title", "capitalize"), "lower": ("upper", "title", "capitalize"),
    "title": ("capitalize", "upper", "lower"), "capitalize": ("title", "upper", "lower"),
    "strip": ("lstrip", "rstrip"), "lstrip": ("strip", "rstrip"), "rstrip": ("strip", "lstrip"),
    "split": ("rsplit",), "find": ("rfind",), "index": ("count",), "count": ("index",),
    "startswith": ("endswith",), "endswith": ("startswith",), "isdigit": ("isalpha", "isalnum"),
    "isupper": ("islower",), "islower": ("isupper",),
}  # fmt: skip
_WRAPPED = (
    "[{}]", "{}[0]", "{}[::-1]", "sorted({})", "sorted({}, reverse=True)", "{}[1:]", "{}[:-1]",
    "{}[-1]", "list(dict.fromkeys({}))", "len({})", "sum({})", "[len({})]", "[sum({})]",
    "[max({})]", "[min({})]", "list({})", "str({})", "int({})", "{}.lower()", "{}.upper()",
    "{}.strip()", "{}.title()", "round({}, 2)", "not {}", "{}[0:1]", "{}[-1:]",
)  # fmt: skip
_BEFORE = (
    "sorted({})", "sorted({}, reverse=True)", "{}[::-1]", "{}[1:]", "{}[:-1]",
    "list(dict.fromkeys({}))", "{}.lower()", "{}.strip()",
)  # fmt: skip


_SEPARATOR = re.compile(r"[^\W_]?([\W_]{1,4})")


class Edit(NamedTuple):
    """A change: the value `new` in place of a field of a node.

    Args:
        cost: The cost of the change.
        owner: The node whose field changes.
        field: The name of the field.
        place: The place in the field if it is a list of which one element changes; None otherwise.
        new: The new value of the field or the element.
    """

    cost: float
    owner: ast.AST
    field: str
    place: int | None
    new: Any

    def swap(self, value: Any) -> Any:
        """Set the field to a value and return the value before."""
        if self.place is None:
            before = getattr(self.owner, self.field)
            setattr(self.owner, self.field, value)
            return before
        values = getattr(self.owner, self.field)
        before, values[self.place] = values[self.place], value
        return before


class Literals(NamedTuple):
    """Constants that changes may put into a program."""

    integers: tuple[int, ...]
    texts: tuple[str, ...]


def collect_literals(shown: Sequence[Sequence[Any]]) -> Literals:
    """Return the integers and the separators that at least a third of the pairs hold in their
    outputs, and the usual separators.

    Args:
        shown: The example pairs [input, output].
    """
    numbers: dict[int, int] = {}
    marks: dict[str, int] = {}
    for _, output in shown:
        for one in set(_flat(output)):
            if type(one) is int and abs(one) <= 1_000:
                numbers[one] = numbers.get(one, 0) + 1
            elif isinstance(one, str):
                for mark in set(_SEPARATOR.findall(one)):
                    marks[mark] = marks.get(mark, 0) + 1
    often = max(2, len(shown) // 3)
    integers = sorted(one for one, count in numbers.items() if count >= often)[:12]
    found = sorted(one for one, count in marks.items() if count >= often)[:8]
    return Literals(tuple(integers), tuple(dict.fromkeys([*found, " ", "", ",", "-"])))


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _flat(one)
    else:
        yield value


def find_edits(tree: ast.Module, entry: str, literals: Literals, guards: bool) -> list[Edit]:
    """Return the changes of a program, cheapest first, at most `MAX_EDITS`.

    Args:
        tree: The syntax tree. The changes apply to this tree.
        entry: The name of the function.
        literals: Constants that the changes may use.
        guards: Whether the program fails on some input, so that a guard may help.
    """
    found: list[Edit] = []
    names = _local_names(tree)
    for owner in ast.walk(tree):
        if isinstance(owner, (ast.arguments, ast.alias)):
            continue
        for field, value in ast.iter_fields(owner):
            places = [(None, value)] if not isinstance(value, list) else list(enumerate(value))
            for index, node in places:
                if isinstance(node, ast.expr) and not isinstance(
                    getattr(node, "ctx", None), (ast.Store, ast.Del)
                ):
                    for cost, new in _of_expression(owner, field, node, names, literals):
                        found.append(Edit(cost, owner, field, index, new))
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for cost, body in _of_block(owner, value, entry, guards):
                    found.append(Edit(cost, owner, field, None, body))
        if isinstance(owner, ast.comprehension):
            for cost, ifs in _of_filters(owner, literals):
                found.append(Edit(cost, owner, "ifs", None, ifs))
        found += _of_operators(owner)
    found.sort(key=lambda one: one.cost)  # stable: then in the order of the tree
    return found[:MAX_EDITS]


def _local_names(tree: ast.Module) -> tuple[str, ...]:
    stored = [one.id for one in ast.walk(tree)
              if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]  # fmt: skip
    given = [one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)]
    return tuple(dict.fromkeys([*given, *stored]))[:8]


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    return None


def constant(value: Any) -> ast.expr:
    """Return the syntax tree of a constant."""
    if type(value) is int and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _of_expression(
    owner: ast.AST, field: str, node: ast.expr, names: Sequence[str], literals: Literals
) -> Iterator[tuple[float, ast.expr]]:
    value = _integer(node)
    if value is not None:
        if not isinstance(owner, ast.UnaryOp):
            near = [value - 1, value + 1]
            yield from ((1.0, constant(one)) for one in near)
            others = [one for one in _SMALL if one not in (*near, value)]
            yield from ((1.5, constant(one)) for one in others)
            known = {*near, *_SMALL, value}
            yield from ((2.0, constant(one)) for one in literals.integers if one not in known)
            for name in names[:4]:
                yield 2.0, _parsed(f"len({name})")
            if isinstance(owner, ast.BinOp) and value == 1:
                yield 1.5, constant(-1)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield 1.0, ast.Constant(not node.value)
        elif isinstance(node.value, str):
            yield from ((1.5, ast.Constant(one)) for one in literals.texts if one != node.value)
    elif isinstance(node, ast.Name):
        if not (isinstance(owner, ast.Call) and field == "func"):
            yield from ((1.5, _name(one)) for one in names if one != node.id)
    elif isinstance(node, ast.Slice):
        yield from _of_slice(node)
    elif isinstance(node, ast.IfExp):
        yield 1.0, ast.IfExp(node.test, node.orelse, node.body)
        yield from ((1.5, one) for one in (node.body, node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from ((1.5, one) for one in node.values)
    elif isinstance(node, ast.UnaryOp):
        yield 1.0, node.operand
    elif isinstance(node, ast.BinOp):
        yield from ((1.5, one) for one in (node.left, node.right))
        if not isinstance(node.op, (ast.Mult,)):
            yield 1.5, ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice):
            yield 1.5, node.value
        else:
            yield 1.5, ast.Subscript(node.value, ast.Slice(node.slice, None, None), ast.Load())
            yield 1.5, ast.Subscript(node.value, ast.Slice(None, node.slice, None), ast.Load())
    elif isinstance(node, ast.List) and len(node.elts) == 1:
        yield 1.5, node.elts[0]
    if isinstance(owner, (ast.If, ast.IfExp, ast.While)) and field == "test":
        yield 1.0, _negated(node)
    if value is None and _may_be_offset(owner, field, node):
        for step in (ast.Add(), ast.Sub()):
            yield 1.0, ast.BinOp(node, step, ast.Constant(1))
    if isinstance(owner, ast.Return):
        text = ast.unparse(node)
        yield from (
            (1.5 + 0.01 * k, _parsed(one.format(f"({text})"))) for k, one in enumerate(_WRAPPED)
        )
    elif field == "iter":
        text = ast.unparse(node)
        for form in ("sorted({})", "{}[::-1]", "{}[1:]", "{}[:-1]"):
            yield 1.5, _parsed(form.format(f"({text})"))


def _may_be_offset(owner: ast.AST, field: str, node: ast.expr) -> bool:
    """Return whether an expression is an index, a bound or a side of a comparison."""
    if isinstance(node, (ast.Slice, ast.Constant, ast.List, ast.Tuple, ast.ListComp, ast.Compare)):
        return False
    if isinstance(owner, ast.Subscript):
        return field == "slice"
    if isinstance(owner, (ast.Slice, ast.Compare)):
        return True
    if isinstance(owner, ast.Call):
        return isinstance(owner.func, ast.Name) and owner.func.id == "range" and field == "args"
    return isinstance(owner, ast.List) and len(owner.elts) == 1


def _of_slice(node: ast.Slice) -> Iterator[tuple[float, ast.expr]]:
    lower, upper, step = node.lower, node.upper, node.step
    if lower is None:
        yield from ((1.0, ast.Slice(constant(one), upper, step)) for one in (1, 2, -1, -2))
    else:
        yield 1.0, ast.Slice(None, upper, step)
    if upper is None:
        yield from ((1.0, ast.Slice(lower, constant(one), step)) for one in (-1, -2, 1, 2, 3))
    else:
        yield 1.0, ast.Slice(lower, None, step)
        yield 1.5, ast.Slice(upper, None, step)
    if lower is not None and upper is None:
        yield 1.5, ast.Slice(None, lower, step)
    if step is None:
        yield from ((1.5, ast.Slice(lower, upper, constant(one))) for one in (-1, 2))
    else:
        yield 1.0, ast.Slice(lower, upper, None)


def _of_call(node: ast.Call) -> Iterator[tuple[float, ast.expr]]:
    function = node.func
    if isinstance(function, ast.Name):
        for name in _TWINS.get(function.id, ()):
            call = ast.Call(_name(name), node.args, [] if name != function.id else node.keywords)
            yield 1.0, _parsed(f"list({ast.unparse(call)})") if name == "reversed" else call
        reverse = [one for one in node.keywords if one.arg == "reverse"]
        if function.id == "sorted" and not reverse:
            flag = ast.keyword("reverse", ast.Constant(True))
            yield 1.0, ast.Call(function, node.args, [*node.keywords, flag])
        elif reverse:
            kept = [one for one in node.keywords if one.arg != "reverse"]
            yield 1.0, ast.Call(function, node.args, kept)
        if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
            yield 1.5, node.args[0]
        if function.id == "range" and len(node.args) == 1:
            yield 1.0, ast.Call(function, [ast.Constant(1), *node.args], [])
        if function.id == "range" and len(node.args) == 2:
            yield 1.0, ast.Call(function, node.args[1:], [])
            yield 1.5, ast.Call(function, [*node.args, ast.Constant(2)], [])
    elif isinstance(function, ast.Attribute):
        for name in _METHODS.get(function.attr, ()):
            yield (
                1.0,
                ast.Call(ast.Attribute(function.value, name, ast.Load()), node.args, node.keywords),
            )
        if function.attr == "append" and len(node.args) == 1:
            place = ast.Attribute(function.value, "insert", ast.Load())
            yield 1.5, ast.Call(place, [ast.Constant(0), *node.args], [])
            more = ast.Attribute(function.value, "extend", ast.Load())
            twice = ast.List([node.args[0], node.args[0]], ast.Load())
            yield 2.0, ast.Call(more, [twice], [])
        if function.attr in _METHODS and not node.args:
            yield 1.5, function.value


def _of_operators(owner: ast.AST) -> Iterator[Edit]:
    if isinstance(owner, ast.Compare):
        for index, op in enumerate(owner.ops):
            for kind in _COMPARISONS.get(type(op), ()):
                yield Edit(1.0, owner, "ops", index, kind())
    elif isinstance(owner, (ast.BinOp, ast.AugAssign)) and isinstance(owner.op, _ARITHMETIC):
        for kind in _ARITHMETIC:
            if not isinstance(owner.op, kind):
                yield Edit(1.0, owner, "op", None, kind())
    elif isinstance(owner, ast.BoolOp):
        other = ast.Or() if isinstance(owner.op, ast.And) else ast.And()
        yield Edit(1.0, owner, "op", None, other)


def _of_filters(owner: ast.comprehension, literals: Literals) -> Iterator[tuple[float, Any]]:
    for place in range(len(owner.ifs)):
        yield 1.5, [*owner.ifs[:place], *owner.ifs[place + 1 :]]
        negated = _negated(owner.ifs[place])
        yield 1.0, [*owner.ifs[:place], negated, *owner.ifs[place + 1 :]]
    target = owner.target
    if isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[-1]
    if isinstance(target, ast.Name):
        tests = [f"{target.id} % 2 == 0", f"{target.id} % 2 == 1"]
        for bound in dict.fromkeys([*_SMALL, *literals.integers]):
            tests += [f"{target.id} {op} {bound}" for op in ("!=", "<", ">")]
        yield from ((2.5, [*owner.ifs, _parsed(test)]) for test in tests)


def _of_block(
    owner: ast.AST, body: Sequence[ast.stmt], entry: str, guards: bool
) -> Iterator[tuple[float, list[ast.stmt]]]:
    for place, one in enumerate(body):
        before, after = list(body[:place]), list(body[place + 1 :])
        if len(body) > 1 and not isinstance(one, (ast.FunctionDef, ast.Return)):
            yield 1.5, [*before, *after]
        if isinstance(one, ast.If):
            yield 1.5, [*before, *one.body, *after]
            if one.orelse:
                yield 1.5, [*before, *one.orelse, *after]
                yield 1.0, [*before, ast.If(one.test, one.orelse, one.body), *after]
        if (
            isinstance(one, (ast.For, ast.While))
            and isinstance(one.body[-1], ast.Return)
            and len(one.body) > 1
        ):  # the return was meant to follow the loop
            loop = _with_body(one, one.body[:-1])
            yield 1.5, [*before, loop, one.body[-1], *after]
        if isinstance(one, (ast.Break, ast.Continue)) and len(body) == 1:
            yield 1.5, [ast.Pass()]
    if isinstance(owner, ast.FunctionDef) and owner.name == entry and owner.args.args:
        name = owner.args.args[0].arg
        for form in _BEFORE:
            yield 2.0, [*_statements(f"{name} = {form.format(name)}"), *body]
        if guards:
            for result in (name, "[]", "0"):
                yield 2.0, [*_statements(f"if not {name}:\n    return {result}"), *body]
            for size in (2, 3, 4):
                for result in (name, "[]"):
                    test = f"if len({name}) < {size}:\n    return {result}"
                    yield 2.5, [*_statements(test), *body]


def _with_body(loop: ast.For | ast.While, body: list[ast.stmt]) -> ast.stmt:
    if isinstance(loop, ast.For):
        return ast.For(loop.target, loop.iter, body, loop.orelse)
    return ast.While(loop.test, body, loop.orelse)


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return ast.UnaryOp(ast.Not(), node)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _statements(text: str) -> list[ast.stmt]:
    return ast.parse(text).body
