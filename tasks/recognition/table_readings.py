"""Decide what a table contains: rows with labels, pairs of input and output, or rows with a number.

In the third form, the number in one column is to be explained by the other columns. The module
target_choice.py chooses the target column. This module decides from it what the table contains,
whether that is certain, and which other interpretations are possible.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...records import Json, UsageError
from ..io.messages import shorten, suggest_nearest
from ..text.own_rows import SPLIT_COLUMN, find_split
from ..text.tables import Table, file_type
from .column_facts import ColumnFacts, ColumnKind
from .column_pairs import (
    PAIR_FIELDS,
    PAIR_RULES,
    UNDIRECTED,
    UNVARIED,
    ColumnPair,
    find_pair,
)
from .readings import FileKind, Reading, RecognizedFile, add_settings, count_of
from .table_warnings import find_leaks, list_names, warn_of_columns
from .target_choice import (
    CLASS_KINDS,
    NUMBER_KINDS,
    PROBLEMS_OF_KINDS,
    Candidate,
    are_classes,
    find_certain,
    has_target_name,
    join_words,
    rank_targets,
)

FEW_LABELS = 20  # as many labels are accepted in any number of rows (text/problems.py)
MOST_SHOWN = 4  # readings that are listed where none is certain
MOST_COLUMNS = 20  # columns that are listed in a command
NOT_INPUTS = (ColumnKind.EMPTY, ColumnKind.CONSTANT, ColumnKind.IDENTIFIER, ColumnKind.STRUCTURE)
_DATA = re.compile(r"[-+]?[\d.,/:%-]*\d[\d.,/:%-]*")


@dataclass(frozen=True)
class TableSource:
    """A table, together with the path and target column that commands need.

    Attributes:
        data: The path as the user wrote it, possibly with settings.
        table: The table, which may contain only the first rows of the file.
        is_complete: Whether `table` contains all rows of the file.
        target: The target column that the user names, or None.
        is_copy: Whether the file is a copy of a table in memory, so that advice names no file.
    """

    data: str
    table: Table
    is_complete: bool = True
    target: str | None = None
    is_copy: bool = False

    @cached_property
    def columns(self) -> list[ColumnFacts]:
        """The columns in order. A column that assigns each row to a split of the data is left out.

        The last column is the last one that has values: a delimiter at the end of each line adds a
        column without values.
        """
        cells = {
            name: cells
            for name, cells in self.table.columns.items()
            if name != SPLIT_COLUMN or name == self.target or not _names_splits(cells)
        }
        filled = [name for name, some in cells.items() if any(cell is not None for cell in some)]
        return [
            ColumnFacts(name, some, is_last=name in filled[-1:]) for name, some in cells.items()
        ]


def _names_splits(cells: Sequence[Json]) -> bool:
    return all(isinstance(cell, str) and find_split(cell) is not None for cell in cells)


def read_as_table(source: TableSource) -> RecognizedFile:
    """Return the possible interpretations of a table.

    Raises:
        UsageError: The target that the user names is not a column.
    """
    columns = source.columns
    names = [one.name for one in columns]
    if source.target is not None and source.target not in names:
        option = "target" if source.is_copy else "--target"
        raise UsageError(
            f"{option} {source.target}: {source.data} has no such column"
            f"{suggest_nearest(source.target, names)}"
        )
    has_header = file_type(source.table.path) in (".csv", ".tsv")
    if source.target is None and has_header and (cell := _find_data_name(columns)):
        return RecognizedFile(
            reason=f"the first line holds {cell!r}, so it looks like data, not like column names",
            advice="put a line with the names of the columns before it, or name the target column"
            " if these are names",
        )
    pair = find_pair(columns, source.target)
    found = None if pair is None else _read_as_pairs(source, pair, columns)
    if found is not None:
        return found
    if len(columns) == 1:
        return RecognizedFile(
            reason=f"there is one column, {names[0]!r}, and nothing that it may explain or that may"
            " explain it",
            advice="add a column with the label or the output of each row",
        )
    return _offer_pairs(source, _read_with_target(source, columns), pair, columns)


def _offer_pairs(
    source: TableSource,
    found: RecognizedFile,
    pair: ColumnPair | None,
    columns: Sequence[ColumnFacts],
) -> RecognizedFile:
    """Return what a table was taken for, with pairs as the last possibility if nothing is certain."""
    readings = list(found.readings)
    if (
        found.certain is not None
        or pair is None
        or pair.contradicting
        or UNVARIED & {pair.input.kind, pair.output.kind}
        or any(one.kind is FileKind.PAIRS for one in readings)
        or (len(readings) == 1 and readings[0].kind is FileKind.LABELLED_ROWS)
    ):
        return found
    offered = [*readings[: MOST_SHOWN - 1], _pairs_reading(source, pair, columns)]
    if any(one.kind is not FileKind.NUMERIC_TARGET for one in readings):
        return replace(found, readings=offered)
    if pair.is_directed:
        return RecognizedFile(offered)
    return RecognizedFile(
        offered,
        reason=UNDIRECTED.format(input=repr(pair.input.name), output=repr(pair.output.name)),
        warnings=found.warnings,
    )


def _find_data_name(columns: Sequence[ColumnFacts]) -> str | None:
    """Return a column name that is data rather than a name, where the table has no target name."""
    if any(has_target_name(one) for one in columns):
        return None
    for one in columns:
        again = one.kind in CLASS_KINDS and one.name in one.counts_of_texts
        prose = len(one.name.split()) > 6 and not one.name.rstrip().endswith("?")
        if again or prose or _DATA.fullmatch(one.name.strip()):
            return shorten(one.name, 40)
    return None


# --- pairs ----------------------------------------------------------------------------


def _read_as_pairs(
    source: TableSource, pair: ColumnPair, columns: Sequence[ColumnFacts]
) -> RecognizedFile | None:
    """Return what the table was taken for if it may hold pairs, else None."""
    pairs = _pairs_reading(source, pair, columns)
    if pair.others:
        labels = _label_readings(source, rank_targets(columns))
        return RecognizedFile(
            [pairs, *labels][:MOST_SHOWN],
            reason=f"besides {list_names((pair.input, pair.output))} there"
            f" {'is' if len(pair.others) == 1 else 'are'} {list_names(pair.others)}",
        )
    if pair.contradicting and not pair.is_named:
        return None
    rule = next(one for one in PAIR_RULES if one.holds(pair))
    readings = {
        FileKind.PAIRS: lambda: pairs,
        FileKind.LABELLED_ROWS: lambda: _labels_reading(
            source, pair.output, "its values are few and repeat"
        ),
        FileKind.NUMERIC_TARGET: lambda: _numeric_reading(source, pair.output, ""),
    }
    names = {"input": repr(pair.input.name), "output": repr(pair.output.name)}
    found = [readings[kind]() for kind in rule.kinds]
    reason = rule.doubt.format(**names)
    if not reason and pair.contradicting:
        reason = (
            f"{count_of(pair.contradicting, 'row')} have the same {names['input']} as a row with"
            f" another {names['output']}, so no program gives all outputs"
        )
    return RecognizedFile(found, reason=reason) if found else None


def _pairs_reading(
    source: TableSource, pair: ColumnPair, columns: Sequence[ColumnFacts]
) -> Reading:
    data = source.data
    if not pair.has_usual_names or pair.others:
        fields = {"input": pair.input.name, "output": pair.output.name}
        there = {one.name for one in columns} | set(source.table.columns)
        fields |= {name: name for name in PAIR_FIELDS if name in there}
        data = add_settings(data, **fields)
    named = "has" if pair.is_named else "would have"
    return Reading(
        FileKind.PAIRS,
        "examples",
        {"data": data},
        f"{_count(source, 'pair')} of input and output",
        f"each row {named} an input, {pair.input.name!r}, and an output, {pair.output.name!r}",
    )


def _count(source: TableSource, noun: str) -> str:
    return ("" if source.is_complete else "at least ") + count_of(len(source.table), noun)


# --- labels and numbers ---------------------------------------------------------------


def _read_with_target(source: TableSource, columns: Sequence[ColumnFacts]) -> RecognizedFile:
    ranked = rank_targets(columns)
    if source.target is not None:
        column = next(one for one in columns if one.name == source.target)
        if not _can_be_target(column):
            return RecognizedFile(
                [*_label_readings(source, ranked), *_as_pairs(source, column, columns)],
                reason=f"{column.name!r} {PROBLEMS_OF_KINDS[column.kind]}, so it cannot be the"
                " target",
            )
        found = Candidate(column, ())
    else:
        named = [one for one in columns if has_target_name(one) and not _can_be_target(one)]
        certain = find_certain(ranked)
        if named and (certain is None or not has_target_name(certain.column)):
            return RecognizedFile(
                [*_label_readings(source, ranked), *_as_pairs(source, named[0], columns)],
                reason=f"the column {named[0].name!r} {PROBLEMS_OF_KINDS[named[0].kind]}",
            )
        if certain is None:
            return _without_target(source, ranked, columns)
        found = certain
    why = "you named it" if source.target is not None else found.why
    classes = are_classes(found.column, named_by_user=source.target is not None)
    if found.column.kind is ColumnKind.TEXT:
        classes = True
    labels = _labels_reading(source, found.column, why)
    numeric = _numeric_reading(source, found.column, why)
    if classes is None:
        return RecognizedFile(
            [labels, *([numeric] if _can_have_law(found.column, columns) else [])],
            reason=f"the {count_of(found.column.distinct, 'number')} in {found.column.name!r} may be"
            " classes or amounts",
            warnings=find_warnings(source, labels),
        )
    if not classes:
        others = [one for one in ranked if one.column is not found.column]
        return RecognizedFile(
            [
                numeric,
                *_as_pairs(source, found.column, columns),
                *_label_readings(source, others),
            ][:MOST_SHOWN]
        )
    return _check_inputs(source, labels, found.column, columns)


def _can_have_law(target: ColumnFacts, columns: Sequence[ColumnFacts]) -> bool:
    """Return whether another column holds numbers or texts that repeat, which a law can use."""
    usable = (*CLASS_KINDS, *NUMBER_KINDS)
    return any(one.kind in usable for one in columns if one is not target)


def _can_be_target(column: ColumnFacts) -> bool:
    if column.kind is ColumnKind.TEXT:
        limit = max(FEW_LABELS, len(column.filled) // 2)
        texts = all(isinstance(cell, str) and len(cell) <= 60 for cell in column.filled)
        return texts and 3 * column.distinct <= 2 * len(column.filled) and column.distinct <= limit
    return column.kind in (*CLASS_KINDS, *NUMBER_KINDS)


def _check_inputs(
    source: TableSource, labels: Reading, target: ColumnFacts, columns: Sequence[ColumnFacts]
) -> RecognizedFile:
    """Return labelled rows with their warnings, or the reason why nothing can explain the labels."""
    inputs = [one for one in columns if one is not target]
    if all(one.kind in NOT_INPUTS for one in inputs):
        structured = [one for one in inputs if one.kind is ColumnKind.STRUCTURE]
        pair = ColumnPair(structured[0], target, [], False, True) if structured else None
        return RecognizedFile(
            [] if pair is None else [_pairs_reading(source, pair, columns)],
            reason=f"no column besides {target.name!r} can explain it:"
            f" {_list_kinds(inputs[:MOST_SHOWN])}",
        )
    return RecognizedFile([labels], warnings=find_warnings(source, labels))


def _list_kinds(columns: Sequence[ColumnFacts]) -> str:
    return join_words(
        [f"{one.name!r} {PROBLEMS_OF_KINDS.get(one.kind, one.kind.value)}" for one in columns],
        "and",
    )


def find_warnings(
    source: TableSource, labels: Reading, used: Collection[str] | None = None
) -> list[str]:
    """Return warnings, as sentences, about a table that is read as labelled rows.

    Args:
        source: The table.
        labels: The reading, with the target in the option "label".
        used: The names of the columns that the reader uses as inputs, where they are known. The
            reader itself warns about the others.
    """
    target = next(one for one in source.columns if one.name == labels.options["label"])
    found = warn_of_columns(source.columns, target, used)
    if not source.is_complete:
        found.append(f"only the first {len(source.table):,} rows were looked at")
    inputs = [
        one
        for one in source.columns
        if one is not target
        and (one.kind is not ColumnKind.EMPTY if used is None else one.name in used)
    ]
    leaks = find_leaks(inputs, target)
    dropped = [one for one in inputs if one in leaks or one.kind is ColumnKind.IDENTIFIER]
    kept = [one.name for one in inputs if one not in dropped]
    if dropped and kept:
        found.append(_advise_columns(source, labels, dropped, kept))
    return found


def _advise_columns(
    source: TableSource, labels: Reading, dropped: Sequence[ColumnFacts], kept: Sequence[str]
) -> str:
    """Return how to use other columns: a command, unless it would be long or hard to write."""
    to_drop = f"to leave {list_names(dropped)} out"
    if source.is_copy:
        return f"{to_drop}, give a table without {'it' if len(dropped) == 1 else 'them'}"
    writable = not any("," in name or not name for name in kept) and "?" not in source.data
    if not writable or len(kept) > MOST_COLUMNS:
        return (
            f"{to_drop}, write a file without {'it' if len(dropped) == 1 else 'them'}, or name the"
            " columns to use after the path, as in 'FILE?columns=NAME,NAME'"
        )
    data = add_settings(source.data, columns=",".join(kept)).replace("%2C", ",")
    other = Reading(labels.kind, labels.task, {**labels.options, "data": data}, "", "")
    return f"{to_drop}: {other.command}"


def _without_target(
    source: TableSource, ranked: Sequence[Candidate], columns: Sequence[ColumnFacts]
) -> RecognizedFile:
    readings = _label_readings(source, ranked)
    number = next((one for one in ranked if one.column.kind in NUMBER_KINDS), None)
    if number is not None and _can_have_law(number.column, columns):
        readings[MOST_SHOWN - 1 :] = [_numeric_reading(source, number.column, number.why)]
    if not readings:
        return RecognizedFile(
            reason=f"no column has few values that repeat, as labels do: {_list_kinds(columns[:MOST_SHOWN])}",
            advice="add a column with the label of each row, or, for a program, keep one column of"
            " inputs (which may be JSON lists) and one of outputs",
        )
    named = [one.column for one in ranked[:MOST_SHOWN]]
    reason = f"nothing says which of {list_names(named)} is the target"
    if len(ranked) == 1:
        reason = f"little says that {list_names(named)} is the target"
    return RecognizedFile(
        readings,
        reason=reason,
        advice="name the target: target=COLUMN"
        if source.is_copy
        else f"name the target: peirce discover {shlex.quote(source.data)} --target COLUMN",
    )


def _label_readings(source: TableSource, ranked: Sequence[Candidate]) -> list[Reading]:
    return [
        _labels_reading(source, one.column, one.why)
        for one in ranked
        if one.column.kind in CLASS_KINDS
    ][:MOST_SHOWN]


def _labels_reading(source: TableSource, target: ColumnFacts, why: str) -> Reading:
    options: Mapping[str, Json] = {"data": source.data, "label": target.name}
    if target.missing:
        options = {**options, "skip_bad": True}
    return Reading(
        FileKind.LABELLED_ROWS,
        "labels",
        options,
        f"{_count(source, 'row')} with {count_of(target.distinct, 'label')} in {target.name!r}",
        why,
    )


def _as_pairs(
    source: TableSource, target: ColumnFacts, columns: Sequence[ColumnFacts]
) -> list[Reading]:
    pair = None if target.kind in UNVARIED else find_pair(columns, target.name)
    if pair is None or pair.others or pair.contradicting:
        return []
    return [_pairs_reading(source, pair, columns)]


def _numeric_reading(source: TableSource, target: ColumnFacts, why: str) -> Reading:
    return Reading(
        FileKind.NUMERIC_TARGET,
        "laws",
        {"data": source.data, "target": target.name},
        f"{_count(source, 'row')} with the number {target.name!r} to explain",
        why or "the values are numbers",
    )
