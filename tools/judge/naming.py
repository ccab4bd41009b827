"""Which column or value a sentence means by some of its words.

A column goes by its name, however its words are joined (`num_publications`, "publications"), by
words of its name and description together, and by a noun that its name ends ("recommendation
letters" for `num_letters`), each where that fits one column alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...records import Json
from .columns import name_words
from .prepared import plain_value

# Words that tell no column from another.
EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "for",
        "at",
        "to",
        "by",
        "on",
        "is",
        "are",
        "be",
        "was",
        "were",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "their",
        "its",
        "his",
        "her",
        "they",
        "them",
        "it",
        "this",
        "that",
        "these",
        "those",
        "who",
        "whose",
        "with",
        "and",
        "or",
        "number",
        "num",
        "count",
        "amount",
        "total",
        "grade",
        "score",
        "value",
        "level",
        "student",
        "students",
        "applicant",
        "applicants",
        "person",
        "people",
        "column",
        "field",
        "mentioned",
        "given",
        "s",
        "any",
        "some",
    ]
)


def root(word: str) -> str:
    """A word without its plural: activities and activity, letters and letter are one."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def content(words: Sequence[str]) -> frozenset[str]:
    return frozenset(root(word) for word in words if word not in EMPTY)


class Naming:
    """The columns of a problem by what they may be called."""

    def __init__(self, columns: Mapping[str, Json]) -> None:
        self.columns = columns
        self.by_words: dict[tuple[str, ...], list[str]] = {}
        self.by_content: dict[frozenset[str], list[str]] = {}
        self.about: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        for column, about in columns.items():
            words = name_words(column)
            own = content(words) or frozenset(map(root, words))
            told = content(re.findall(r"[^\W_]+", str(about.get("about") or "").lower()))
            self.by_words.setdefault(tuple(words), []).append(column)
            self.by_content.setdefault(own, []).append(column)
            self.about[column] = (own, own | told)
        self.known: dict[tuple[tuple[str, ...], bool], str | None] = {}

    def kind(self, column: str) -> str:
        return str(self.columns[column].get("kind", "choice"))

    def named(self, name: str) -> str | None:
        """The column of exactly that name, else the only one that differs in case."""
        if name in self.columns:
            return name
        found = [column for column in self.columns if column.lower() == name.lower()]
        return found[0] if len(found) == 1 else None

    def column(self, words: Sequence[str], noun: bool = True) -> str | None:
        """The one column that the words (lower case) mean; None where there is none or several.
        noun: the last of them may be its whole name."""
        key = tuple(words), noun
        if key not in self.known:
            self.known[key] = self.look_up(*key)
        return self.known[key]

    def look_up(self, words: tuple[str, ...], noun: bool) -> str | None:
        if len(words) == 1 and (column := self.named(words[0])):
            return column
        words = tuple(part for word in words for part in re.findall(r"[^\W_]+", word))
        if len(found := self.by_words.get(words, [])) == 1:
            return found[0]
        meant = content(words)
        if not meant:
            return None
        if found := self.by_content.get(meant, []):
            return found[0] if len(found) == 1 else None
        fits = [c for c, (own, told) in self.about.items() if meant & own and meant <= told]
        if noun and not fits:  # its name is the noun that the other words tell more of
            heads = [frozenset(map(root, words[n:])) for n in range(1, len(words))]
            nouns = (c for c, (own, _) in self.about.items() if own in heads)
            fits = [column for column in nouns if self.kind(column) != "truth"]
        return fits[0] if len(fits) == 1 else None

    def value(self, column: str, text: str) -> Json | None:
        """The value of a column that an unquoted text means; None where it has none such."""
        wanted = plain_value(text)
        if self.kind(column) == "truth":
            return bool(wanted) if wanted in (0.0, 1.0) else None
        for value in self.columns[column].get("values") or ():
            if plain_value(value) == wanted:
                found: Json = value
                return found
        return None
