"""Compare labels as files and models write them.

Spellings that differ in case, blanks, quotes, brackets, Markdown or trailing punctuation are the
same label: `**Final**`, `"final".` and `[ FINAL ]` are all `final`. Other characters matter:
`<=50K` and `>50K`, `C` and `C++`, `-1` and `1` are different labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ...records import DataError
from ..io.messages import shorten

_LONGEST = 1_000  # characters; labels are shorter, but answers can be a megabyte long
_EDGES = "\"'`´“”„‘’‚«»‹›()[]{}*_~ \t"
_AFTER = _EDGES + ".,;:!?…。"
_HEADING = re.compile(r"(?:#{1,6}|>|•)\s+")


def normalize_label(text: str) -> str:
    """Return the normal form of a label. Different spellings of a label have the same normal form.

    The result is empty only for a text without visible characters.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    bare = plain
    while True:
        peeled = _HEADING.sub("", bare.lstrip(_EDGES).rstrip(_AFTER), count=1)
        if peeled[:1] == "<" and peeled[-1:] == ">":
            peeled = peeled[1:-1]
        if peeled == bare:
            break
        bare = peeled
    return bare or plain


class LabelNames:
    """The labels of a data set, in order, which can be looked up by any spelling.

    Args:
        names: The labels.
        where: The location of the labels, for error messages.

    Raises:
        DataError: A label is blank, or two labels have the same normal form.
    """

    def __init__(self, names: Iterable[str], where: str = "the labels") -> None:
        self.names = tuple(names)
        self._named: dict[str, str] = {}
        for name in self.names:
            form = normalize_label(name)
            if not form:
                raise DataError(f"{where}: a label is blank")
            if (before := self._named.setdefault(form, name)) != name:
                raise DataError(
                    f"{where}: {shorten(repr(before))} and {shorten(repr(name))} differ only"
                    " in case, quotes or punctuation, which are ignored in an answer; write each label in"
                    " one way"
                )

    def __len__(self) -> int:
        return len(self.names)

    def find(self, text: str) -> str | None:
        """Return the label of which `text` is a spelling, or None if there is no such label."""
        return self._named.get(normalize_label(text)) if len(text) <= _LONGEST else None

    def index(self, text: str) -> int | None:
        """Return the index of the label of which `text` is a spelling, or None if there is no such
        label.

        The index serves as the code of a prediction.
        """
        found = self.find(text)
        return None if found is None else self.names.index(found)
