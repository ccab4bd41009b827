"""Extract the items of a list that a model wrote as JSON, with numbers, or with bullets.

A number at the start of a line begins an item if the numbers before it count up from 1. So a year,
a decimal number, or "3. hypotheses:" before the list does not begin an item. Within a line, a
number begins an item only if it is the next number and follows the end of a sentence.

No function here raises, whatever the text, and the work is bounded by a small multiple of the
text's length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...records import Json
from ..io.json_text import find_objects

TEXT_CHARACTERS = 2_000_000
_KEYS = ("hypothesis", "sentence", "text", "pattern", "rule")
_DECODER = json.JSONDecoder(strict=False)
_MARK = re.compile(
    r"^([ \t>{\[]*)(?:[-*+•]\s+)?(?:\*\*|__|`|#{1,6}\s*)?[(\[]?"
    r"(?:(?:hypothesis|pattern|rule|h)[ \t]{0,3}#?[ \t]{0,3})?(\d{1,4})[.):\]](?:\*\*|__|[)\]`])?(?::)?(?=\s|\*|\[|\"|[A-Z])",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE = re.compile(r"(?<=[.!?;)\]}\"'][ \t])(?:\*\*|\(|\[)?(\d{1,4})[.)](?:\*\*)?(?=\s)")
_BULLET = re.compile(r"^([ \t]*)[-*+•–][ \t]+", re.MULTILINE)
_BREAK = re.compile(
    r"\n[ \t]*\n(?![ \t]|[a-z][.)]\s|[-*•]\s)|\n[ \t]*(?:```|---|===|\*\*\*|#{1,6}\s)"
)
_PART = re.compile(r'"(?:[^"\\]|\\.?)*("|\Z)', re.DOTALL)  # also matches a string that was cut off
_SOURCE = re.compile(
    r"[\[(]\s*(?:(?:source|paper|from|based on)\s*)+[:#]?\s*(?:no\.?|number)?\s*(\d{1,4})?\s*[,;:]?\s*"
    r"(?:quote\s*:?\s*)?([\"“'‘](.*?)[\"”'’])?\s*[\])][\s.]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(
    r"\A(?:\*\*|__)?(?:hypothesis|pattern)\s*#?\d*\s*:(?:\*\*|__)?\s*", re.IGNORECASE
)
_PAIRS = {'"': '"', "“": "”", "'": "'", "‘": "’", "[": "]", "{": "}", "(": ")", "`": "`"}


class Item(NamedTuple):
    """One item of a list in a model's answer.

    Attributes:
        sentence: The text of the item, without list marks and decoration.
        source: The number of the paper that the item cites, as numbered in the prompt; None if it
            cites no paper.
        quote: The text that the item quotes from that paper, or "".
    """

    sentence: str
    source: int | None = None
    quote: str = ""


def parse_items(text: str, count: int, sourced: bool = False) -> list[Item]:
    """Return the items of the list in a model's answer, in order.

    Args:
        text: The answer. Only its last `TEXT_CHARACTERS` characters are read.
        count: The number of items that the prompt asked for. If the answer contains several drafts,
            the list whose length fits `count` best is used, and the last of equally good lists.
        sourced: Whether to remove a source at the end of each item ("[source 2: "quote"]") and
            return it separately.
    """
    text = text[-TEXT_CHARACTERS:]
    found = list(_of_json(text))
    if not found:
        written = _numbered(text, count) or _bulleted(text)
        if not written and count == 1:
            written = _bare(text)
        found = [_item(one, sourced) for one in written]
    return [item for item in found if any(c.isalnum() for c in item.sentence)]


def _of_json(text: str) -> Iterator[Item]:
    found = find_objects(text, ("hypotheses", *_KEYS))
    lists = [o["hypotheses"] for o in found.objects if "hypotheses" in o]
    if lists:
        yield from _entries(lists[-1])
    elif found.objects:
        yield from _entries(found.objects)
    elif (bare := _bare_list(text)) is not None:
        yield from _entries(bare)
    elif found.truncated or '"hypotheses"' in text:
        start = text.rfind('"hypotheses"')
        if start >= 0:  # the answer was cut off: use its complete strings
            found_parts = _PART.finditer(text, start + len('"hypotheses"'))
            parts = [part.group() for part in found_parts if part.group(1)]
            named = {"hypotheses", "source", "quote", *_KEYS}
            yield from _entries(p for p in map(_read_items, parts) if p not in named)


def _read_items(part: str) -> Json:
    try:
        return _DECODER.decode(part)
    except ValueError:
        return ""


def _bare_list(text: str) -> Json:
    """Return the last JSON list of strings or objects that shares its lines with no other text."""
    for start in reversed([m.start() for m in re.finditer(r"^[ \t]*\[", text, re.MULTILINE)][-40:]):
        try:
            value, after = _DECODER.raw_decode(text, text.index("[", start))
        except (ValueError, RecursionError):
            continue
        alone = not text[after:].split("\n", 1)[0].strip(" \t\r;`")
        if alone and value and all(isinstance(v, str | dict) for v in value):
            return value
    return None


def _entries(values: Json) -> Iterator[Item]:
    if isinstance(values, dict):  # {"1": "…", "2": "…"}
        values = values.values()
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, Iterable):
        return
    for value in values:
        if isinstance(value, str):
            yield Item(tidy_sentence(value))
        elif isinstance(value, dict):
            said = next((value[k] for k in _KEYS if isinstance(value.get(k), str)), None)
            if said is not None:
                number = value.get("source", value.get("paper"))
                digits = re.search(r"\d{1,4}", str(number)[:100])
                quote = value.get("quote")
                yield Item(
                    tidy_sentence(said),
                    int(digits.group()) if digits else None,
                    quote.strip() if isinstance(quote, str) else "",
                )


def _numbered(text: str, count: int) -> list[str]:
    runs: list[list[tuple[int, int, int]]] = []  # (number, start and end of the marker)
    indent = 0
    for mark in _MARK.finditer(text):
        number, depth = int(mark.group(2)), len(mark.group(1).expandtabs(4).rstrip("{["))
        if runs and depth > indent + 1:
            continue  # this is a list inside an item
        if number == 1:
            runs.append([])
            indent = depth
        elif not runs or number <= runs[-1][-1][0] or number > runs[-1][-1][0] + 3:
            continue
        runs[-1].append((number, mark.start(), mark.end()))
    best: list[str] = []
    for n, run in enumerate(runs):
        stop = runs[n + 1][0][1] if n + 1 < len(runs) else len(text)
        ends = [start for _, start, _ in run[1:]] + [stop]
        items = [_cut(text[end:until]) for (_, _, end), until in zip(run, ends, strict=True)]
        if len(items) == 1:
            items = _split_inline(items[0])
        if min(len(items), count) >= min(len(best), count):
            best = items
    return best


def _split_inline(text: str) -> list[str]:
    items, at, expected = [], 0, 2
    for mark in _INLINE.finditer(text):
        if int(mark.group(1)) == expected:
            items.append(text[at : mark.start()])
            at, expected = mark.end(), expected + 1
    return [*items, text[at:]]


def _bulleted(text: str) -> list[str]:
    marks = list(_BULLET.finditer(text))
    if not marks:
        return []
    least = min(len(mark.group(1)) for mark in marks)
    marks = [mark for mark in marks if len(mark.group(1)) <= least + 1]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [_cut(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def _bare(text: str) -> list[str]:
    """Return the only paragraph of an answer, ignoring a heading before it, or an empty list."""
    blocks = [b for b in re.split(r"\n\s*\n", text) if b.strip(" \t\r\n`")]
    blocks = [b for b in blocks if not b.rstrip().endswith(":")] or blocks
    return [blocks[0].strip().strip("`")] if len(blocks) == 1 else []


def _cut(item: str) -> str:
    """Cut an item where the list ends: at a blank line before other text, a fence or a heading."""
    left = _BREAK.search(item)
    return item[: left.start()] if left else item


def _item(written: str, sourced: bool) -> Item:
    written = " ".join(written.split())
    if sourced:
        told = _SOURCE.search(written[-4_000:])
        if told and (told.group(1) or told.group(3)):
            sentence = written[: max(0, len(written) - 4_000) + told.start()]
            number = int(told.group(1)) if told.group(1) else None
            return Item(tidy_sentence(sentence), number, (told.group(3) or "").strip())
    return Item(tidy_sentence(written))


def tidy_sentence(sentence: str) -> str:
    """Return a sentence on one line, without decoration.

    Bold marks, a title such as "Hypothesis 3:", and enclosing brackets or quotes are removed.
    """
    said = _TITLE.sub("", " ".join(sentence.split()))
    said = re.sub(r"(\*\*|__)(.{1,300}?)\1", r"\2", said)
    said = said.removeprefix("**").removesuffix("**").strip()
    while len(said) > 2 and said[0] in _PAIRS:
        closing = _PAIRS[said[0]]
        bare = said.rstrip(".}") if said[0] == "[" else said.rstrip(".")
        inner = bare[1:-1]
        if not bare.endswith(closing) or said[0] in inner or closing in inner:
            break
        said = inner.strip()
    if said.endswith("}") and "{" not in said:
        said = said[:-1].rstrip()
    return said
