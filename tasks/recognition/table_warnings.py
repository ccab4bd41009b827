"""Warnings about properties of a table that may lead to useless rules, issued before a session
runs.

A warning is a sentence. If text/columns.py already leaves out a column with a warning, this module
does not warn about it again.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence

from ..io.messages import shorten
from .column_facts import ColumnFacts, ColumnKind
from .target_choice import join_words

TINY = 5  # a label with fewer rows has none for validation and test (text/own_rows.py)
CHANCE = 0.01  # a column leaks if chance makes it agree with the labels less often than this
_LISTED = 5
SENTENCE_WORDS = 4  # a column whose cells have this many words on average holds sentences


def warn_of_columns(
    columns: Sequence[ColumnFacts], target: ColumnFacts, used: Collection[str] | None = None
) -> list[str]:
    """Return warnings, as sentences, about a table of labelled rows.

    Args:
        columns: All columns.
        target: The column with the labels.
        used: The names of the inputs that text/columns.py chooses, where they are known. It warns
            about other columns itself.
    """
    inputs = [one for one in columns if one is not target and (used is None or one.name in used)]
    return [
        *_warn_of_identifiers(inputs),
        *_warn_of_leaks(inputs, target),
        *_warn_of_repeated_rows(inputs, columns, target),
        *_warn_of_labels(target),
        *_warn_of_written_numbers(inputs),
    ]


def find_leaks(columns: Sequence[ColumnFacts], target: ColumnFacts) -> list[ColumnFacts]:
    """Return the columns from whose cells the label of a row can be read directly."""
    return [
        one
        for one in columns
        if one is not target
        and (_is_filled_for_one_label(one, target) or _determines_label(one, target))
    ]


def list_names(columns: Sequence[ColumnFacts]) -> str:
    """Return the names of columns as an enumeration; of more than five, the others are counted."""
    names = [repr(shorten(one.name)) for one in columns[:_LISTED]]
    others = len(columns) - _LISTED
    return join_words([*names, f"{others:,} more"] if others > 0 else names, "and")


def _warn_of_identifiers(inputs: Sequence[ColumnFacts]) -> Iterator[str]:
    found = [one for one in inputs if one.kind is ColumnKind.IDENTIFIER]
    if found:
        holds = "holds an identifier" if len(found) == 1 else "hold identifiers"
        yield (
            f"{_name_columns(found)} {holds}, different in every row,"
            " from which no rule about new rows follows"
        )


def _warn_of_leaks(inputs: Sequence[ColumnFacts], target: ColumnFacts) -> Iterator[str]:
    filled: dict[str, list[ColumnFacts]] = defaultdict(list)
    determining = []
    for column in inputs:
        if label := _is_filled_for_one_label(column, target):
            filled[label].append(column)
        elif _determines_label(column, target):
            determining.append(column)
    for label, found in filled.items():
        is_filled, may = ("is", "it") if len(found) == 1 else ("are", "they")
        yield (
            f"{_name_columns(found)} {is_filled} filled only in rows with the label {label!r}, so"
            f" {may} may give the label away"
        )
    if determining:
        one = len(determining) == 1
        yield (
            f"{_name_columns(determining)} {'determines' if one else 'determine'} the label of every"
            f" row: {'it is' if one else 'each is'} the rule, or it gives the label away"
        )


def _name_columns(columns: Sequence[ColumnFacts]) -> str:
    return f"the column{'s' * (len(columns) > 1)} {list_names(columns)}"


def _is_filled_for_one_label(column: ColumnFacts, target: ColumnFacts) -> str | None:
    """Return the only label whose rows have a value in the column, if chance does not explain it."""
    if not column.missing or target.distinct < 2:
        return None
    filled = [
        label
        for label, cell, other in zip(target.keys, column.cells, target.cells, strict=True)
        if cell is not None and other is not None
    ]
    if len(set(filled)) != 1:
        return None
    share = target.counts[filled[0]] / len(target.filled)
    if len(filled) * math.log(share) > math.log(CHANCE):
        return None
    at = target.keys.index(filled[0])
    return shorten(str(target.cells[at]))


def _determines_label(column: ColumnFacts, target: ColumnFacts) -> bool:
    """Return whether rows with the same value have the same label, more often than by chance."""
    if target.distinct < 2 or column.kind in (ColumnKind.CONSTANT, ColumnKind.EMPTY):
        return False
    if _holds_sentences(column):  # what a rule reads; a repeated sentence gives nothing away
        return False
    labels: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for value, cell, label, gold in zip(
        column.keys, column.cells, target.keys, target.cells, strict=True
    ):
        if gold is not None:
            labels[None if cell is None else value][label] += 1
    if any(len(seen) > 1 for seen in labels.values()):
        return False
    total = len(target.filled)
    chance = sum(
        (rows - 1) * math.log(target.counts[label] / total)
        for seen in labels.values()
        for label, rows in seen.items()
    )
    repeated = sum(rows > 1 for seen in labels.values() for rows in seen.values())
    return repeated >= 2 and 2 * len(labels) <= total and chance < math.log(CHANCE)


def _holds_sentences(column: ColumnFacts) -> bool:
    if column.kind not in (ColumnKind.TEXT, ColumnKind.CLASSES):
        return False
    words = [len(str(cell).split()) for cell in column.cells if cell is not None]
    return sum(words) >= SENTENCE_WORDS * len(words)


def _warn_of_repeated_rows(
    inputs: Sequence[ColumnFacts], columns: Sequence[ColumnFacts], target: ColumnFacts
) -> Iterator[str]:
    kept = [one for one in inputs if one.kind is not ColumnKind.IDENTIFIER]
    if not kept:
        return
    labels: dict[tuple[Hashable, ...], Counter[Hashable]] = defaultdict(Counter)
    for *values, label, gold in zip(
        *(one.keys for one in kept), target.keys, target.cells, strict=True
    ):
        if gold is not None:
            labels[tuple(values)][label] += 1
    repeated = sum(rows - 1 for seen in labels.values() for rows in seen.values())
    contradicting = sum(seen.total() for seen in labels.values() if len(seen) > 1)
    if repeated:
        repeat = "repeats" if repeated == 1 else "repeat"
        same = (ColumnKind.EMPTY, ColumnKind.CONSTANT)
        names = {target.name, *(one.name for one in kept)}
        ignored = [one for one in columns if one.name not in names and one.kind not in same]
        apart = f", apart from {list_names(ignored)}" if ignored else ""
        yield f"{repeated:,} of {len(target.cells):,} rows {repeat} an earlier row{apart}"
    if contradicting:
        yield (
            f"{_count_rows(contradicting)} have the same inputs as a row with another label; no rule"
            " is right about all of them"
        )


def _count_rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _warn_of_labels(target: ColumnFacts) -> Iterator[str]:
    if target.missing:
        lack = "has" if target.missing == 1 else "have"
        yield f"{_count_rows(target.missing)} {lack} no value in {target.name!r} and will be left out"
    tiny = [key for key, rows in target.counts.items() if rows < TINY]
    if tiny:
        names = [
            f"{shorten(str(target.cells[target.keys.index(key)]))!r} ({target.counts[key]})"
            for key in tiny[:_LISTED]
        ]
        more = [f"{len(tiny) - _LISTED} more"] if len(tiny) > _LISTED else []
        yield (
            f"few rows have the label{'s' * (len(tiny) > 1)} {join_words([*names, *more], 'and')}: a"
            f" label with fewer than {TINY} rows gets none for validation and test"
        )


def _warn_of_written_numbers(inputs: Sequence[ColumnFacts]) -> Iterator[str]:
    found = [one for one in inputs if one.kind is ColumnKind.WRITTEN_NUMBER]
    if found:
        yield (
            f"the numbers in {list_names(found)} are read as texts; write them like 1234.5, without"
            " commas and units, to compare them"
        )
