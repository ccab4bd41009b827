"""Convert rules for single cells to readable Python code and to English."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .features import Term, context_lines

MAX_LINE_LENGTH = (
    92  # maximum length of a line of a step, which stands in a function and perhaps in a loop
)
_BREAKS = (" for ", " if ", " else ", " and ", " or ", " + ")


class Condition(NamedTuple):
    """A condition on a cell, as Python code and in English, together with its negation."""

    text: str
    says: str
    no_text: str  # for the cells where the condition does not hold
    no_says: str
    cost: float
    term: Term

    def negate(self) -> Condition:
        """Return the negation of this condition."""
        return Condition(self.no_text, self.no_says, self.text, self.says, self.cost, self.term)


class Colour(NamedTuple):
    """A colour that a rule can paint, as a Python expression and in English."""

    text: str
    says: str
    cost: float
    term: Term | None


class _Case(NamedTuple):
    """A clause in the form in which it is written."""

    test: str
    says: str
    colour: Colour


def write_rule(clauses: Sequence[tuple[list[Condition], Colour]], other: Colour) -> tuple[str, str]:
    """Return a decision list as Python code and as an English instruction.

    Args:
        clauses: For each clause, the conditions that must all hold and the colour that the cell
            then gets.
        other: Colour of the cells for which no clause applies.
    """
    terms = [c.term for conditions, _ in clauses for c in conditions]
    terms += [colour.term for _, colour in (*clauses, ((), other)) if colour.term]
    lines = context_lines(terms)
    if len(clauses) == 1 and clauses[0][1].text == "v" and len(clauses[0][0]) == 1:
        clauses, other = [([clauses[0][0][0].negate()], other)], clauses[0][1]
    cases = _cases(clauses, other)
    said = [f"{case.colour.says} if {case.says}" for case in cases]
    says = f"colour each cell {', '.join([*said, 'else ' + other.says]) if said else other.says}"
    if len(cases) < 2:
        value = (
            f"{cases[0].colour.text} if {cases[0].test} else {other.text}" if cases else other.text
        )
        row = "row" if not re.search(r"\bi\b", value) else "i, row"
        cell = "v" if not re.search(r"\bj\b", value) else "j, v"
        over = "for v in row" if cell == "v" else "for j, v in enumerate(row)"
        rows = "for row in g" if row == "row" else "for i, row in enumerate(g)"
        short = f"g = [[{value} {over}] {rows}]"
        if len(short) <= MAX_LINE_LENGTH:
            return _joined([*lines, short]), says
    lines += ["out = [list(row) for row in g]", "for i, row in enumerate(g):"]
    lines += ["    for j, v in enumerate(row):"]
    word = "if"
    for case in cases:
        lines += [f"        {word} {case.test}:", f"            out[i][j] = {case.colour.text}"]
        word = "elif"
    if other.text != "v":
        inner = "            " if cases else "        "
        lines += ["        else:"] * bool(cases) + [f"{inner}out[i][j] = {other.text}"]
    return _joined([*lines, "g = out"]), says


def _cases(clauses: Sequence[tuple[list[Condition], Colour]], other: Colour) -> list[_Case]:
    """Return the clauses in the form in which people write them.

    Clauses of one colour are joined by "or". A first clause with the colour of the default becomes
    an "and not" of the second.
    """
    cases: list[_Case] = []
    for conditions, colour in clauses:
        test = " and ".join(
            _bracketed(c.text) if len(conditions) > 1 else c.text for c in conditions
        )
        says = " and ".join(c.says for c in conditions)
        if cases and cases[-1].colour == colour:
            before = cases.pop()
            test, says = f"{before.test} or {test}", f"{before.says} or {says}"
        cases.append(_Case(test, says, colour))
    if len(cases) == 2 and cases[0].colour == other and len(clauses) == 2:
        (first, *more), _ = clauses[0]
        if not more:
            test = f"{_bracketed(first.no_text)} and {_bracketed(cases[1].test)}"
            return [_Case(test, f"{first.no_says} and {cases[1].says}", cases[1].colour)]
    return cases


def _bracketed(text: str) -> str:
    """Return a condition so that it can be part of an "and"."""
    return f"({text})" if len(_parts(text, (" or ", " if "))) > 1 else text


def _joined(lines: list[str]) -> str:
    return "\n".join(part for line in lines for part in wrap_line(line))


def wrap_line(line: str) -> list[str]:
    """Return a line of code, split into several if it is longer than `MAX_LINE_LENGTH`."""
    if len(line) <= MAX_LINE_LENGTH:
        return [line]
    space = line[: len(line) - len(line.lstrip())]
    text = line.strip()
    cut = re.match(r"(?:(?:el)?if |[a-z_\[\]]+ = )", text)
    opening = cut.group() if cut else ""
    rest = text[len(opening) :]
    colon = ":" if opening.endswith("if ") else ""
    rest = rest.removesuffix(colon)
    if rest.startswith("not (") and _closed(rest[4:]):
        opening, rest = opening + "not ", rest[4:]
    if _closed(rest):
        opening, rest, closing = opening + rest[0], rest[1:-1], rest[-1] + colon
    else:
        opening, closing = opening + "(", ")" + colon
    inner = [space + "    " + part for part in _parts(rest)]
    return [
        space + opening,
        *(part for one in inner for part in wrap_expression(one)),
        space + closing,
    ]


def wrap_expression(line: str) -> list[str]:
    """Return a part of an expression as one line, or as several lines if it is too long.

    A line of more than `MAX_LINE_LENGTH` characters is split at its first long pair of brackets.
    """
    at = next((k for k, c in enumerate(line) if c in "([{" and _end(line, k) - k > 30), None)
    if len(line) <= MAX_LINE_LENGTH or at is None:
        return [line]
    space = line[: len(line) - len(line.lstrip())]
    end = _end(line, at)
    inner = [space + "    " + part for part in _parts(line[at + 1 : end])]
    return [
        line[: at + 1],
        *(part for one in inner for part in wrap_expression(one)),
        space + line[end:],
    ]


def _end(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`."""
    depth = 0
    for k in range(start, len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if not depth:
            return k
    return start


def _closed(text: str) -> bool:
    """Return whether a single pair of brackets encloses the text."""
    return text[:1] in tuple("([{") and _end(text, 0) == len(text) - 1


def _parts(text: str, words: tuple[str, ...] = _BREAKS) -> list[str]:
    """Split the text before the joining words, outside of brackets."""
    depth, at, parts = 0, 0, []
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if not depth and k > at and any(text.startswith(word, k) for word in words):
            parts.append(text[at:k])
            at = k + 1
    return [*parts, text[at:]]
