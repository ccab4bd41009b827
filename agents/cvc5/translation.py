"""Python programs from the terms of SMT-LIB that cvc5 finds.

A program has the exact semantics of the theory of strings of SMT-LIB 2.6, whose functions are total:
`str.substr` and `str.at` outside of the text give "", `str.indexof` without an occurrence and
`str.to_int` of anything but decimal digits give -1, `str.from_int` of a negative number gives "", and
`str.replace` replaces the first occurrence, which for an empty pattern is the beginning. Texts are
counted in code points, as Python counts them.

Parts without variables are written as their values. A part that occurs several times is computed
once. Functions that Python lacks are defined within the program, where it uses them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

DEFINITIONS = {
    "char_at": """\
def char_at(text, place):
    return text[place] if 0 <= place < len(text) else ""
""",
    "substring": """\
def substring(text, start, length):
    return text[start:start + length] if start >= 0 and length > 0 else ""
""",
    "index_of": """\
def index_of(text, part, start):
    return text.find(part, start) if start >= 0 else -1
""",
    "to_int": """\
def to_int(text):
    return int(text) if text.isascii() and text.isdigit() else -1
""",
    "from_int": """\
def from_int(number):
    return str(number) if number >= 0 else ""
""",
}
TEMPLATES = {
    "STRING_REPLACE": "{0}.replace({1}, {2}, 1)",
    "STRING_CHARAT": "char_at({0}, {1})",
    "STRING_SUBSTR": "substring({0}, {1}, {2})",
    "STRING_INDEXOF": "index_of({0}, {1}, {2})",
    "STRING_TO_INT": "to_int({0})",
    "STRING_FROM_INT": "from_int({0})",
    "STRING_LENGTH": "len({0})",
    "STRING_PREFIX": "{1}.startswith({0})",
    "STRING_SUFFIX": "{1}.endswith({0})",
    "STRING_CONTAINS": "({1} in {0})",
    "ITE": "({1} if {0} else {2})",
}
CHAINS = {"STRING_CONCAT": " + ", "ADD": " + ", "SUB": " - "}
SHORTEST_NAMED = 2  # operations in a repeated part from which on it gets a name


class Untranslatable(Exception):
    """Raised for a term with an operation that the grammar does not have, or that is too deep."""


def program_of(solution: Any, arguments: list[str], simplify: Callable[[Any], Any]) -> str:
    """Return a Python program with one function `f(x)`.

    Args:
        solution: The term of the function (`cvc5.Term`), a lambda or a constant.
        arguments: The Python text of each of its arguments, such as "x" or "x[1]".
        simplify: Returns the value of a term without variables (`cvc5.Solver.simplify`).

    Raises:
        Untranslatable: The term cannot be written in Python.
    """
    body, names = solution, {}
    if solution.getKind().name == "LAMBDA":
        variables, body = solution
        names = {one.getId(): text for one, text in zip(variables, arguments, strict=True)}
    try:
        text = _Writer(names, simplify).write(body)
        return ast.unparse(ast.parse(text)).replace("def f(x):\n\n", "def f(x):\n", 1)
    except (SyntaxError, RecursionError, MemoryError) as error:  # too deep
        raise Untranslatable(str(error)) from error


class _Writer:
    """Writes one program. `names` are the texts of the variables by the ids of their terms."""

    def __init__(self, names: Mapping[int, str], simplify: Callable[[Any], Any]) -> None:
        self.texts = dict(names)
        self.simplify = simplify
        self.constant: dict[int, bool] = dict.fromkeys(names, False)
        self.uses: Counter[int] = Counter()
        self.sizes: dict[int, int] = dict.fromkeys(names, 0)
        self.lines: list[str] = []
        self.called: set[str] = set()  # of the definitions

    def write(self, body: Any) -> str:
        self._count(body)
        result = self._text(body)
        lines = [*self.lines, f"return {result}"]
        used = [code for name, code in DEFINITIONS.items() if name in self.called]
        inside = "\n".join([*used, *lines])
        return "def f(x):\n" + "\n".join(f"    {line}" for line in inside.split("\n"))

    def _count(self, term: Any) -> None:
        """Count how often each part is used, and whether it has variables."""
        key = term.getId()
        self.uses[key] += 1
        if key in self.constant:
            return
        if term.getKind().name == "VARIABLE":
            raise Untranslatable("a variable that is no argument")
        parts = list(term)
        for part in parts:
            self._count(part)
        keys = [part.getId() for part in parts]
        self.constant[key] = all(self.constant[one] for one in keys)
        self.sizes[key] = 0 if self.constant[key] else 1 + sum(self.sizes[one] for one in keys)

    def _text(self, term: Any) -> str:
        key = term.getId()
        if key not in self.texts:
            text = _literal(self.simplify(term)) if self.constant[key] else self._operation(term)
            if self.uses[key] > 1 and self.sizes[key] >= SHORTEST_NAMED:
                name = f"part{len(self.lines) + 1}"
                self.lines.append(f"{name} = {text}")
                text = name
            self.texts[key] = text
        return self.texts[key]

    def _operation(self, term: Any) -> str:
        kind = term.getKind().name
        texts = [self._text(part) for part in term]
        if kind in CHAINS:
            return f"({CHAINS[kind].join(texts)})"
        if kind not in TEMPLATES:
            raise Untranslatable(f"cvc5 uses {kind}")
        if plain := _with_literals(kind, texts):
            return plain
        self.called.add(TEMPLATES[kind].partition("(")[0])
        return TEMPLATES[kind].format(*texts)


def _with_literals(kind: str, texts: list[str]) -> str | None:
    """Return the plain Python of an operation at fixed places, which needs no definition."""
    numbers = [int(text) if text.isdigit() else None for text in texts[1:]]
    if kind == "STRING_CHARAT" and numbers[0] is not None:
        return f"{texts[0]}[{numbers[0]}:{numbers[0] + 1}]"
    if kind == "STRING_SUBSTR" and numbers[0] is not None and numbers[1] is not None:
        return f"{texts[0]}[{numbers[0]}:{numbers[0] + numbers[1]}]"
    if kind == "STRING_INDEXOF" and numbers[1] is not None:
        return f"{texts[0]}.find({texts[1]}{f', {numbers[1]}' if numbers[1] else ''})"
    return None


def _literal(value: Any) -> str:
    if value.isStringValue():
        return repr(value.toPythonObj())
    if value.isIntegerValue():
        number = value.getIntegerValue()
        return str(number) if number >= 0 else f"({number})"
    if value.isBooleanValue():
        return repr(value.getBooleanValue())
    raise Untranslatable(f"cvc5 does not evaluate {value}")
