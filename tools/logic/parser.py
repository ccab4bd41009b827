"""A parser for formulas in the published grammar (ABD, appendix B.1).

    f ::= (not f) | (and f f+) | (or f f+) | (implies f f) | (iff f f)
        | (forall v f) | (exists v f) | (= t t) | (PRED t*)
    v ::= one lower-case letter      t ::= v, or any other token: the name of an object

The parser accepts the same texts as the published evaluator, so that recorded answers are judged in
the same way. `rules.py` checks which of these formulas may be used as a rule. The parser is a loop
over tokens, so it can read ten thousand nested parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from .formula import BINARY, QUANTIFIERS, Formula, FormulaBuilder, Kind, is_variable

_TOKEN = re.compile(r"[()]|[^\s()]+")
_CONNECTIVES: tuple[Kind, ...] = ("not", *BINARY)
_SHOWN = 60  # characters of the text that an error message quotes


class FormulaError(Exception):
    """Raised for a text that is not a formula.

    Attributes:
        kind: The kind of error: "end", "open", "close", "unknown", "few", "variable" or "trailing".
        place: Offset of the error in the text, in characters from 0.
        token: The text found at this offset.
        operator: The operator whose arguments are wrong; "" for other kinds of errors.
        count: Number of arguments found, for the kind "few".
    """

    def __init__(
        self, kind: str, place: int, token: str = "", operator: str = "", count: int = 0
    ) -> None:
        self.kind, self.place, self.token = kind, place, token
        self.operator, self.count = operator, count
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """A sentence that describes the error and its position."""
        at = f"character {self.place + 1}"
        return {
            "end": f"the formula ends too early, at {at}",
            "open": f"{at}: a formula starts with '(', not with {_cut(self.token)!r}",
            "close": f"{at}: ')' is due, not {_cut(self.token)!r}",
            "unknown": f"{at}: {_cut(self.token)!r} is no operator and no predicate",
            "few": f"{at}: '{self.operator}' takes at least 2 arguments, not {self.count}",
            "variable": f"{at}: '{self.operator}' binds one lower-case letter, not"
            f" {_cut(self.token)!r}",
            "trailing": f"{at}: something follows the formula: {_cut(self.token)}",
        }[self.kind]


class RepairedFormula(NamedTuple):
    """A formula, and the number of missing closing parentheses that were added to its text."""

    formula: Formula
    closed: int


class _Token(NamedTuple):
    text: str
    place: int


@dataclass
class _Open:
    """A formula whose parts are still being read."""

    kind: Kind
    place: int
    variable: str = ""
    parts: list[int] = field(default_factory=list)


def parse_formula(text: str, predicates: Collection[str]) -> Formula:
    """Parse the text of a formula.

    Args:
        text: The text.
        predicates: Names of the predicates that the formula may use. The number of their arguments
            is not checked.

    Raises:
        FormulaError: The text is not a formula.
    """
    tokens = [_Token(found.group(), found.start()) for found in _TOKEN.finditer(text)]
    reader = _Reader(tokens, len(text), predicates)
    whole = reader.formula()
    if reader.next < len(tokens):
        rest = tokens[reader.next :]
        raise FormulaError("trailing", rest[0].place, " ".join(token.text for token in rest))
    return reader.builder.formula(whole)


def parse_repaired(text: str, predicates: Collection[str]) -> RepairedFormula:
    """Parse the text of a formula, adding closing parentheses that are missing at its end.

    The text is repaired only if nothing else is missing (ABD, section 6 and appendix H.2).

    Raises:
        FormulaError: The text cannot be repaired. If only parentheses were missing but the repaired
            text is still not a formula, the error describes the repaired text.
    """
    try:
        return RepairedFormula(parse_formula(text, predicates), 0)
    except FormulaError as error:
        missing = _missing(text)
        if error.kind != "end" or missing <= 0:
            raise
    return RepairedFormula(parse_formula(text.rstrip() + ")" * missing, predicates), missing)


def _missing(text: str) -> int:
    balance = 0
    for character in text:
        balance += (character == "(") - (character == ")")
        if balance < 0:
            return 0
    return balance


class _Reader:
    def __init__(self, tokens: list[_Token], end: int, predicates: Collection[str]) -> None:
        self.tokens = tokens
        self.end = end
        self.predicates = frozenset(predicates)
        self.next = 0
        self.builder = FormulaBuilder()

    def formula(self) -> int:
        """Read one formula from the current token and return the index of its node."""
        stack: list[_Open] = []
        done = self._start(stack)
        while stack:
            top = stack[-1]
            if done is not None:
                top.parts.append(done)
            if self._expects_part(top):
                done = self._start(stack)
                continue
            if top.kind in ("and", "or") and len(top.parts) < 2:
                raise FormulaError("few", top.place, "", top.kind, len(top.parts))
            self._close()
            stack.pop()
            if top.kind in QUANTIFIERS:
                done = self.builder.bind(top.kind, top.variable, top.parts[0])
            else:
                done = self.builder.connect(top.kind, top.parts)
        assert done is not None
        return done

    def _expects_part(self, top: _Open) -> bool:
        if top.kind in ("and", "or"):
            return self.next >= len(self.tokens) or self.tokens[self.next].text != ")"
        return len(top.parts) < (2 if top.kind in BINARY else 1)

    def _start(self, stack: list[_Open]) -> int | None:
        """Start a formula: read an atom in full, or put anything else on the stack."""
        opening = self._token()
        if opening.text != "(":
            raise FormulaError("open", opening.place, opening.text)
        operator = self._token()
        if operator.text in _CONNECTIVES:
            stack.append(_Open(_kind(operator.text), opening.place))
            return None
        if operator.text in QUANTIFIERS:
            variable = self._token()
            if not is_variable(variable.text):
                raise FormulaError("variable", variable.place, variable.text, operator.text)
            stack.append(_Open(_kind(operator.text), opening.place, variable.text))
            return None
        if operator.text == "=":
            terms = (self._token().text, self._token().text)
            self._close()
            return self.builder.equal(*terms)
        if operator.text not in self.predicates:
            raise FormulaError("unknown", operator.place, operator.text)
        return self._atom(operator.text)

    def _atom(self, predicate: str) -> int:
        terms: list[str] = []
        while (token := self._token()).text != ")":
            terms.append(token.text)
        return self.builder.atom(predicate, terms)

    def _close(self) -> None:
        token = self._token()
        if token.text != ")":
            raise FormulaError("close", token.place, token.text)

    def _token(self) -> _Token:
        if self.next >= len(self.tokens):
            raise FormulaError("end", self.end)
        self.next += 1
        return self.tokens[self.next - 1]


def _kind(text: str) -> Kind:
    return next(kind for kind in (*_CONNECTIVES, *QUANTIFIERS) if kind == text)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
