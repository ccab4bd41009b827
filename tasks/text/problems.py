"""Build problems from a data set of labelled text: shown rows, hidden rows and public facts.

The problem `NAME#K` shows N training rows, drawn with `random.Random(seed + K).sample`. N is the
number of training rows or 200, whichever is less, unless `--observations N` is set or the built-in
search is the only model, which sees up to 50,000 rows (`ProblemQuery.default_observations`).
`secret["training_rows"]` then has the number of training rows if not all are shown. The hidden rows
are all validation rows, then the test rows (`ind`), then the out-of-distribution (OOD) rows;
`secret["splits"]` holds the start and stop index of each split. If a label occurs in hidden rows
but not in training rows, this is an error. Before a session begins, `LabelNames` checks that
answers can distinguish all labels.
"""

from __future__ import annotations

import math
import random
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...records import DataError, Digest, Json, Observation, Problem, canonical_json, digest_of
from ..io.bad_records import BadRecords
from ..io.messages import shorten, suggest_nearest, warn
from .columns import Columns, check_value, describe_columns
from .config_files import format_label
from .data_sets import DataSet
from .label_names import LabelNames
from .tables import Table

TASK_NAME = "labels"
FAMILY_NAME = "text"  # not FAMILY, which marks the module of a family
DEFAULT_SHOWN_ROWS = 200  # training rows (HypoBench, appendix D.1)
DEFAULT_LABEL_NAME = "label"
SPLIT_NAMES = {"val": "val", "test": "ind", "ood": "ood"}  # data set -> secret["splits"]
_MANY = 20  # with more labels, the column is probably a number to predict


@dataclass(frozen=True)
class LabelledData:
    """A data set of labelled text that has been read and checked.

    Attributes:
        name: The name of the data set.
        label_name: The name of the label column.
        labels: The labels, in the order of the prediction codes.
        columns: The input columns.
        properties: The key `task_properties` of metadata.json, which says how a generated data set
            was made; None if the key is missing.
        splits: The rows of each existing split ("train", "val", "test", "ood"). Each label has one
            spelling in all rows.
        description: The subject of the data set.
        known: Hypotheses that are known to hold.
        templates: The published prompt templates, or None.
        findings: Those hypotheses in `known` that the literature reports about real rows. All other
            hypotheses in `known` generated the labels.
    """

    name: str
    label_name: str
    labels: tuple[str, ...]
    columns: Columns
    properties: Mapping[str, Json] | None = field(default=None, kw_only=True)
    splits: Mapping[str, tuple[Observation, ...]]
    description: str = ""
    known: tuple[str, ...] = ()
    templates: Mapping[str, Json] | None = None
    findings: tuple[str, ...] = ()

    @cached_property
    def public(self) -> dict[str, Json]:
        """The facts about the data set that agents may see."""
        told: dict[str, Json] = {
            "labels": list(self.labels),
            "label_name": self.label_name,
            "description": self.description,
            "columns": {name: dict(one) for name, one in self.columns.about.items()},
            "shape": self.columns.shape,
        }
        return {**told, "templates": dict(self.templates)} if self.templates else told

    @cached_property
    def _hidden(self) -> tuple[tuple[Observation, ...], dict[str, list[int]]]:
        hidden: list[Observation] = []
        spans = {}
        for split, name in SPLIT_NAMES.items():
            if rows := self.splits.get(split):
                spans[name] = [len(hidden), len(hidden) + len(rows)]
                hidden += rows
        return tuple(hidden), spans

    def samples(self, shown: int = DEFAULT_SHOWN_ROWS, seed: int = 0) -> Iterator[int]:
        """Yield the numbers K of the problems `NAME#K`, without problems that show the same rows as
        an earlier problem.

        Args:
            shown: The number of shown rows per problem.
            seed: The seed of the draws.
        """
        count = len(self.splits["train"])
        most = math.comb(count, min(shown, count))
        found: set[frozenset[int]] = set()
        sample = 0
        while len(found) < most:
            rows = random.Random(seed + sample).sample(range(count), min(shown, count))
            if (drawn := frozenset(rows)) not in found:
                found.add(drawn)
                yield sample
            sample += 1

    def make_problem(
        self,
        sample: int,
        shown: int = DEFAULT_SHOWN_ROWS,
        seed: int = 0,
        *,
        counted: bool = False,
    ) -> Problem:
        """Return the problem `NAME#sample`, which shows at most `shown` training rows, drawn by
        `seed`.

        Args:
            sample: The number of the sample.
            shown: The number of shown rows.
            seed: The seed of the draw.
            counted: Whether the problem has the number of training rows if it does not show all. It
                is part of the problem's digest, by which a sweep finds its sessions.
        """
        rows = self.splits["train"]
        drawn = random.Random(seed + sample).sample(rows, min(shown, len(rows)))
        hidden, spans = self._hidden
        secret: dict[str, Json] = {"splits": spans}
        if counted and len(drawn) < len(rows):
            secret["training_rows"] = len(rows)
        if self.properties and "best_accuracy" in self.properties:
            secret["made"] = dict(self.properties)
        if self.known:
            secret["known"] = list(self.known)
        if truths := [one for one in self.known if one not in self.findings]:
            secret["truths"] = truths
        return Problem(
            f"{self.name}#{sample}", TASK_NAME, FAMILY_NAME, tuple(drawn), hidden, self.public, secret,
            self.name,
        )  # fmt: skip


def digest_rows(rows: Sequence[Observation]) -> Digest:
    """Return a digest of labelled rows in order. Data sets with equal test rows have equal digests."""
    return digest_of([[one.input, one.output] for one in rows])


# --- from tables ----------------------------------------------------------------------


def build_from_tables(
    data_set: DataSet,
    tables: Mapping[str, Sequence[Table]],
    bad: BadRecords,
    requested_label: str | None = None,
    input_columns: Sequence[str] = (),
) -> LabelledData:
    """Build a checked data set from the tables of its splits.

    Args:
        data_set: The data set, with its config and metadata.
        tables: The tables of each split.
        bad: Collects rows that cannot be read.
        requested_label: The label column that the user names, or None.
        input_columns: The input columns that the user names; empty to choose them automatically.

    Raises:
        DataError: The tables do not fit together; the error names file and row.
    """
    every = [one for some in tables.values() for one in some]
    label_name = find_label_column(data_set, every, requested_label)
    tables = with_labels(tables, label_name, bad)
    train = tables["train"]
    if not any(map(len, train)):
        raise bad.no_records_error(f"{train[0].path}: the file has no rows")
    gold = {split: _label_texts(some, label_name) for split, some in tables.items()}
    labels = _labels(data_set, train, gold["train"], label_name)
    cells = {
        name: [cell for table in train for cell in table.columns.get(name, [None] * len(table))]
        for name in dict.fromkeys(name for table in train for name in table.columns)
    }
    metadata = data_set.metadata
    columns = describe_columns(
        str(train[0].path), cells, label_name, labels, data_set.config.templates, metadata.features,
        input_columns,
    )  # fmt: skip
    kinds = {name: str(told["kind"]) for name, told in columns.about.items()}
    splits = {
        split: _observations(some, gold[split], labels, kinds, bad)
        for split, some in tables.items()
    }
    if not splits["train"]:
        raise bad.no_records_error(f"{train[0].path}: the file has no rows")
    if any(one["kind"] == "text" for one in columns.about.values()):
        _warn_of_duplicates(data_set.name, splits)
    _warn_of_one_label(data_set.name, gold["train"], labels)
    return LabelledData(
        data_set.name,
        label_name,
        columns.labels,
        columns,
        splits,
        metadata.description,
        metadata.known,
        data_set.config.templates,
        tuple(one for one in metadata.known if one not in metadata.truths),
    )


def find_label_column(data_set: DataSet, tables: Sequence[Table], requested: str | None) -> str:
    """Return the name of the label column.

    The name is `requested`, if not None. Otherwise it is the name in config.yaml, or `label` if
    there is a column with this name, or the only label column that metadata.json lists.

    Args:
        data_set: The data set, with its config and metadata.
        tables: All tables, training rows first.
        requested: The column that the user names with `--label`, or None.

    Raises:
        DataError: A table has no such column.
    """
    told = tuple(data_set.metadata.labels)
    given = requested or data_set.config.label_name
    if given is None:
        there = [name for name in told if name in tables[0].columns]
        given = (
            DEFAULT_LABEL_NAME
            if DEFAULT_LABEL_NAME in tables[0].columns or len(there) != 1
            else there[0]
        )
    for table in tables:
        if given not in table.columns:
            named = requested or data_set.config.label_name
            choices = (
                suggest_nearest(given, table.columns) if named else _suggest_label_column(table)
            )
            raise DataError(f"{table.path}: there is no label column {given!r}{choices}")
    if told and given not in told:
        warn(
            f"{data_set.name}: the label column is {given!r}, but {data_set.metadata.path} calls"
            f" it {' or '.join(map(repr, told))}"
        )
    return given


def _suggest_label_column(table: Table) -> str:
    """Return the end of an error message: the columns, and an example of `--label`.

    The example prefers a column whose name differs from `label` only in case, then one with the
    fewest values (at least two).
    """
    names = [name for name in table.columns if name.strip()]
    values = {name: len(set(map(str, table.columns[name]))) for name in names}
    likely = min(
        names,
        key=lambda name: (name.casefold() != DEFAULT_LABEL_NAME, values[name] < 2, values[name]),
        default="NAME",
    )
    if {"input", "output"} <= set(names):
        return suggest_nearest("", names) + "; pairs of input and output are of the task `examples`"
    header = " (line 1 of a CSV names its columns)" if table.untyped else ""
    return (
        suggest_nearest("", map(shorten, names))
        + f"{header}; --label names another, as --label {shlex.quote(shorten(likely))}"
    )


def with_labels(
    tables: Mapping[str, Sequence[Table]], label_name: str, bad: BadRecords
) -> dict[str, list[Table]]:
    """Return the tables without the rows that have no label. Such rows count as unreadable records.

    Args:
        tables: The tables of each split.
        label_name: The name of the label column.
        bad: Collects the rows without a label.

    Raises:
        DataError: A row has no label, and unreadable records are not left out. The message has the
            number of such rows.
    """
    every = [table for some in tables.values() for table in some]
    labelled = {
        id(table): [_is_label(cell) for cell in table.columns[label_name]] for table in every
    }
    count = sum(one.count(False) for one in labelled.values())
    for table in sorted(every, key=lambda one: str(one.path)):
        for row in (row for row, fits in enumerate(labelled[id(table)]) if not fits):
            cell = table.columns[label_name][row]
            held = "" if cell is None else f": {shorten(cell)}"
            with bad.record(table.place(row), table.path):
                raise DataError(
                    f"{table.describe_location(row)}: there is no label in {label_name!r}{held}{_advice(count - 1)}"
                )
    if not count:
        return {split: list(some) for split, some in tables.items()}
    return {
        split: [one.filter(labelled[id(one)]) for one in some] for split, some in tables.items()
    }


def _is_label(cell: Json) -> bool:
    return cell is not None and not isinstance(cell, dict | list) and bool(format_label(cell))


def _advice(others: int) -> str:
    if not others:
        return "; give it one, or leave the row out (--skip-bad)"
    return f", as in {others:,} more; give them labels, or leave these rows out (--skip-bad)"


def _label_texts(tables: Sequence[Table], label_name: str) -> list[tuple[Table, int, str]]:
    """Return (table, row, label as written) for each row."""
    return [
        (table, row, format_label(cell))
        for table in tables
        for row, cell in enumerate(table.columns[label_name])
    ]


def _labels(
    found: DataSet,
    train: Sequence[Table],
    gold: Sequence[tuple[Table, int, str]],
    label_name: str,
) -> LabelNames:
    """Return the labels of the training rows, in the order of the metadata or else sorted."""
    there = set(one for *_, one in gold)
    if len(there) > max(_MANY, len(gold) // 2):
        raise DataError(
            f"{train[0].path}: the label column {label_name!r} has {len(there):,} different"
            f" values in {len(gold):,} rows, but a label must be one of a few classes"
        )
    ordered = sorted(there, key=_order)
    told = LabelNames(found.metadata.labels.get(label_name, ())) if found.metadata.labels else None
    if told is not None and all(told.find(one) is not None for one in ordered):
        ordered.sort(key=lambda one: told.index(one) or 0)
    return LabelNames(ordered, f"{train[0].path}, {label_name}")


def _order(label: str) -> tuple[int, float, str]:
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label


def _observations(
    tables: Sequence[Table],
    gold: Sequence[tuple[Table, int, str]],
    labels: LabelNames,
    kinds: Mapping[str, str],
    bad: BadRecords,
) -> tuple[Observation, ...]:
    """Return the labelled rows of a split; `kinds` maps input columns to their kinds."""
    for table in tables:
        for name in kinds:
            if name not in table.columns:
                raise DataError(
                    f"{table.path}: there is no column {name!r}{suggest_nearest(name, table.columns)}"
                )
    found: list[Observation] = []
    start = 0
    for table in tables:
        some = gold[start : start + len(table)]
        start += len(table)
        found += _fitting_rows(table, some, labels, kinds) or _checked_rows(
            some, labels, kinds, bad
        )
    return tuple(found)


def _fitting_rows(
    table: Table,
    gold: Sequence[tuple[Table, int, str]],
    labels: LabelNames,
    kinds: Mapping[str, str],
) -> list[Observation] | None:
    """Return the rows of a table if all cells fit without a conversion; otherwise None.

    This checks the cells by column, which takes a fifth of the time.
    """
    known = {written: labels.find(written) for written in {written for *_, written in gold}}
    if None in known.values():
        return None
    columns = [table.columns[name] for name in kinds]
    for kind, cells in zip(kinds.values(), columns, strict=True):
        if not set(map(type, cells)) <= _FITTING.get(kind, frozenset()):
            return None
    return [
        Observation(dict(zip(kinds, cells, strict=True)), known[written])
        for cells, (*_, written) in zip(zip(*columns, strict=True), gold, strict=True)
    ]


_FITTING: Mapping[
    str, frozenset[type]
] = {  # types of cells that stay as they are, by kind of column
    "text": frozenset({str, type(None)}),
    "choice": frozenset({str, type(None)}),
    "number": frozenset({int, float, type(None)}),
    "truth": frozenset({bool, type(None)}),
}


def _checked_rows(
    gold: Sequence[tuple[Table, int, str]],
    labels: LabelNames,
    kinds: Mapping[str, str],
    bad: BadRecords,
) -> list[Observation]:
    """Return labelled rows, each cell of which is checked; rows that do not fit are errors."""
    found = []
    for table, row, written in gold:
        where = table.describe_location(row)
        with bad.record(table.place(row), table.path):
            label = labels.find(written)
            if label is None:
                raise DataError(
                    f"{where}: the label {shorten(written)!r} does not occur in the training"
                    f" rows; known labels are {', '.join(labels.names)}"
                )
            given = {
                name: check_value(kind, table.columns[name][row], f"{where}, {name}")
                for name, kind in kinds.items()
            }
            found.append(Observation(given, label))
    return found


# --- what is reported -----------------------------------------------------------------


def _warn_of_duplicates(name: str, splits: Mapping[str, Sequence[Observation]]) -> None:
    """Warn about rows of other splits whose inputs equal those of a training row."""
    train = Counter(canonical_json(one.input) for one in splits["train"])
    again = {
        split: sum(canonical_json(one.input) in train for one in rows)
        for split, rows in splits.items()
        if split != "train"
    }
    told = [
        f"{count:,} of {len(splits[split]):,} {split}" for split, count in again.items() if count
    ]
    if told:
        warn(f"{name}: {' and '.join(told)} rows have the inputs of a training row")


def _warn_of_one_label(
    name: str, gold: Sequence[tuple[Table, int, str]], labels: LabelNames
) -> None:
    if len(labels) == 1:
        warn(f"{name}: all training rows ({len(gold):,}) have the label {labels.names[0]!r}")
