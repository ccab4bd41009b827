"""Read the text of a formula. Nothing is executed: only the syntax tree of Python's parser is used.

A text is the right-hand side of a law, such as `exp(-theta ** 2 / 2) / sqrt(2 * pi)`. It may begin
with the name of the target, as in `energy = 0.5 * m * v ** 2`, and `^` means a power. Names are
columns, the constants `pi` and `e`, and free constants `c0`, `c1` and so on, in this order: a column
called `e` hides the constant.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import unicodedata
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from ..python_parser import parse_python
from .expressions import (
    COMPARISONS,
    CONSTANTS,
    FUNCTIONS,
    Column,
    Constant,
    Expression,
    FreeConstant,
    Number,
    Operation,
    Text,
    iter_nodes,
)

MAX_CHARACTERS = 4_000
MAX_DEPTH = 100
MAX_NODES = 600
FREE_CONSTANT = re.compile(r"c\d{1,3}")
SYNONYMS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "ln": "log", "fabs": "abs",
    "Abs": "abs",
}  # fmt: skip
_MODULES = ("np", "numpy", "math")  # as in np.sqrt, which language models write
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.BitXor: "**",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "and", ast.Or: "or", ast.BitAnd: "and", ast.BitOr: "or",
}  # fmt: skip
LONGEST_IDENTIFIER, DIGITS = (
    60,
    6,
)  # characters of a column's name in formulas, and of a number at its end
_TARGET = re.compile(r"[\w\s()\[\]./%'\"`-]*?(?<![=<>!])=(?!=)")
_SIGNS = re.compile(
    r"'[^']*'|\"[^\"]*\"|[\^\u2212\u00d7\u00b7\u22c5\n\r\t]"
)  # texts stay as they are
_SIGNS_IN_PYTHON = {"^": "**", "\u2212": "-", "\u00d7": "*", "\u00b7": "*", "\u22c5": "*"}


class FormulaError(ValueError):
    """Raised for a text that is no formula. The message is a clause that says why."""


def parse_formula(
    text: str,
    columns: Collection[str],
    categories: Collection[str] = (),
    *,
    free_constants: bool = False,
) -> Expression:
    """Return the expression tree of a formula.

    Args:
        text: The formula, for example `0.5 * m * v ** 2`; `NAME = ` may precede it.
        columns: The identifiers of all columns.
        categories: The identifiers of the columns that hold categories. They may only be compared
            with a text, as in `species == 'setosa'`.
        free_constants: Whether the formula may have free constants `c0`, `c1` and so on.

    Raises:
        FormulaError: The text is no formula.
    """
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(f"it has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    written = _SIGNS.sub(_in_python, _without_target(text)).strip()
    if not written:
        raise FormulaError("there is no formula")
    try:
        tree = parse_python(written, "eval").body
    except SyntaxError as error:
        near = (error.text or "").strip()[:60]
        raise FormulaError(f"it is no formula: {error.msg}{f' in {near!r}' * bool(near)}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"it cannot be read: {error or 'it is nested too deeply'}") from None
    found = _Reader(columns, categories, free_constants).read(tree, 1)
    if isinstance(found, Text):
        raise FormulaError(f"it is the text {found.value!r}, and a law gives a number")
    if sum(1 for _ in iter_nodes(found)) > MAX_NODES:
        raise FormulaError(f"it has more than {MAX_NODES} parts")
    return found


def _in_python(found: re.Match[str]) -> str:
    sign = found.group()
    return sign if len(sign) > 1 else _SIGNS_IN_PYTHON.get(sign, " ")


def _without_target(text: str) -> str:
    """Return the right-hand side of `target = formula`, or the text if it has no left-hand side."""
    found = _TARGET.match(text)
    return text[found.end() :] if found else text


class _Reader:
    """Convert Python's syntax tree to an expression, for the columns of one table."""

    def __init__(
        self, columns: Collection[str], categories: Collection[str], free_constants: bool
    ) -> None:
        self.columns = columns
        self.categories = categories
        self.free_constants = free_constants

    def read(self, node: ast.expr, depth: int) -> Expression:
        """Return an expression that is a number in every row.

        Raises:
            FormulaError: It is no such expression.
        """
        if depth > MAX_DEPTH:
            raise FormulaError(f"it is nested more than {MAX_DEPTH} deep")
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return _number(value)
            case ast.Constant(value=str() as text):
                raise FormulaError(
                    f"the text {text!r} may only be compared with a column of texts, as in"
                    " column == 'text'"
                )
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
                return self._name(name)
            case ast.UnaryOp(op=ast.USub()):
                return _negate(self.read(node.operand, depth + 1))
            case ast.UnaryOp(op=ast.UAdd()):
                return self.read(node.operand, depth + 1)
            case ast.UnaryOp(op=ast.Not() | ast.Invert()):
                return Operation("not", (self.read(node.operand, depth + 1),))
            case ast.BinOp() if type(node.op) in _OPERATORS:
                sides = self.read(node.left, depth + 1), self.read(node.right, depth + 1)
                return Operation(_OPERATORS[type(node.op)], sides)
            case ast.BoolOp():
                return self._joined(
                    _OPERATORS[type(node.op)], [self.read(one, depth + 1) for one in node.values]
                )
            case ast.Compare():
                return self._comparison(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.IfExp():
                parts = (node.test, node.body, node.orelse)
                return Operation("where", tuple(self.read(one, depth + 1) for one in parts))
        raise FormulaError(f"{_shown(node)} is not a part of a formula")

    def _name(self, name: str) -> Expression:
        if name in self.categories:
            raise FormulaError(
                f"the column {name} holds texts: compare it with one, as in {name} == 'text'"
            )
        if name in self.columns:
            return Column(name)
        if name in CONSTANTS:
            return Constant(name)
        if FREE_CONSTANT.fullmatch(name):
            if self.free_constants:
                return FreeConstant(name)
            raise FormulaError(f"{name} is a free constant: write a number in its place")
        if name in FUNCTIONS or name in SYNONYMS or name == "where":
            raise FormulaError(f"{name} is a function: write its argument in parentheses")
        raise FormulaError(f"there is no column {name}{_nearest(name, self.columns)}")

    def _joined(self, name: str, parts: list[Expression]) -> Expression:
        found = parts[0]
        for one in parts[1:]:
            found = Operation(name, (found, one))
        return found

    def _comparison(self, node: ast.Compare, depth: int) -> Expression:
        sides = [node.left, *node.comparators]
        parts = []
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            name = _OPERATORS.get(type(op))
            if name not in COMPARISONS:
                raise FormulaError(f"{_shown(node)} is no comparison of two values")
            parts.append(self._compared(name, left, right, depth))
        return self._joined("and", parts)

    def _compared(self, name: str, left: ast.expr, right: ast.expr, depth: int) -> Expression:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, ast.Name) and one.id in self.categories:
                is_text = isinstance(other, ast.Constant) and isinstance(other.value, str)
                if name not in ("==", "!=") or not is_text:
                    raise FormulaError(
                        f"the column {one.id} holds texts, which may only be compared with a text"
                        f" by == or !=, as in {one.id} == 'text'"
                    )
                return Operation(name, (Column(one.id), Text(other.value)))  # type: ignore[attr-defined]
        return Operation(name, (self.read(left, depth + 1), self.read(right, depth + 1)))

    def _call(self, node: ast.Call, depth: int) -> Expression:
        match node.func:
            case ast.Name(id=called):
                pass
            case ast.Attribute(value=ast.Name(id=module), attr=called) if module in _MODULES:
                pass
            case _:
                raise FormulaError(f"{_shown(node.func)} is no function")
        name = SYNONYMS.get(called, called)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise FormulaError(f"{called} takes its arguments in order, without names")
        count = len(node.args)
        if called in ("pow", "power") and count == 2:
            base, exponent = (self.read(one, depth + 1) for one in node.args)
            return Operation("**", (base, exponent))
        if name not in (*FUNCTIONS, "where"):
            raise FormulaError(
                f"there is no function {called}{_nearest(called, (*FUNCTIONS, 'where'))}"
            )
        if count != (3 if name == "where" else 1):
            takes = "three arguments: condition, a, b" if name == "where" else "one argument"
            raise FormulaError(f"{called} takes {takes}, not {count}")
        return Operation(name, tuple(self.read(one, depth + 1) for one in node.args))


def _number(value: float) -> Number:
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise FormulaError("it has a number that is too large")
    return Number(found)


def _negate(operand: Expression) -> Expression:
    return (
        Number(-operand.value) if isinstance(operand, Number) else Operation("negate", (operand,))
    )


def _shown(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "this text"
    return repr(text if len(text) <= 60 else f"{text[:57]}…")


def _nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    if near := get_close_matches(name, names, 1):
        return f"; did you mean {near[0]}?"
    shown = ", ".join(names[:20])
    return f"; there are {shown}{', …' * (len(names) > 20)}" if names else ""


# --- identifiers ----------------------------------------------------------------------


def make_identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return an identifier for each column name, by name, in the order of the names.

    A name that can stand in a formula is its own identifier. In other names, characters that cannot
    stand in an identifier become `_`, and of long names the beginning is kept. Names of functions, `pi`,
    keywords of Python and repeated identifiers get a number at their end.
    """
    found: dict[str, str] = {}
    names = list(names)
    own = {name for name in names if _is_identifier(name)}
    taken = set(own)
    for name in names:
        if name in own:
            found[name] = name
            continue
        plain = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", name)).strip("_") or "column"
        plain = plain[:LONGEST_IDENTIFIER]
        base = plain if plain.isidentifier() else f"x_{plain}"
        if not base.isidentifier():
            base = "column"
        free, number = base, 1
        while free in taken or not _is_identifier(free):
            number += 1
            free = f"{base}_{number}"
        taken.add(free)
        found[name] = free
    return found


def _is_identifier(name: str) -> bool:
    reserved = name in FUNCTIONS or name in SYNONYMS or name in _MODULES or name in ("where", "pi")
    same = unicodedata.normalize("NFKC", name) == name and len(name) <= LONGEST_IDENTIFIER + DIGITS
    return name.isidentifier() and same and not keyword.iskeyword(name) and not reserved
