"""The small changes that a Python file offers: which there are, and how one is found again. A part of
mutants.py, whose docstring says what they are for."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

OPERATORS = ("comparison", "sum", "number", "and-or", "condition", "return", "call")


@dataclass(frozen=True)
class Mutant:
    """One change. function: the qualified name. line: its text without margins. ordinal: which of the
    places with the same file, function, operator and line. becomes: the line after the change."""

    file: str
    function: str
    operator: str
    line: str
    ordinal: int
    becomes: str

    @property
    def where(self) -> tuple[str, str, str]:
        """What identifies it within a file, together with the ordinal."""
        return self.function, self.operator, self.line

    def __str__(self) -> str:
        return f"{self.file}, {self.function}: {self.line}  ->  {self.becomes}"


@dataclass(frozen=True)
class Edit:
    """A replacement of bytes start:stop of a file."""

    start: int
    stop: int
    text: bytes

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text + source[self.stop :]


# --- the changes that a file offers ---------------------------------------------

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
SUMS: dict[type[ast.operator], tuple[str, str]] = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}


class Places(ast.NodeVisitor):
    """Collects the edits of one file: (function, operator, edit)."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[tuple[str, str, Edit]] = []
        self._names: list[str] = []
        self._in_function = False
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node, node.body, False)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._enter(node, node.body, True)  # neither defaults nor annotations nor decorators

    visit_AsyncFunctionDef = visit_FunctionDef

    def _enter(self, node: Any, body: Sequence[ast.stmt], function: bool) -> None:
        outer = self._in_function
        self._names.append(node.name)
        self._in_function = function
        for statement in body:
            self.visit(statement)
        self._in_function = outer
        self._names.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages of errors are left as they are."""

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for at, kind in enumerate(node.ops):
            self._replace("comparison", sides[at], sides[at + 1], *COMPARISONS[type(kind)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in SUMS:
            self._replace("sum", node.left, node.right, *SUMS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._replace("and-or", left, right, *words)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            self._add("number", Edit(*self._span(node), str(node.value + 1).encode()))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Before Python 3.12 places within an f-string are not told."""

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        start, stop = self._span(node.test)
        text = b"not (" + self.source[start:stop] + b")"
        self._add("condition", Edit(start, stop, text))
        self.generic_visit(node)

    visit_While = visit_IfExp = visit_If

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            self._add("return", Edit(*self._span(value), b"None"))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        called = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(called, ast.Call):
            self._add("call", Edit(*self._span(node), b"pass"))
        self.generic_visit(node)

    def _span(self, node: Any) -> tuple[int, int]:
        """Its bytes, and the parentheses around it are not among them."""
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _replace(self, operator: str, left: ast.AST, right: ast.AST, old: str, new: str) -> None:
        begin, end = self._span(left)[1], self._span(right)[0]
        between = self.source[begin:end].decode()
        pattern = r"\b" + old.replace(" ", r"\s+") + r"\b" if old.isalpha() or " " in old else None
        place = re.search(pattern or re.escape(old), re.sub(r"#.*", _blank, between))
        if place is not None:
            start = begin + len(between[: place.start()].encode())
            self._add(operator, Edit(start, start + len(place[0].encode()), new.encode()))

    def _add(self, operator: str, edit: Edit) -> None:
        if self._in_function:
            self.found.append((".".join(self._names), operator, edit))


def _blank(comment: re.Match[str]) -> str:
    return " " * len(comment[0])


def mutants_of(file: str, source: bytes) -> list[tuple[Mutant, Edit]]:
    """Return all changes that a file offers and that compile to another program, in source order."""
    tree = ast.parse(source)
    places = Places(source)
    places.visit(tree)
    bare = without_comments(source)
    plain = ast.dump(tree)
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    found = []
    for function, operator, edit in sorted(places.found, key=lambda one: one[2].start):
        changed = edit.apply(source)
        try:
            if ast.dump(ast.parse(changed)) == plain:
                continue
        except SyntaxError:
            continue
        line = _line_at(bare, edit.start)
        key = (function, operator, line)
        becomes = _line_at(edit.apply(bare), edit.start)
        found.append((Mutant(file, function, operator, line, counts[key], becomes), edit))
        counts[key] += 1
    return found


def without_comments(source: bytes) -> bytes:
    """Return the source with blanks in the place of comments, which do not identify a line."""
    lines = source.splitlines(keepends=True)
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            text = lines[row - 1].decode()
            start = len(text[:column].encode())
            size = len(token.string.encode())
            lines[row - 1] = lines[row - 1][:start] + b" " * size + lines[row - 1][start + size :]
    return b"".join(lines)


def _line_at(source: bytes, at: int) -> str:
    start = source.rfind(b"\n", 0, at) + 1
    return source[start:].split(b"\n", 1)[0].decode().strip()
