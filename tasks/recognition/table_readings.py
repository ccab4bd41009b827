"""Decide what a table contains: rows with labels, pairs of input and output, or rows with a number.

In the third form, the number in one column is to be explained by the other columns. The module
target_choice.py chooses the target column. This module decides from it what the table contains,
whether that is certain, and which other interpretations are possible.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...records import Json, UsageError
from ..io.messages import shorten, suggest_nearest
from ..text.own_rows import SPLIT_COLUMN, find_split
from ..text.tables import Table
from .column_facts import ColumnFacts, ColumnKind
from .readings import FileKind, Reading, RecognizedFile, add_settings, count_of
from .table_warnings import find_leaks, find_warnings
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

PAIR_NAMES = (
    ("input", "output"), ("x", "y"), ("in", "out"), ("question", "answer"), ("q", "a"),
    ("source", "target"), ("src", "tgt"), ("before", "after"), ("from", "to"),
    ("prompt", "completion"), ("prompt", "response"), ("instruction", "response"),
    ("instruction", "output"), ("raw", "clean"), ("original", "corrected"), ("argument", "result"),
    ("arguments", "result"),
)  # fmt: skip
PAIR_FIELDS = ("problem", "split")  # may stand beside the input and the output of a pair
PROSE = 3  # words of a text that is more than a value
FEW_LABELS = 20  # as many labels are accepted in any number of rows (text/problems.py)
MOST_SHOWN = 4  # readings that are listed where none is certain
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
    """

    data: str
    table: Table
    is_complete: bool = True
    target: str | None = None

    @property
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
        raise UsageError(
            f"--target {source.target}: {source.data} has no such column"
            f"{suggest_nearest(source.target, names)}"
        )
    if source.target is None and source.table.unit == "line" and (cell := _find_data_name(columns)):
        return RecognizedFile(
            reason=f"the first line holds {cell!r}, so it looks like data, not like column names",
            advice="put a line with the names of the columns before it, or name the target column"
            " if these are names",
        )
    pair = _find_pair(columns, source.target)
    found = None if pair is None else _read_as_pairs(source, pair, columns)
    if found is not None:
        return found
    if len(columns) == 1:
        return RecognizedFile(
            reason=f"there is one column, {names[0]!r}, and nothing that it may explain or that may"
            " explain it",
            advice="add a column with the label or the output of each row",
        )
    return _read_with_target(source, columns)


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


@dataclass(frozen=True)
class _Pair:
    input: ColumnFacts
    output: ColumnFacts
    others: Sequence[ColumnFacts]  # besides the fields of a pair and identifiers
    is_named: bool  # whether the names are those of a pair
    is_directed: bool  # whether names or the user say which one is the output
    problem: ColumnFacts | None = None  # which problem each pair belongs to

    @property
    def has_usual_names(self) -> bool:
        return (self.input.name, self.output.name) == PAIR_NAMES[0]

    @property
    def is_structured(self) -> bool:
        return ColumnKind.STRUCTURE in (self.input.kind, self.output.kind)

    @property
    def is_numeric(self) -> bool:
        return _holds_numbers(self.input) and _holds_numbers(self.output)

    @property
    def has_few_outputs(self) -> bool:
        return self.output.kind in CLASS_KINDS

    @property
    def has_prose(self) -> bool:
        return self.input.words_per_cell >= PROSE

    @property
    def may_label_texts(self) -> bool:
        """Whether the inputs are texts and the outputs few other texts or truth values.

        A text that is a part of its input, such as the first letter, is computed and no label.
        """
        if self.output.kind not in (ColumnKind.CLASSES, ColumnKind.TRUTH):
            return False
        cells = zip(self.input.cells, self.output.cells, strict=True)
        return _holds_texts(self.input) and not all(str(one) in str(text) for text, one in cells)

    @cached_property
    def contradicting(self) -> int:
        """The number of rows that have the same input as another row, and another output."""
        outputs: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        problems = [None] * len(self.input.cells) if self.problem is None else self.problem.keys
        for *place, output in zip(problems, self.input.keys, self.output.keys, strict=True):
            outputs[tuple(place)][output] += 1
        return sum(seen.total() for seen in outputs.values() if len(seen) > 1)


@dataclass(frozen=True)
class PairRule:
    """A rule that decides the content of a table with one input and one output column.

    The rules are tried in order, and the first rule whose condition holds is applied.

    Attributes:
        holds: Returns whether the condition of the rule holds for the two columns.
        kinds: The possible kinds of content, the most likely first; empty if the table has no
            pairs.
        doubt: The reason why the first kind is not certain, with the placeholders {input} and
            {output} for the column names; "" if the first kind is certain.
    """

    holds: Callable[[_Pair], bool]
    kinds: tuple[FileKind, ...]
    doubt: str = ""


_PAIRS, _LABELS, _NUMBER = FileKind.PAIRS, FileKind.LABELLED_ROWS, FileKind.NUMERIC_TARGET
_UNVARIED = {ColumnKind.EMPTY, ColumnKind.CONSTANT}
_UNDIRECTED = "nothing says whether {output} follows from {input}"
PAIR_RULES = (
    PairRule(
        lambda pair: (
            pair.has_usual_names
            and ((pair.has_prose and pair.has_few_outputs) or pair.may_label_texts)
        ),
        (_LABELS, _PAIRS),
        "{input} holds texts and {output} few values, which may be labels or outputs of a program",
    ),
    PairRule(lambda pair: pair.has_usual_names, (_PAIRS,)),
    PairRule(lambda pair: pair.is_structured and pair.is_directed, (_PAIRS,)),
    PairRule(lambda pair: pair.is_structured and not pair.has_few_outputs, (_PAIRS,), _UNDIRECTED),
    PairRule(
        lambda pair: pair.is_structured,
        (_PAIRS,),
        "{input} holds lists or objects, from which sentences about rows cannot follow",
    ),
    PairRule(
        lambda pair: pair.is_named and pair.has_few_outputs and not pair.has_prose,
        (_PAIRS, _LABELS),
        "{output} may hold outputs of a program or labels",
    ),
    PairRule(
        lambda pair: pair.is_named and pair.is_numeric,
        (_PAIRS, _NUMBER),
        "{output} may hold outputs of a program or a number to predict",
    ),
    PairRule(lambda pair: pair.has_few_outputs or _holds_numbers(pair.output), ()),
    PairRule(lambda pair: {pair.input.kind, pair.output.kind} & _UNVARIED != set(), ()),
    PairRule(lambda pair: pair.is_directed, (_PAIRS,)),
    PairRule(lambda pair: has_target_name(pair.output), ()),
    PairRule(lambda pair: pair.input.kind in CLASS_KINDS or _holds_numbers(pair.input), ()),
    PairRule(lambda pair: True, (_PAIRS,), f"no column has few values, and {_UNDIRECTED}"),
)


def _find_pair(columns: Sequence[ColumnFacts], target: str | None) -> _Pair | None:
    """Return the two columns that may be input and output, if there are such."""
    values = [
        one
        for one in columns
        if one.name not in PAIR_FIELDS
        and not (one.kind is ColumnKind.EMPTY and not one.name)
        and not (one.kind is ColumnKind.IDENTIFIER and one.is_named_like_identifier)
    ]
    by_name = {one.name.strip().casefold(): one for one in values}
    for first, second in PAIR_NAMES:
        if first in by_name and second in by_name and (len(values) == 2 or first == "input"):
            own = (by_name[first], by_name[second])
            others = [one for one in values if one not in own]
            if target in (None, own[1].name):
                problem = next((one for one in columns if one.name == PAIR_FIELDS[0]), None)
                return _Pair(*own, others, True, True, problem)
    if len(values) != 2:
        return None
    first_column, second_column = values
    if target == first_column.name:
        first_column, second_column = second_column, first_column
    return _Pair(first_column, second_column, [], False, target is not None)


def _read_as_pairs(
    source: TableSource, pair: _Pair, columns: Sequence[ColumnFacts]
) -> RecognizedFile | None:
    """Return what the table was taken for if it may hold pairs, else None."""
    pairs = _pairs_reading(source, pair, columns)
    if pair.others:
        labels = _label_readings(source, rank_targets(columns))
        return RecognizedFile(
            [pairs, *labels][:MOST_SHOWN],
            reason=f"besides {_list_names((pair.input, pair.output))} there"
            f" {'is' if len(pair.others) == 1 else 'are'} {_list_names(pair.others)}",
        )
    if pair.contradicting and not pair.is_named:
        return None
    rule = next(one for one in PAIR_RULES if one.holds(pair))
    readings = {
        _PAIRS: lambda: pairs,
        _LABELS: lambda: _labels_reading(source, pair.output, "its values are few and repeat"),
        _NUMBER: lambda: _numeric_reading(source, pair.output, ""),
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


def _holds_texts(column: ColumnFacts) -> bool:
    texts = (ColumnKind.TEXT, ColumnKind.CLASSES, ColumnKind.IDENTIFIER)
    return column.kind in texts and all(isinstance(cell, str) for cell in column.filled)


def _holds_numbers(column: ColumnFacts) -> bool:
    numbers = (*NUMBER_KINDS, ColumnKind.CODES)
    return column.kind in numbers or all(isinstance(cell, int | float) for cell in column.filled)


def _list_names(columns: Sequence[ColumnFacts]) -> str:
    return join_words([repr(shorten(one.name)) for one in columns], "and")


def _pairs_reading(source: TableSource, pair: _Pair, columns: Sequence[ColumnFacts]) -> Reading:
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
    if classes is None:
        return RecognizedFile(
            [labels, _numeric_reading(source, found.column, why)],
            reason=f"the {count_of(found.column.distinct, 'number')} in {found.column.name!r} may be"
            " classes or amounts",
            warnings=_warnings(source, labels, found.column, columns),
        )
    if not classes:
        others = [one for one in ranked if one.column is not found.column]
        return RecognizedFile(
            [
                _numeric_reading(source, found.column, why),
                *_as_pairs(source, found.column, columns),
                *_label_readings(source, others),
            ][:MOST_SHOWN]
        )
    return _check_inputs(source, labels, found.column, columns)


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
        pair = _Pair(structured[0], target, [], False, True) if structured else None
        return RecognizedFile(
            [] if pair is None else [_pairs_reading(source, pair, columns)],
            reason=f"no column besides {target.name!r} can explain it:"
            f" {_list_kinds(inputs[:MOST_SHOWN])}",
        )
    return RecognizedFile([labels], warnings=_warnings(source, labels, target, columns))


def _list_kinds(columns: Sequence[ColumnFacts]) -> str:
    return join_words(
        [f"{one.name!r} {PROBLEMS_OF_KINDS.get(one.kind, one.kind.value)}" for one in columns],
        "and",
    )


def _warnings(
    source: TableSource, labels: Reading, target: ColumnFacts, columns: Sequence[ColumnFacts]
) -> list[str]:
    found = find_warnings(columns, target)
    if not source.is_complete:
        found.append(f"only the first {len(source.table):,} rows were looked at")
    leaks = find_leaks(columns, target)
    dropped = [one for one in columns if one in leaks or one.kind is ColumnKind.IDENTIFIER]
    kept = [one.name for one in columns if one is not target and one not in dropped]
    writable = not any("," in name or not name for name in kept) and "?" not in source.data
    if dropped and kept and writable:
        data = add_settings(source.data, columns=",".join(kept)).replace("%2C", ",")
        other = Reading(labels.kind, labels.task, {**labels.options, "data": data}, "", "")
        found.append(f"to leave {_list_names(dropped)} out: {other.command}")
    return found


def _without_target(
    source: TableSource, ranked: Sequence[Candidate], columns: Sequence[ColumnFacts]
) -> RecognizedFile:
    readings = _label_readings(source, ranked)
    number = next((one for one in ranked if one.column.kind in NUMBER_KINDS), None)
    if number is not None:
        readings[MOST_SHOWN - 1 :] = [_numeric_reading(source, number.column, number.why)]
    if not readings:
        return RecognizedFile(
            reason=f"no column has few values that repeat, as labels do: {_list_kinds(columns[:MOST_SHOWN])}",
            advice="add a column with the label of each row",
        )
    named = [one.column for one in ranked[:MOST_SHOWN]]
    numbers = [one for one in named if one.kind in NUMBER_KINDS]
    hold = "holds numbers" if len(numbers) == 1 else "hold numbers"
    reason = f"nothing says which of {_list_names(named)} is the target"
    if len(ranked) == 1:
        reason = f"little says that {_list_names(named)} is the target"
    if numbers:
        reason += f", and {_list_names(numbers)} {hold}, which no task explains yet"
    return RecognizedFile(
        readings,
        reason=reason,
        advice=f"name the target: peirce discover {shlex.quote(source.data)} --target COLUMN",
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
    pair = None if target.kind in _UNVARIED else _find_pair(columns, target.name)
    if pair is None or pair.others or pair.contradicting:
        return []
    return [_pairs_reading(source, pair, columns)]


def _numeric_reading(source: TableSource, target: ColumnFacts, why: str) -> Reading:
    return Reading(
        FileKind.NUMERIC_TARGET,
        None,
        {"data": source.data, "target": target.name},
        f"{_count(source, 'row')} with the number {target.name!r} to explain",
        why or "the values are numbers",
    )
