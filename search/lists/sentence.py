"""From a node to one sentence that says the rule."""

from __future__ import annotations

from .grammar import OPERATIONS, Node
from .source import element, uses_index

_LETTERS = ("n", "m", "k", "l")
_SPOKEN = {"append", "prepend"}  # operations whose integer is said in its place


class Speaker:
    """Says programs in words; computed counts and places get a letter, explained at the end."""

    def __init__(self) -> None:
        self.letters: dict[Node, str] = {}
        self.meanings: list[str] = []

    def sentence(self, node: Node, kind: str) -> str:
        if kind == "bool":
            return f"say whether {self.say(node)}"
        if kind == "int" and node.op == "single":
            return f"return {self.say(node.args[0])}"
        return f"return {self.say(node)}"

    def letter(self, node: Node) -> str:
        if node not in self.letters and len(self.letters) < len(_LETTERS):
            self.letters[node] = _LETTERS[len(self.letters)]
            self.meanings.append(f"{self.letters[node]} is {self.say(node)}")
        return self.letters.get(node) or self.say(node)

    def say(self, node: Node) -> str:
        op = node.op
        if op == "x":
            return "x"
        if op == "const":
            return str(node.args[0])
        if op == "list":
            return f"the fixed list {list(node.args)}" if node.args else "the empty list"
        if op == "single":
            return f"a list of only {self.say(node.args[0])}"
        if op in _SAYINGS:
            base = "x" if node.args[0].op == "x" else "it"
            parts = [self.say(node.args[0]), *(str(element(a, base)) for a in node.args[1:])]
            more = ", then ".join(parts[2:])
            return _SAYINGS[op].format(*parts, i=_index_words(node), more=more)
        operation = OPERATIONS[op]
        counted = operation.kind == "list" and op not in _SPOKEN
        parts = []
        for part, takes in zip(node.args, operation.takes, strict=True):
            plain = part.op == "const" or not counted or takes == "L"
            parts.append(self.say(part) if plain else self.letter(part))
        return operation.say.format(*parts)


def sentence(node: Node, kind: str = "list") -> str:
    """One sentence that says the rule."""
    speaker = Speaker()
    text = _clause(speaker, node, kind)
    if speaker.meanings:
        text += ", where " + " and ".join(speaker.meanings)
    return text[:1].upper() + text[1:] + "."


def _clause(speaker: Speaker, node: Node, kind: str) -> str:
    if node.op != "if":
        return speaker.sentence(node, kind)
    test, then, other = node.args
    return (
        f"if {speaker.say(test)}, {_clause(speaker, then, kind)}; "
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
