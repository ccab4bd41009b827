"""The names of columns and the sides of a pair, from the public description of a problem."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...records import Json

FIRST = {"1", "first", "one"}
SECOND = {"2", "second", "two"}


def find_text_columns(public: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the columns of text.

    For a pair, the column of the first text comes first: by the names of the columns (`tweet_1`,
    `first_tweet`), else in the order of the file.
    """
    columns: Mapping[str, Json] = public["columns"]
    found = [name for name, about in columns.items() if about.get("kind") == "text"]
    if (
        public.get("shape") == "pair"
        and len(found) == 2
        and (find_side(found[0]), find_side(found[1])) == (1, 0)
    ):
        found.reverse()
    return tuple(found)


def split_name(name: str) -> list[str]:
    """Return the words of a column's name: `mathGrade_2` gives math, grade, 2."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[^\W\d_])(?=\d)", " ", name)
    return re.findall(r"[^\W_]+", apart.lower())


def find_side(name: str) -> int | None:
    """Return the text, 0 or 1, that the first ordinal in a name denotes; None without one."""
    words = split_name(name)
    for word in words:
        if word in FIRST or word in SECOND:
            return int(word in SECOND)
    if words and len(words) <= 2 and words[-1] in ("a", "b"):  # "text A" and "text B"
        return int(words[-1] == "b")
    return None


def pair_labels(labels: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the labels that mean "the first text" and "the second text" of a pair.

    The result is None unless there are two labels that name one text each ("first", "Headline 2 has
    more clicks than Headline 1").
    """
    if len(labels) != 2:
        return None
    sides = [find_side(label) for label in labels]
    if sides == [0, 1]:
        return labels[0], labels[1]
    return (labels[1], labels[0]) if sides == [1, 0] else None
