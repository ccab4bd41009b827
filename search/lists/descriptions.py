"""English descriptions of list programs: one sentence for each program."""

from __future__ import annotations

from .codegen import generate_term, uses_index
from .grammar import OPERATIONS, Node

_LETTERS = ("n", "m", "k", "l")
_SPOKEN = {"append", "prepend"}  # operations whose integer is described in place


class Describer:
    """A writer that describes list programs in English.

    Computed counts and positions get letters, which `meanings` explains for the end of the
    sentence.
    """

    def __init__(self) -> None:
        self.letters: dict[Node, str] = {}
        self.meanings: list[str] = []

    def describe_result(self, node: Node, kind: str) -> str:
        """Return a clause that describes the result of a program, without a capital letter or a
        full stop.

        Args:
            node: The program.
            kind: Type of the result: "list", "int" or "bool".
        """
        if kind == "bool":
            return f"say whether {self.describe(node)}"
        if kind == "int" and node.op == "single":
            return f"return {self.describe(node.args[0])}"
        return f"return {self.describe(node)}"

    def name_integer(self, node: Node) -> str:
        """Return a letter for the integer that `node` computes, or its description if no letter is
        left.
        """
        if node not in self.letters and len(self.letters) < len(_LETTERS):
            self.letters[node] = _LETTERS[len(self.letters)]
            self.meanings.append(f"{self.letters[node]} is {self.describe(node)}")
        return self.letters.get(node) or self.describe(node)

    def describe(self, node: Node) -> str:
        """Return an English description of the program, or the part of a program, that `node` is
        the root of.
        """
        op = node.op
        if op == "x":
            return "x"
        if op == "const":
            return str(node.args[0])
        if op == "list":
            return f"the fixed list {list(node.args)}" if node.args else "the empty list"
        if op == "single":
            return f"a list of only {self.describe(node.args[0])}"
        if op in _SAYINGS:
            base = "x" if node.args[0].op == "x" else "it"
            parts = [
                self.describe(node.args[0]),
                *(str(generate_term(a, base)) for a in node.args[1:]),
            ]
            more = ", then ".join(parts[2:])
            return _SAYINGS[op].format(*parts, i=_index_words(node), more=more)
        operation = OPERATIONS[op]
        counted = operation.kind == "list" and op not in _SPOKEN
        parts = []
        for part, takes in zip(node.args, operation.takes, strict=True):
            plain = part.op == "const" or not counted or takes == "L"
            parts.append(self.describe(part) if plain else self.name_integer(part))
        return operation.say.format(*parts)


def describe_program(node: Node, kind: str = "list") -> str:
    """Return one English sentence that describes a list program.

    Args:
        node: The program.
        kind: Type of the result: "list", "int" or "bool".
    """
    speaker = Describer()
    text = _clause(speaker, node, kind)
    if speaker.meanings:
        text += ", where " + " and ".join(speaker.meanings)
    return text[:1].upper() + text[1:] + "."


def _clause(speaker: Describer, node: Node, kind: str) -> str:
    if node.op != "if":
        return speaker.describe_result(node, kind)
    test, then, other = node.args
    return (
        f"if {speaker.describe(test)}, {_clause(speaker, then, kind)}; "
        f"otherwise {_clause(speaker, other, kind)}"
    )


def _index_words(node: Node) -> str:
    return " at index i" if any(uses_index(a) for a in node.args[1:]) else ""


_SAYINGS = {
    "map": "{1} for each element v{i} of {0}",
    "filter": "the elements v{i} of {0} with {1}",
    "map_filter": "{2} for each element v{i} of {0} with {1}",
    "map_if": "{2} where {1}, else {3}, for each element v{i} of {0}",
    "countif": "the number of elements v{i} of {0} with {1}",
    "sumif": "the sum of the elements v{i} of {0} with {1}",
    "sort_by": "{0} in ascending order of {1}",
    "each_by": "each element v{i} of {0} repeated {1} times",
    "each_of": "{1} for each element v{i} of {0}, repeated {2} times",
    "map_each": "{1}, then {more}, for each element v{i} of {0}",
    "until": "{0} up to the first element v{i} with {1}",
    "since": "{0} from the first element v{i} with {1} on",
}
