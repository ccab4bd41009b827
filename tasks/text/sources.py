"""What a path of labelled text names, and the data sets there, read whole or not at all.

A path is a root folder of published data sets, one of them, a folder of a user's own files, or one
file. Behind it may stand settings: `PATH?label=verdict&ood=chicago&columns=text,city` are what
`--label` and `--ood` say, and the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl

from ...records import DataError, Json, UsageError
from ..io.files import expanded, joint_identity, locate
from ..io.messages import nearest
from . import own_rows
from .columns import value_as
from .config_files import (
    CONFIG,
    METADATA,
    OLDER_OOD,
    Config,
    Metadata,
    label_text,
    read_config,
    read_metadata,
)
from .data_sets import DataSet, Place, chosen_ood, ood_files, places, published
from .problems import Rows, label_column, rows_of_tables
from .tables import Table, form_of, read_table, typed

_SETTINGS = ("label", "ood", "columns")


@dataclass(frozen=True)
class Source:
    """A path with its settings. columns: the inputs; none: as text/columns.py finds them."""

    path: Path
    label: str | None = None
    ood: str | None = None
    columns: Sequence[str] = ()

    def places(self) -> dict[str, Place]:
        """By name. Raises `UsageError` where nothing is there."""
        if self.path.is_file():
            name = Path(self.path.name.removesuffix(".gz")).stem
            return {name: Place(name, self.path.parent, self.path)}
        found = places(self.path) or [Place(self.path.resolve().name, self.path)]
        return {one.name: one for one in found}

    def read(self, place: Place, seed: int) -> Rows:
        """seed: of the split of rows that have none. Raises `DataError`, `UsageError`."""
        found = _found(place, self.ood)
        flat = [(split, path) for split, paths in found.files.items() for path in paths]
        tables = typed([read_table(path) for _, path in flat])
        by_split: Mapping[str, Sequence[Table]] = {
            split: [table for (one, _), table in zip(flat, tables, strict=True) if one == split]
            for split in found.files
        }
        if list(by_split) in ([""], ["train"]):
            by_split = self._parted(found, tables, seed)
        rows = rows_of_tables(found, by_split, self.label, self.columns)
        return replace(rows, properties=found.metadata.properties)

    def _parted(
        self, found: DataSet, tables: Sequence[Table], seed: int
    ) -> Mapping[str, Sequence[Table]]:
        if len(tables) == 1 and (parts := own_rows.by_column(tables[0])):
            return {split: [table] for split, table in parts.items()}
        name = label_column(found, tables, self.label)
        return own_rows.by_seed(tables, name, seed)


def source_of(path: str | Path, label: str | None = None, ood: str | None = None) -> Source:
    """label, ood: what the options say, which wins over the path's own settings. Raises
    `UsageError` for a path that is not there and a setting that is none."""
    place = expanded(path)
    told: dict[str, str] = {}
    if not place.exists() and "?" in place.name:
        name, _, query = place.name.partition("?")
        place = place.with_name(name)
        told = dict(parse_qsl(query, keep_blank_values=True))
    for key in told:
        if key not in _SETTINGS:
            raise UsageError(f"{path}: no setting {key!r} of data{nearest(key, _SETTINGS)}")
    if not place.is_dir():
        place = locate(place, ())
    columns = [one.strip() for one in told.get("columns", "").split(",") if one.strip()]
    return Source(place, label or told.get("label"), ood or told.get("ood"), columns)


def _found(place: Place, ood: str | None) -> DataSet:
    config = read_config(place.folder)
    if place.file is None and config.files:
        return published(place, config, ood)
    metadata = read_metadata(place.folder)
    if place.file is not None:
        if not form_of(place.file):
            read_table(place.file)  # says what it is not
        beside = place.file.name in {Path(one).name for one in config.files.values()}
        if config.files and not beside:  # of other rows than these
            config, metadata = Config(), Metadata()
        if ood is not None:
            chosen_ood(place, {}, ood)
        return DataSet(place.name, place.folder, config, metadata, {"": (place.file,)})
    files: dict[str, Sequence[Path]] = dict(own_rows.files_of(place.folder))
    others = ood_files(place.folder)
    if "ood" in files or ood is not None:
        chosen = chosen_ood(place, others, ood) if others else files.get("ood", ())
        files = {split: some for split, some in files.items() if split != "ood"}
        files |= {"ood": chosen} if chosen else {}
    return DataSet(place.name, place.folder, config, metadata, files)


def identity_of(path: str | Path) -> dict[str, Json]:
    """{"name", "sha256"}: one hash over all files of rows, configs and metadata below the path."""
    source = source_of(path)
    beside = (CONFIG, OLDER_OOD, METADATA)
    found = []
    for place in source.places().values():
        inner = [place.file] if place.file else [p for p in place.folder.rglob("*") if form_of(p)]
        found += [*inner, *(place.folder / name for name in beside)]
    root = source.path if source.path.is_dir() else source.path.parent
    there = {one for one in found if one.is_file()}
    return joint_identity(source.path.resolve().name, root, there)


# --- rows to predict ------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """label: as it is written there; None where the file has none. where: file and row."""

    input: Mapping[str, Json]
    label: str | None
    where: str


def rows_of(
    path: str | Path, columns: Mapping[str, Mapping[str, Json]], label: str | None = None
) -> list[Row]:
    """The rows of one file, or of all files of a folder, as inputs of a data set; columns: its
    `public["columns"]`. label: the column of the labels, where there may be one.

    Raises `DataError` where a column is missing or a cell is not of the column's kind.
    """
    source = source_of(path, label)
    if source.path.is_dir():
        paths = [one for some in own_rows.files_of(source.path).values() for one in some]
    else:
        paths = [source.path]
    found = []
    for table in typed([read_table(one) for one in paths]):
        for name in columns:
            if name not in table.columns:
                raise DataError(f"{table.path}: no column {name!r}{nearest(name, table.columns)}")
        gold = table.columns.get(source.label or "")
        for row in range(len(table)):
            given = {}
            for name, told in columns.items():
                cell = table.columns[name][row]
                given[name] = value_as(str(told["kind"]), cell, f"{table.where(row)}, {name}")
            written = None if gold is None or gold[row] is None else label_text(gold[row])
            found.append(Row(given, written, table.where(row)))
    return found
