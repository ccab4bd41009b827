"""Labels as files and models write them, and one reader for both.

A label comes back from any writing of it that differs in case, blanks, quotes, brackets, Markdown
or the punctuation after it: `**Final**`, `"final".` and `[ FINAL ]` are all `final`. What stands
inside a label counts: `<=50K` and `>50K`, `C` and `C++`, `-1` and `1` stay apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ...records import DataError
from ..io.messages import shorten

_LONGEST = 1_000  # characters; no label is that long, and answers may be a megabyte
_EDGES = "\"'`´“”„‘’‚«»‹›()[]{}*_~ \t"
_AFTER = _EDGES + ".,;:!?…。"
_HEADING = re.compile(r"(?:#{1,6}|>|•)\s+")


def normal_form(text: str) -> str:
    """What is compared: equal for two writings of one label; never empty for a text that is not."""
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
    """The labels of a data set, in order. Raises `DataError` for two that have one normal form, or
    one that is blank."""

    def __init__(self, names: Iterable[str], where: str = "the labels") -> None:
        self.names = tuple(names)
        self._named: dict[str, str] = {}
        for name in self.names:
            form = normal_form(name)
            if not form:
                raise DataError(f"{where}: a label is blank")
            if (before := self._named.setdefault(form, name)) != name:
                raise DataError(
                    f"{where}: {shorten(repr(before))} and {shorten(repr(name))} cannot be told"
                    " apart in an answer, which is read without case, quotes and punctuation; write one label"
                    " one way"
                )

    def __len__(self) -> int:
        return len(self.names)

    def of(self, text: str) -> str | None:
        """The label that the text is, in its own writing; None where it is none of them."""
        return self._named.get(normal_form(text)) if len(text) <= _LONGEST else None

    def index(self, text: str) -> int | None:
        """The place of `of(text)` in `names`: what a prediction's code is."""
        found = self.of(text)
        return None if found is None else self.names.index(found)
