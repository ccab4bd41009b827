"""Parsing of Python text that a model wrote, without running it and with a limit on the work.

CPython's parser takes time proportional to the length of most texts. The exceptions were measured
(bench/reading.py). One scan finds and refuses such a text before the parser sees it:

- Identifiers are normalised (NFKC). The normalisation sorts a run of combining characters in time
  that grows with the square of its length: 98 kB took 54 s. A run may be as long as Unicode's
  Stream-Safe Text Format allows (UAX #15, section 13).
- The parser of Python 3.11 searches an f-string from its start for each of its fields.
- The parser joins the dotted name of an import again for each of its components.

Brackets and operators that are nested too deeply raise a MemoryError or RecursionError.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from functools import lru_cache
from typing import Literal, overload

COMBINING_CHARACTERS = 30  # in a row
BRACES = 2_000  # in a text with an f-string
DOTTED_NAMES = 200  # in a row
PARSED_CHARACTERS = 1_000_000  # for all attempts to read one answer

_FSTRING = re.compile(r"[fF][rR]?[\"']")
_DOTS = re.compile(r"(?:\.[\s\\]*+\w++[\s\\]*+)++")


class CostlyText(ValueError):
    """Raised for a text that Python's parser would take too long to parse for its length."""


class BudgetSpent(Exception):
    """Raised when parsing a text would exceed the `ParsingBudget` of an answer."""


class ParsingBudget:
    """A limit on the total number of characters that may be parsed to read one answer of a model.

    The limit counts characters instead of seconds, so that every machine reads an answer in the
    same way.
    """

    def __init__(self, characters: int = PARSED_CHARACTERS) -> None:
        self.characters = characters

    def spend(self, characters: int) -> None:
        """Subtract `characters` from the budget.

        Raises:
            BudgetSpent: Fewer than `characters` characters are left.
        """
        if characters > self.characters:
            raise BudgetSpent
        self.characters -= characters


@overload
def parse_python(
    text: str, mode: Literal["exec"], budget: ParsingBudget | None = None
) -> ast.Module: ...


@overload
def parse_python(
    text: str, mode: Literal["eval"], budget: ParsingBudget | None = None
) -> ast.Expression: ...


def parse_python(
    text: str, mode: Literal["exec", "eval"], budget: ParsingBudget | None = None
) -> ast.Module | ast.Expression:
    """Return the syntax tree of a text. The text is not executed, and no warning is shown.

    Args:
        text: The Python text.
        mode: "exec" for statements, "eval" for one expression.
        budget: A budget from which the length of the text is subtracted; None for no limit.

    Raises:
        BudgetSpent: The budget has too few characters left.
        CostlyText: The parser would take too long to parse the text.
        SyntaxError: The text is not valid Python.
        ValueError: The text contains null bytes, lone surrogates or integers with too many digits.
        RecursionError: The text is nested too deeply.
        MemoryError: The text is nested too deeply.
    """
    if budget is not None:
        budget.spend(len(text))
    if reason := _find_cost(text):
        raise CostlyText(reason)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # A model's source may hold invalid escapes.
        return ast.parse(text) if mode == "exec" else ast.parse(text, mode="eval")


def _find_cost(text: str) -> str:
    """Return why the parser would take long for a text, or an empty text."""
    if not text.isascii() and _longest_run(text) > COMBINING_CHARACTERS:
        return f"over {COMBINING_CHARACTERS} combining characters in a row"
    if text.count("{") > BRACES and _FSTRING.search(text):
        return f"over {BRACES:,} braces in a text with an f-string"
    if text.count(".") > DOTTED_NAMES and any(
        run.group().count(".") > DOTTED_NAMES for run in _DOTS.finditer(text)
    ):
        return f"over {DOTTED_NAMES} names joined by dots"
    return ""


def _longest_run(text: str) -> int:
    """Return the length of the longest run of combining characters, after decomposition."""
    longest = run = 0
    for character in text:
        marks = 0 if character < "\u0300" else _count_marks(character)
        run = run + marks if marks else 0
        longest = max(longest, run)
    return longest


@lru_cache(maxsize=4096)
def _count_marks(character: str) -> int:
    """Return how many combining characters a character consists of; 0 if it holds any other."""
    classes = [unicodedata.combining(part) for part in unicodedata.normalize("NFKD", character)]
    return len(classes) if all(classes) else 0
