"""Read labelled text from a path, which may be followed by settings.

The path is a root folder of published data sets, one such data set, a folder of a user's own files,
or a single file. In `PATH?label=verdict&ood=chicago&columns=text,city`, the settings `label` and
`ood` have the same meaning as the options `--label` and `--ood`, and `columns` names the input
columns. If any file of a data set cannot be read, the data set is not used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...records import DataError, Json
from ..io.bad_records import BadRecords
from ..io.files import identify_files, locate, split_settings
from ..io.messages import suggest_nearest
from . import own_rows
from .columns import check_value
from .config_files import (
    CONFIG_FILE,
    METADATA_FILE,
    OLDER_OOD_CONFIG_FILE,
    Config,
    Metadata,
    format_label,
    read_config,
    read_metadata,
)
from .data_sets import (
    DataSet,
    DataSetLocation,
    choose_ood_files,
    find_data_sets,
    find_ood_files,
    resolve_published,
)
from .problems import LabelledData, build_from_tables, find_label_column
from .tables import Table, file_type, infer_types, read_table

_SETTINGS = ("label", "ood", "columns")


@dataclass(frozen=True)
class Source:
    """A path to labelled data, with the user's settings.

    Attributes:
        path: A folder or a file.
        label: The name of the label column, or None to find the column.
        ood: The choice of out-of-distribution (OOD) rows, or None for the default.
        columns: The names of the input columns; if empty, text/columns.py chooses the columns.
    """

    path: Path
    label: str | None = None
    ood: str | None = None
    columns: Sequence[str] = ()

    def find_data_sets(self) -> dict[str, DataSetLocation]:
        """Return the data sets at the path, by name.

        Raises:
            UsageError: The path does not exist or contains no data sets.
        """
        if self.path.is_file():
            name = Path(self.path.name.removesuffix(".gz")).stem
            return {name: DataSetLocation(name, self.path.parent, self.path)}
        found = find_data_sets(self.path) or [DataSetLocation(self.path.resolve().name, self.path)]
        return {one.name: one for one in found}

    def read(self, place: DataSetLocation, seed: int) -> LabelledData:
        """Read one data set with all its splits.

        Args:
            place: A location that `find_data_sets` returned.
            seed: The seed for splitting rows that have no splits.

        Raises:
            DataError: A file cannot be used.
            UsageError: A setting does not fit the data.
        """
        with BadRecords(place.file or place.folder) as bad:
            found = _resolve_data_set(place, bad, self.ood)
            flat = [(split, path) for split, paths in found.files.items() for path in paths]
            tables = infer_types([read_table(path, bad) for _, path in flat])
            by_split: Mapping[str, Sequence[Table]] = {
                split: [table for (one, _), table in zip(flat, tables, strict=True) if one == split]
                for split in found.files
            }
            if list(by_split) in ([""], ["train"]):
                by_split = self._split_rows(found, tables, seed)
            rows = build_from_tables(found, by_split, bad, self.label, self.columns)
        return replace(rows, properties=found.metadata.properties)

    def _split_rows(
        self, found: DataSet, tables: Sequence[Table], seed: int
    ) -> Mapping[str, Sequence[Table]]:
        if len(tables) == 1 and (parts := own_rows.split_by_column(tables[0])):
            return {split: [table] for split, table in parts.items()}
        name = find_label_column(found, tables, self.label)
        return own_rows.split_by_seed(tables, name, seed)


def parse_source(path: str | Path, label: str | None = None, ood: str | None = None) -> Source:
    """Parse a path to labelled data with its settings, such as `PATH?label=NAME`.

    Args:
        path: The path, possibly followed by `?key=value&...`.
        label: The option `--label`, which has priority over the setting in `path`.
        ood: The option `--ood`, which has priority over the setting in `path`.

    Raises:
        UsageError: The path or a setting does not exist.
    """
    place, told = split_settings(path, _SETTINGS)
    if not place.is_dir():
        place = locate(place, ())
    columns = [one.strip() for one in told.get("columns", "").split(",") if one.strip()]
    return Source(place, label or told.get("label"), ood or told.get("ood"), columns)


def _resolve_data_set(place: DataSetLocation, bad: BadRecords, ood: str | None) -> DataSet:
    config = read_config(place.folder, bad)
    metadata = read_metadata(place.folder, bad)
    if place.file is None and config.files:
        return resolve_published(place, config, metadata, ood)
    if place.file is not None:
        if not file_type(place.file):
            read_table(place.file, bad)  # raises with the valid file types
        beside = place.file.name in {Path(one).name for one in config.files.values()}
        if config.files and not beside:  # the config is about other files
            config, metadata = Config(), Metadata()
        if ood is not None:
            choose_ood_files(place, {}, ood)
        return DataSet(place.name, place.folder, config, metadata, {"": (place.file,)})
    files: dict[str, Sequence[Path]] = dict(own_rows.find_files(place.folder))
    others = find_ood_files(place.folder)
    if "ood" in files or ood is not None:
        chosen = choose_ood_files(place, others, ood) if others else files.get("ood", ())
        files = {split: some for split, some in files.items() if split != "ood"}
        files |= {"ood": chosen} if chosen else {}
    return DataSet(place.name, place.folder, config, metadata, files)


def data_identity(path: str | Path) -> dict[str, Json]:
    """Return {"name", "sha256"} of the data at `path`.

    The hash covers all files of rows, configs and metadata at or below the path.
    """
    source = parse_source(path)
    beside = (CONFIG_FILE, OLDER_OOD_CONFIG_FILE, METADATA_FILE)
    found = []
    for place in source.find_data_sets().values():
        inner = [place.file] if place.file else [p for p in place.folder.rglob("*") if file_type(p)]
        found += [*inner, *(place.folder / name for name in beside)]
    root = source.path if source.path.is_dir() else source.path.parent
    there = {one for one in found if one.is_file()}
    return identify_files(source.path.resolve().name, root, there)


# --- rows to predict ------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of a file to which the rules of a session are applied.

    Attributes:
        input: The cells of the input columns, by name.
        label: The label as written in the file, or None if the row has no label.
        where: The file and row number, for error messages.
    """

    input: Mapping[str, Json]
    label: str | None
    where: str


def read_rows(
    path: str | Path, columns: Mapping[str, Mapping[str, Json]], label: str | None = None
) -> list[Row]:
    """Read rows, from a file or all files of a folder, as inputs of an existing data set.

    Rows with only empty cells are rows too.

    Args:
        path: A file or folder, possibly followed by settings.
        columns: The columns of the data set, from the key "columns" of a problem's public facts.
        label: The name of the label column, or None if the rows have no labels.

    Raises:
        DataError: A column is missing, or a cell does not fit the column's kind.
    """
    return [row for _, rows in read_row_tables(path, columns, label) for row in rows]


def read_row_tables(
    path: str | Path,
    columns: Mapping[str, Mapping[str, Json]],
    label: str | None = None,
    needed: Collection[str] | None = None,
) -> list[tuple[Table, list[Row]]]:
    """Return (table, rows) for each file that `read_rows` reads.

    The table has all columns of the file. The rows are the same as from `read_rows`.

    Args:
        path: As in `read_rows`.
        columns: As in `read_rows`.
        label: As in `read_rows`.
        needed: The columns that a file must have; None for all. The rows of a file without another
            column have no value for it.
    """
    source = parse_source(path, label)
    if source.path.is_dir():
        paths = [one for some in own_rows.find_files(source.path).values() for one in some]
    else:
        paths = [source.path]
    with BadRecords(source.path) as bad:
        tables = [read_table(one, bad, keep_empty=True) for one in paths]
        typed = infer_types(tables)
        found = [(table, _rows_of(one, columns, source.label, bad, needed))
                 for table, one in zip(tables, typed, strict=True)]  # fmt: skip
        if not any(rows for _, rows in found):
            raise bad.no_records_error(f"{source.path}: the file has no rows")
    return found


def _rows_of(
    table: Table,
    columns: Mapping[str, Mapping[str, Json]],
    label: str | None,
    bad: BadRecords,
    needed: Collection[str] | None,
) -> list[Row]:
    for name in columns:
        if name not in table.columns and (needed is None or name in needed):
            raise DataError(
                f"{table.path}: there is no column {name!r}{suggest_nearest(name, table.columns)}"
            )
    there = {name: told for name, told in columns.items() if name in table.columns}
    gold = table.columns.get(label or "")
    found = []
    for row in range(len(table)):
        given = {}
        with bad.record(table.place(row), table.path):
            for name, told in there.items():
                cell, where = table.columns[name][row], f"{table.describe_location(row)}, {name}"
                given[name] = check_value(str(told["kind"]), cell, where)
            written = None if gold is None or gold[row] is None else format_label(gold[row])
            found.append(Row(given, written, table.describe_location(row)))
    return found
