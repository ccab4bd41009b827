"""Finding the column or value that words of a sentence refer to.

A sentence may refer to a column by its name, even if the words of the name are joined differently
(`num_publications`, "publications"). It may also use words from the name and the description of the
column together ("recommendation letters" for `num_letters`) if only one column matches. If the
sentence adds a word that occurs in neither, nothing is found: "strong letters" does not refer to
`num_letters`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...records import Json
from .columns import split_name
from .prepared_rows import normalise_value

# Words that do not distinguish columns.
STOP_WORDS = frozenset(
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

# Words that the published sentences of HypoBench's admission sets use, by noun, for columns without
# a description. If a column has a description, only its words are accepted.
UNDESCRIBED = {
    "letter": frozenset(["recommendation"]),
    "activity": frozenset(["strong", "extracurricular"]),
}


def singular(word: str) -> str:
    """Return a word without its plural ending, such as "activity" for "activities"."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def content_roots(words: Sequence[str]) -> frozenset[str]:
    """Return the singular forms of the words, without words that cannot distinguish columns."""
    roots = (singular(word) for word in words if word not in STOP_WORDS)
    return frozenset(root for root in roots if root not in STOP_WORDS)


# Verbs whose past forms are not regular.
IRREGULAR = (
    ("do", "did", "done"), ("go", "went", "gone"), ("have", "had", "had"), ("hold", "held", "held"),
    ("take", "took", "taken"), ("write", "wrote", "written"), ("give", "gave", "given"),
    ("get", "got", "gotten"), ("make", "made", "made"), ("win", "won", "won"),
    ("buy", "bought", "bought"), ("pay", "paid", "paid"), ("leave", "left", "left"),
    ("speak", "spoke", "spoken"), ("teach", "taught", "taught"), ("lead", "led", "led"),
    ("see", "saw", "seen"), ("know", "knew", "known"), ("begin", "began", "begun"),
)  # fmt: skip


def verb_forms(word: str) -> tuple[str, ...]:
    """Return other forms that a verb may have, such as "donated" for "donate" or "donating".

    Some of them are no words; they are only looked up among the words of columns.
    """
    for forms in IRREGULAR:
        if word in forms:
            return tuple(one for one in forms if one != word)
    bases = {word}
    for ending, instead in (("ion", ""), ("ion", "e"), ("ions", ""), ("ions", "e"), ("ied", "y"), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""),
                            ("ing", "e"), ("es", ""), ("s", "")):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) > 1:
            bases.add(word.removesuffix(ending) + instead)
    found = set(bases)
    for base in bases:
        stem = base.removesuffix("e")
        found |= {f"{stem}ed", f"{stem}ing", f"{base}s"}
        if base.endswith("y"):
            found |= {f"{base[:-1]}ied", f"{base[:-1]}ies"}
    return tuple(sorted(found - {word}))


class ColumnLookup:
    """An index of a problem's columns by the words that may refer to them."""

    def __init__(self, columns: Mapping[str, Json]) -> None:
        self.columns = columns
        self.by_words: dict[tuple[str, ...], list[str]] = {}
        self.by_content: dict[frozenset[str], list[str]] = {}
        self.about: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        for column, about in columns.items():
            words = split_name(column)
            own = content_roots(words) or frozenset(map(singular, words))
            told = content_roots(re.findall(r"[^\W_]+", str(about.get("about") or "").lower()))
            if not told:
                told = frozenset().union(*(UNDESCRIBED.get(word, ()) for word in own))
            self.by_words.setdefault(tuple(words), []).append(column)
            self.by_content.setdefault(own, []).append(column)
            self.about[column] = (own, own | told)
        self.known: dict[tuple[str, ...], str | None] = {}

    def kind(self, column: str) -> str:
        """Return the kind of a column, such as "text" or "number"; "choice" by default."""
        return str(self.columns[column].get("kind", "choice"))

    def is_numeric(self, column: str) -> bool:
        """Return whether a column holds numbers.

        A column of choices also counts if all its choices are numbers.
        """
        values = self.columns[column].get("values") or ()
        coded = all(isinstance(normalise_value(value), float) for value in values)
        kind = self.kind(column)
        return kind == "number" or (kind == "choice" and len(values) > 0 and coded)

    def counts(self, column: str) -> bool:
        """Return whether the name or the description of a column says that it is a count."""
        about = str(self.columns[column].get("about") or "").lower()
        return bool({"num", "count", "number"} & {*split_name(column)}) or about.startswith(
            ("number of", "count of")
        )

    def find_by_name(self, name: str) -> str | None:
        """Return the name of the column called `name`, or None.

        If no column has exactly this name, a column whose name differs only in upper and lower case
        is returned, provided that there is only one.
        """
        if name in self.columns:
            return name
        found = [column for column in self.columns if column.lower() == name.lower()]
        return found[0] if len(found) == 1 else None

    def find_column(self, words: Sequence[str]) -> str | None:
        """Return the name of the column to which lower-case words refer.

        The result is None if the words match no column or several columns.
        """
        key = tuple(words)
        if key not in self.known:
            self.known[key] = self.look_up(key)
        return self.known[key]

    def look_up(self, words: tuple[str, ...]) -> str | None:
        """Return the result of `find_column` without using its cache."""
        if len(words) == 1 and (column := self.find_by_name(words[0])):
            return column
        words = tuple(part for word in words for part in re.findall(r"[^\W_]+", word))
        if len(found := self.by_words.get(words, [])) == 1:
            return found[0]
        meant = content_roots(words)
        if not meant:
            return None
        if found := self.by_content.get(meant, []):
            return found[0] if len(found) == 1 else None
        fits = [c for c, (own, told) in self.about.items() if meant & own and meant <= told]
        return fits[0] if len(fits) == 1 else None

    def is_name(self, words: Sequence[str]) -> bool:
        """Return whether the words are the name of a column."""
        return tuple(words) in self.by_words or (
            len(words) == 1 and self.find_by_name(words[0]) is not None
        )

    def find_by_verb(self, words: Sequence[str]) -> str | None:
        """Return the column to which words refer if the verb before them has another form.

        "donate to the school" refers to a column named or described by "donated to the school". The
        result is None if no column or several columns fit.
        """
        forms = verb_forms(words[0]) if words else ()
        found = {column for form in forms if (column := self.find_column([form, *words[1:]]))}
        return found.pop() if len(found) == 1 else None

    def find_value(self, column: str, text: str) -> Json | None:
        """Return the value of a column that an unquoted text denotes, or None."""
        wanted = normalise_value(text)
        if self.kind(column) == "truth":
            return bool(wanted) if wanted in (0.0, 1.0) else None
        for value in self.columns[column].get("values") or ():
            if normalise_value(value) == wanted:
                found: Json = value
                return found
        return None
