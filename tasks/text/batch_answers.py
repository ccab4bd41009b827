"""Parse a judge's answer about several numbered texts (`agents/prompts/judge_batches.py` asks).

The answer is one JSON object that maps the number of each text to its label. No function here raises,
whatever the text. A text without exactly one readable label counts as unreadable, so that it can be
asked about alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from ...records import Json
from .answers import MAX_ANSWER_CHARACTERS, Judgement, parse_judgement, strip_reasoning

_MAX_STARTS = 200  # opening braces from which an object is read
_NUMBER = re.compile(r"\D{0,20}(\d{1,6})\D{0,5}\Z")
_LABEL_KEYS = ("label", "answer", "final answer")


def parse_batch(text: str, labels: Sequence[str], count: int) -> list[Judgement]:
    """Return the judgement of each of `count` texts, in the order of their numbers from 1.

    The last JSON object of the answer that names a number is read. The judgement is None if the
    object gives a text no label or several labels.

    Args:
        text: The judge's answer.
        labels: The labels of the data set.
        count: The number of texts in the question.
    """
    said = strip_reasoning(text)[-MAX_ANSWER_CHARACTERS:]
    found: list[Judgement] = [None] * count
    seen: set[int] = set()
    for key, value in _last_numbered(said):
        number = _read_number(key)
        if number is None or not 1 <= number <= count:
            continue
        found[number - 1] = None if number in seen else _read_label(value, labels)
        seen.add(number)
    return found


def _last_numbered(text: str) -> list[tuple[str, Json]]:
    """Return the (key, value) pairs of the last object with a key that is a number."""
    last: list[tuple[str, Json]] = []
    for pairs in _iter_objects(text):
        if any(_read_number(key) is not None for key, _ in pairs):
            last = pairs
    return last


def _iter_objects(text: str) -> Iterator[list[tuple[str, Json]]]:
    """Yield the pairs of each object, inner objects first. A repeated key occurs in several pairs."""
    made: list[list[tuple[str, Json]]] = []

    def keep(pairs: list[tuple[str, Json]]) -> Mapping[str, Json]:
        made.append(pairs)
        return dict(pairs)

    decoder = json.JSONDecoder(strict=False, object_pairs_hook=keep)
    starts = [at for at, character in enumerate(text) if character == "{"]
    end = 0
    for start in starts[-_MAX_STARTS:]:
        if start < end:
            continue
        made.clear()
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield from made


def _read_number(key: str) -> int | None:
    found = _NUMBER.match(key)
    return int(found.group(1)) if found else None


def _read_label(value: Json, labels: Sequence[str]) -> Judgement:
    if isinstance(value, Mapping):
        value = next((value[key] for key in _LABEL_KEYS if key in value), None)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return parse_judgement(str(value), labels)
