"""Functions that interpret column names and labels, such as "first" in pairs of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...records import Json

FIRST = {"1", "first", "one"}
SECOND = {"2", "second", "two"}


def find_text_columns(public: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of the text columns of a problem.

    If rows are pairs of texts, the column of the first text comes first. The names of the columns
    decide which text is first (`tweet_1`, `first_tweet`). If the names do not tell, the order of
    the columns is kept.

    Args:
        public: The public description of the problem, with its columns and shape.
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
    """Return the words of a column's name in lower case: `mathGrade_2` gives math, grade, 2."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[^\W\d_])(?=\d)", " ", name)
    return re.findall(r"[^\W_]+", apart.lower())


def find_side(name: str) -> int | None:
    """Return 0 if a name refers to the first text of a pair, 1 for the second, None otherwise.

    Names refer to a text by an ordinal or a number, or by a final "a" or "b".
    """
    words = split_name(name)
    for word in words:
        if word in FIRST or word in SECOND:
            return int(word in SECOND)
    if words and len(words) <= 2 and words[-1] in ("a", "b"):  # "text A" and "text B"
        return int(words[-1] == "b")
    return None


def pair_labels(labels: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the label for "the first text" and the label for "the second text" of a pair.

    The result is None unless there are exactly two labels and each refers to a different text, such
    as "first" and "second", or "Headline 2 has more clicks than Headline 1" and its counterpart.
    """
    if len(labels) != 2:
        return None
    sides = [find_side(label) for label in labels]
    if sides == [0, 1]:
        return labels[0], labels[1]
    return (labels[1], labels[0]) if sides == [1, 0] else None
