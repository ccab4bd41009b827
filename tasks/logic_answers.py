"""Reading a model's answer about a rule: the JSON object, or a bare formula among what it says."""

from __future__ import annotations

from typing import NamedTuple

from .json_answers import objects_in

ANSWER_CHARACTERS = 200_000
_OPERATORS = ("and", "or", "not", "implies", "iff", "exists", "forall", "=")


class Said(NamedTuple):
    """formula: None where the answer holds none, and `reason` says why."""

    formula: str | None
    description: str = ""
    reason: str = ""


def read_said(text: str, predicates: tuple[str, ...]) -> Said:
    """The formula of an answer: of the last JSON object that has one; without an object, the last
    parenthesis that starts a formula, up to where it closes or the text ends. Never raises."""
    if not text.strip():
        return Said(None, "", "missing")
    if len(text) > ANSWER_CHARACTERS:
        return Said(None, "", "too_long")
    found = objects_in(text, ("formula",))
    for drafted in reversed(found.objects):
        if isinstance(drafted["formula"], str):
            said = drafted.get("description")
            return Said(drafted["formula"], said if isinstance(said, str) else "")
    if found.objects:
        return Said(None, "", "formula_not_text")
    if found.cut:
        return Said(None, "", "cut")
    bare = _bare(text, predicates)
    return Said(bare) if bare else Said(None, "", "no_formula")


def _bare(text: str, predicates: tuple[str, ...]) -> str | None:
    """The last formula that is not within another, found by its parentheses."""
    last = None
    depth, start = 0, -1
    for at, character in enumerate(text):
        if character == "(":
            if depth == 0:
                words = text[at + 1 : at + 80].split()
                if not words or words[0].rstrip("()") not in (*_OPERATORS, *predicates):
                    continue
                start = at
            depth += 1
        elif character == ")" and depth:
            depth -= 1
            if depth == 0:
                last = text[start : at + 1]
    return text[start:] if depth else last
