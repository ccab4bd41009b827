"""Code generation: write a program as a readable Python function with lines under 80 columns.

The text has a single `def` and uses only builtins. The order of evaluation matters where an
expression may raise an exception. A list that gets a name is therefore computed where it is used,
or earlier in the same branch, and never in the other branch of a conditional.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import PREDICATES, TERMS, feature_text, find_feature
from .grammar import ATOM, OPERATIONS, OR, TERNARY, Node, Text

WIDTH = 79
_NAMES = ("y", "z", "w", "r", "s", "t", "q", "m", "h", "g")
_LONG = 34  # operands with longer text get a name


class TooLong(ValueError):
    """Raised when a program has no text within the allowed line width."""


class BranchWriter:
    """A writer of the Python statements of one branch of a program.

    Methods that return an expression may also add statements that give names to parts of the
    expression.

    Args:
        indent: Number of spaces before each statement.
        taken: Number of variable names already in use.
    """

    def __init__(self, indent: int, taken: int = 0) -> None:
        self.indent = indent
        self.lines: list[str] = []
        self.known: dict[Node, Text] = {}
        self.taken = taken

    def assign_name(self, node: Node) -> Text:
        """Return a variable that holds the value of `node`. If needed, an assignment is added.

        Raises:
            TooLong: If no variable name is left.
        """
        if node not in self.known:
            text = self.expression(node)
            if text.isidentifier():
                return text
            if self.taken == len(_NAMES):
                raise TooLong
            name = Text(_NAMES[self.taken])
            self.taken += 1
            self.add_statement(f"{name} = ", text)
            self.known[node] = name
        return self.known[node]

    def add_statement(self, before: str, text: Text) -> None:
        """Add a statement. A long list comprehension is broken over several lines.

        Args:
            before: Start of the statement, such as "return ".
            text: Expression that ends the statement.

        Raises:
            TooLong: If the statement does not fit the line width.
        """
        pad = " " * self.indent
        line = f"{pad}{before}{text}"
        if len(line) <= WIDTH:
            self.lines.append(line)
            return
        if text.level > ATOM or text[0] != "[" or _closes(text) < len(text) - 1:
            raise TooLong
        parts = _clauses(text[1:-1])
        inner = [f"{pad}    {part}" for part in parts]
        if any(len(line) > WIDTH for line in inner):
            raise TooLong
        self.lines += [f"{pad}{before}[", *inner, f"{pad}]"]

    def expression(self, node: Node) -> Text:
        """Return the Python expression of `node`."""
        if node in self.known:
            return self.known[node]
        op = node.op
        if op == "x":
            return Text("x")
        if op == "const":
            return Text(str(node.args[0]), 1 if node.args[0] < 0 else ATOM)
        if op == "list":
            return Text(f"[{', '.join(str(c) for c in node.args)}]")
        if op in _COMPREHENSIONS:
            return _COMPREHENSIONS[op](self, node)
        if op == "single":
            return self.single(node.args[0])
        return self.operation(node)

    def operation(self, node: Node) -> Text:
        """Return the Python expression of an operation. Long or repeated operands get names."""
        operation = OPERATIONS[node.op]
        operands = []
        for k, part in enumerate(node.args):
            simple = part.op in ("x", "const", "list")
            often = operation.code.count(f"{{{k}") > 1 or operation.code.count("for ") > 1
            text = self.assign_name(part) if often and not simple else self.expression(part)
            long = len(text) > _LONG or (text.level == TERNARY and operation.kind == "list")
            if long and not simple and operation.takes[k] == "L":
                text = self.assign_name(part)
            operands.append(text)
        return Text(operation.code.format(*operands), operation.level)

    def single(self, integer: Node) -> Text:
        """Return Python code for a list of one integer, or an empty list where the integer is
        undefined.
        """
        guards = self.guards(integer)
        text = self.expression(integer)
        if not guards:
            return Text(f"[{text}]")
        return Text(f"[{text}] if {' and '.join(guards)} else []", TERNARY)

    def guards(self, node: Node) -> list[str]:
        """Return the Python conditions under which an integer or a comparison is defined."""
        if node.op == "countif":
            return []
        if node.op not in OPERATIONS:
            return []
        operation = OPERATIONS[node.op]
        found: list[str] = []
        for part, takes in zip(node.args, operation.takes, strict=True):
            if takes == "I" and part.op != "const":
                found += [g for g in self.guards(part) if g not in found]
        if operation.guard:
            operands = [self.assign_name(a) if a.op not in ("const", "x") and t == "L" else self.expression(a)
                        for a, t in zip(node.args, operation.takes, strict=True)]  # fmt: skip
            if node.op == "at" and node.args[1].op == "const":
                found.append(_reaches(operands[0], node.args[1].args[0]))
            elif not (node.op in ("div", "mod") and node.args[1].op == "const"):
                found.append(operation.guard.format(*operands))
        return found

    def condition(self, node: Node) -> Text:
        """Return the Python expression of a test, after the conditions under which the test is
        defined.
        """
        guards = self.guards(node)
        text = self.expression(node)
        if guards:
            return Text(" and ".join([*guards, f"{text:and}"]), 6)
        return text

    # --- comprehensions

    def base(self, node: Node, *elements: Node) -> tuple[Text, str]:
        """Return the list that a comprehension iterates over, and the `for` clause.

        The list gets a name if the text of an element refers to the list.

        Args:
            node: The operation on the elements of the list.
            elements: The terms and tests of the operation.
        """
        base = node.args[0]
        named = any(mentions_base(e) for e in elements)
        text = self.assign_name(base) if named else self.expression(base)
        if len(text) > _LONG or text.level > ATOM:
            text = self.assign_name(base)
        if any(uses_index(e) for e in elements):
            return text, f"for i, v in enumerate({text})"
        return text, f"for v in {text:o}"

    def map(self, node: Node) -> Text:
        """Return Python code of the form `[term for v in base]`."""
        text, loop = self.base(node, node.args[1])
        return Text(f"[{generate_term(node.args[1], text)} {loop}]")

    def filter(self, node: Node) -> Text:
        """Return Python code of the form `[v for v in base if test]`."""
        text, loop = self.base(node, node.args[1])
        return Text(f"[v {loop} if {generate_term(node.args[1], text)}]")

    def map_filter(self, node: Node) -> Text:
        """Return Python code of the form `[term for v in base if test]`."""
        text, loop = self.base(node, node.args[1], node.args[2])
        return Text(
            f"[{generate_term(node.args[2], text)} {loop} if {generate_term(node.args[1], text)}]"
        )

    def map_if(self, node: Node) -> Text:
        """Return Python code of the form `[a if test else b for v in base]`."""
        _, test, then, other = node.args
        text, loop = self.base(node, test, then, other)
        value = f"{generate_term(then, text)} if {generate_term(test, text)} else {generate_term(other, text)}"
        return Text(f"[{value} {loop}]")

    def count_if(self, node: Node) -> Text:
        """Return Python code of the form `sum(test for v in base)`."""
        text, loop = self.base(node, node.args[1])
        return Text(f"sum({generate_term(node.args[1], text)} {loop})")

    def sum_if(self, node: Node) -> Text:
        """Return Python code of the form `sum(v for v in base if test)`."""
        text, loop = self.base(node, node.args[1])
        return Text(f"sum(v {loop} if {generate_term(node.args[1], text)})")

    def sort_by(self, node: Node) -> Text:
        """Return Python code of the form `sorted(base, key=lambda v: term)`."""
        text, _ = self.base(node, node.args[1])
        return Text(f"sorted({text}, key=lambda v: {generate_term(node.args[1], text)})")

    def each_by(self, node: Node) -> Text:
        """Return Python code of the form `[v for v in base for _ in range(count)]`."""
        text, loop = self.base(node, node.args[1])
        return Text(f"[v {loop} for _ in range({generate_term(node.args[1], text)})]")

    def each_of(self, node: Node) -> Text:
        """Return Python code of the form `[term for v in base for _ in range(count)]`."""
        text, loop = self.base(node, node.args[1], node.args[2])
        value, count = (generate_term(part, text) for part in node.args[1:])
        return Text(f"[{value} {loop} for _ in range({count})]")

    def map_each(self, node: Node) -> Text:
        """Return Python code of the form `[n for v in base for n in (term, ...)]`."""
        text, loop = self.base(node, *node.args[1:])
        values = ", ".join(generate_term(part, text) for part in node.args[1:])
        return Text(f"[n {loop} for n in ({values})]")

    def path(self, node: Node) -> Text:
        """Add a loop that counts from each element to the next, and return the variable of its
        result.

        Raises:
            TooLong: If no variable name is left.
        """
        text, pad = self.assign_name(node.args[0]), " " * self.indent
        if self.taken == len(_NAMES):
            raise TooLong
        made = Text(_NAMES[self.taken])
        self.taken += 1
        self.lines += [f"{pad}{made} = []", f"{pad}for a, b in zip({text}, {text}[1:]):"]
        self.lines.append(f"{pad}    {made} += range(a, b, 1 if a < b else -1)")
        self.lines.append(f"{pad}{made} += {text}[-1:]")
        self.known[node] = made
        return made

    def product(self, node: Node) -> Text:
        """Add a loop that multiplies the elements of a list, and return the variable of its
        result.
        """
        text = self.expression(node.args[0])
        self.lines += [f"{' ' * self.indent}p = 1", f"{' ' * self.indent}for v in {text:o}:"]
        self.lines.append(f"{' ' * self.indent}    p *= v")
        self.known[node] = Text("p")
        return self.known[node]

    def until(self, node: Node) -> Text:
        """Return Python code for the elements before the first element that passes a test."""
        return self._cut(node, "{0:a}[:next((i for i, v in {1} if {2}), len({0}))]")

    def since(self, node: Node) -> Text:
        """Return Python code for the elements from the first element that passes a test to
        the end.
        """
        return self._cut(node, "{0:a}[next((i for i, v in {1} if {2}), len({0})):]")

    def _cut(self, node: Node, template: str) -> Text:
        text = self.assign_name(node.args[0])
        return Text(template.format(text, f"enumerate({text})", generate_term(node.args[1], text)))


_COMPREHENSIONS: dict[str, Callable[[BranchWriter, Node], Text]] = {
    "map": BranchWriter.map,
    "filter": BranchWriter.filter,
    "map_filter": BranchWriter.map_filter,
    "map_if": BranchWriter.map_if,
    "countif": BranchWriter.count_if,
    "sumif": BranchWriter.sum_if,
    "sort_by": BranchWriter.sort_by,
    "each_by": BranchWriter.each_by,
    "each_of": BranchWriter.each_of,
    "map_each": BranchWriter.map_each,
    "path": BranchWriter.path,
    "product": BranchWriter.product,
    "until": BranchWriter.until,
    "since": BranchWriter.since,
}


def _closes(text: str) -> int:
    """Return the index of the bracket that closes the first one."""
    depth = 0
    for k, sign in enumerate(text):
        depth += sign in "([{"
        depth -= sign in ")]}"
        if depth == 0:
            return k
    return len(text)


def _clauses(inside: str) -> list[str]:
    """Split a comprehension before each `for`, `if` and `else` outside all brackets."""
    parts, depth, start = [], 0, 0
    for k, sign in enumerate(inside):
        depth += sign in "([{"
        depth -= sign in ")]}"
        if depth == 0 and any(inside.startswith(word, k) for word in (" for ", " if ", " else ")):
            parts.append(inside[start:k].strip())
            start = k
    return [*parts, inside[start:].strip()]


def _reaches(text: Text, index: int) -> str:
    if index in (0, -1):
        return str(text)
    return f"len({text}) > {index}" if index > 0 else f"len({text}) >= {-index}"


def generate_term(node: Node, base: str, input_name: str = "x") -> Text:
    """Return a term or predicate as a Python expression over the element v and the index i.

    Args:
        node: The term or predicate.
        base: Python text of the list that contains the element.
        input_name: Name of the input of the program.
    """
    if node.op == "const":
        return Text(str(node.args[0]), 1 if node.args[0] < 0 else ATOM)
    if node.op in TERMS or node.op in PREDICATES:
        code, _, level = TERMS.get(node.op) or PREDICATES[node.op]
        parts = [generate_term(part, base, input_name) for part in node.args]
        return Text(code.format(*parts), level)
    return feature_text(node.op, base, input_name)


def mentions_base(node: Node) -> bool:
    """Return whether a term refers to the list, and not only to the element and its index."""
    feature = find_feature(node.op)
    if feature is not None:
        return feature.uses_base
    return any(isinstance(a, Node) and mentions_base(a) for a in node.args)


def uses_index(node: Node) -> bool:
    """Return whether a term refers to the index of the element."""
    feature = find_feature(node.op)
    if feature is not None:
        return feature.uses_index
    return any(isinstance(a, Node) and uses_index(a) for a in node.args)


def generate_source(node: Node, kind: str = "list") -> str:
    """Return the Python source of a program.

    Args:
        node: The program.
        kind: Type of the result: "list", "int" or "bool". For "int", the source returns the integer
            of a list of one integer.

    Raises:
        TooLong: If the source does not fit the line width.
    """
    lines = ["def f(x):"]
    write_branch(node, kind, 4, 0, lines)
    return "\n".join(lines)


def write_branch(node: Node, kind: str, indent: int, taken: int, lines: list[str]) -> None:
    """Append the Python lines of a program to `lines`. A conditional is written with both its
    branches.

    Args:
        node: The program.
        kind: Type of the result: "list", "int" or "bool".
        indent: Number of spaces before each line.
        taken: Number of variable names already in use.
        lines: List of lines, to which the new lines are appended.

    Raises:
        TooLong: If a line does not fit the line width.
    """
    writer = BranchWriter(indent, taken)
    if node.op == "if":
        test = writer.condition(node.args[0])
        head = f"{' ' * indent}if {test}:"
        if len(head) > WIDTH:
            raise TooLong
        lines += [*writer.lines, head]
        write_branch(node.args[1], kind, indent + 4, writer.taken, lines)
        write_branch(node.args[2], kind, indent, writer.taken, lines)
        return
    if kind == "bool":
        text = writer.condition(node)
    elif kind == "int" and node.op == "single":
        text = writer.expression(node.args[0])
    else:
        text = writer.expression(node)
    if len(text) > WIDTH - indent - 7 and text.level > ATOM:
        if kind == "list" and node.op == "single" and writer.guards(node.args[0]):
            head = f"{' ' * indent}if {' and '.join(writer.guards(node.args[0]))}:"
            if len(head) > WIDTH:
                raise TooLong
            integer = writer.expression(node.args[0])
            lines += [*writer.lines, head]
            inner = BranchWriter(indent + 4)
            inner.add_statement("return ", Text(f"[{integer}]"))
            lines += [*inner.lines, f"{' ' * indent}return []"]
            return
        text = _shortened(writer, node)
    writer.add_statement("return ", text)
    lines += writer.lines


def _shortened(writer: BranchWriter, node: Node) -> Text:
    """Return the expression after naming the lists that a long expression is made of."""
    for part in node.args:
        if isinstance(part, Node) and node.op in OPERATIONS and part.op not in ("x", "const"):
            writer.assign_name(part)
    return writer.expression(node)


__all__ = ["OR", "TooLong", "generate_source", "generate_term"]
